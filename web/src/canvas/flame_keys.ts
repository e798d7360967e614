// Keys of flame graphs and charts: arrows walk from box to box, Enter zooms, Escape goes back.

import type { Rows } from './rows.ts';

/** What keys act on. */
export interface FlameWalk {
  readonly rows: Rows;
  readonly isFlame: boolean;
  /** The focused box; -1 without. */
  readonly focus: number;
  /** The box at which walking begins. */
  readonly origin: number;
  walkTo(box: number): void;
  zoomTo(box: number): void;
  zoomBack(): boolean;
  zoomWhole(): void;
  zoomBy(factor: number): void;
  panBy(share: number): void;
  page(direction: 1 | -1): void;
  menuAt(box: number): void;
}

/** Handles a key; returns true if it has a meaning here. */
export function pressFlameKey(event: KeyboardEvent, walk: FlameWalk): boolean {
  const { key } = event;
  if (event.altKey || ((event.ctrlKey || event.metaKey) && !'+-=0'.includes(key))) return false;
  if (key.startsWith('Arrow')) return arrow(key, event.shiftKey, walk);
  switch (key) {
    case 'Enter':
      if (walk.focus >= 0) walk.zoomTo(walk.focus);
      return walk.focus >= 0;
    case 'Escape':
    case 'Backspace':
      return walk.zoomBack();
    case 'Home':
    case '0':
      walk.zoomWhole();
      return true;
    case '+':
    case '=':
      walk.zoomBy(0.6);
      return true;
    case '-':
      walk.zoomBy(1 / 0.6);
      return true;
    case 'PageDown':
    case 'PageUp':
      walk.page(key === 'PageDown' ? 1 : -1);
      return true;
    case 'ContextMenu':
    case 'F10':
      if (walk.focus < 0 || (key === 'F10' && !event.shiftKey)) return false;
      walk.menuAt(walk.focus);
      return true;
    default:
      return false;
  }
}

function arrow(key: string, isShift: boolean, walk: FlameWalk): boolean {
  const { rows, focus } = walk;
  const isSide = key === 'ArrowLeft' || key === 'ArrowRight';
  if (isShift && isSide) {
    walk.panBy(key === 'ArrowLeft' ? -0.2 : 0.2);
    return true;
  }
  if (focus < 0) {
    if (walk.origin >= 0) walk.walkTo(walk.origin);
    return true;
  }
  const isDeeper = (key === 'ArrowDown') !== walk.isFlame;
  const next = isSide
    ? rows.neighbourOf(focus, key === 'ArrowLeft' ? -1 : 1)
    : isDeeper
      ? rows.widestChild(focus)
      : rows.parentOf(focus);
  if (next >= 0) walk.walkTo(next);
  return true;
}
