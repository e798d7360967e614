// Keys of the timeline: left and right move the selected time or, with Shift, its end; up and down move between tracks.

import { type Keys, zoomKeys } from './keys.ts';

/** The parts of the timeline that keys act on. */
export interface TimelineWalk {
  move(share: number): boolean;
  resize(share: number): boolean;
  walk(by: number): void;
  pick(isAdditive: boolean): boolean;
  toggle(): boolean;
  clear(): boolean;
  zoomBy(factor: number): void;
  zoomWhole(): void;
  zoomToBrush(): boolean;
  menu(): boolean;
}

/** A step is this share of the visible time. */
const STEP = 0.02;

export function timelineKeys(walk: TimelineWalk, { ctrlKey, metaKey, shiftKey }: KeyboardEvent): Keys {
  const aside = (share: number) => (): boolean => (shiftKey ? walk.resize(share) : walk.move(share));
  const pick = (): boolean => walk.pick(ctrlKey || metaKey);
  return {
    ...zoomKeys(walk),
    ArrowLeft: aside(-STEP),
    ArrowRight: aside(STEP),
    ArrowUp: () => walk.walk(-1),
    ArrowDown: () => walk.walk(1),
    PageUp: () => walk.walk(-8),
    PageDown: () => walk.walk(8),
    Enter: pick,
    ' ': () => walk.toggle() || pick(),
    Escape: walk.clear,
    z: walk.zoomToBrush,
    ContextMenu: walk.menu,
    ...(shiftKey ? { F10: walk.menu } : {}),
  };
}
