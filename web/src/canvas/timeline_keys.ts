// Keys of the timeline: left and right move the selected time, with shift its end; up and down walk the tracks.

/** What keys act on. */
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

/** Handles a key; returns true if it has a meaning here. */
export function pressTimelineKey(event: KeyboardEvent, walk: TimelineWalk): boolean {
  const { key } = event;
  const isControl = event.ctrlKey || event.metaKey;
  if (event.altKey || (isControl && !['Enter', ' ', '+', '-', '=', '0'].includes(key))) return false;
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowRight': {
      const share = key === 'ArrowLeft' ? -STEP : STEP;
      return event.shiftKey ? walk.resize(share) : walk.move(share);
    }
    case 'ArrowUp':
    case 'ArrowDown':
      walk.walk(key === 'ArrowUp' ? -1 : 1);
      return true;
    case 'PageUp':
    case 'PageDown':
      walk.walk(key === 'PageUp' ? -8 : 8);
      return true;
    case 'Enter':
      return walk.pick(isControl);
    case ' ':
      return walk.toggle() || walk.pick(isControl);
    case 'Escape':
      return walk.clear();
    case '+':
    case '=':
      walk.zoomBy(0.6);
      return true;
    case '-':
      walk.zoomBy(1 / 0.6);
      return true;
    case 'Home':
    case '0':
      walk.zoomWhole();
      return true;
    case 'z':
      return walk.zoomToBrush();
    case 'ContextMenu':
      return walk.menu();
    case 'F10':
      return event.shiftKey && walk.menu();
    default:
      return false;
  }
}
