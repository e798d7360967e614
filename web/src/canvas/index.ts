// The canvases of the page.

export { boxStack } from './box_stack.ts';
export { FlameChartCanvas, FlameGraphCanvas } from './flame.ts';
export { TimelineCanvas } from './timeline.ts';
export { exactTimeText, shareText, ticks, timeText, weightText } from './amounts.ts';
export { swatches } from './palettes.ts';
export { TextWidths } from './text.ts';
export { shorterNames } from './shorten.ts';
export { KINDS, TONES } from './types.ts';
export type {
  BinLayer, Bins, FlameCallbacks, FlameModel, Kind, Labels, LaneMarks, LaneSpans, Range, TimelineCallbacks, TimelineModel, Tone, Track,
  Unit,
} from './types.ts';
