// The canvases of the page.

export { boxStack } from './box_stack.ts';
export { FlameCanvas } from './flame.ts';
export { type Keys, press, stepKeys } from './keys.ts';
export { TimelineCanvas } from './timeline.ts';
export { marginOf } from './timeline_layout.ts';
export { swatches } from './palettes.ts';
export { TextWidths } from './text.ts';
export { KINDS, KIND_NAMES } from './types.ts';
export type {
  BinLayer, Bins, FlameCallbacks, FlameModel, Kind, Labels, LaneSpans, Range, TimelineModel, Tone, Track,
} from './types.ts';
