// Keys of flame graphs and charts: arrows walk from box to box, Enter zooms, Escape goes back.

import { type Keys, zoomKeys } from './keys.ts';
import type { Rows } from './rows.ts';

/** The parts of the plot that keys act on. */
export interface FlameWalk {
  readonly rows: Rows;
  readonly isFlame: boolean;
  /** The focused box; -1 for none. */
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

export function flameKeys(walk: FlameWalk, isShift: boolean): Keys {
  const { focus } = walk;
  const atFocus = (act: (box: number) => void) => (): boolean => {
    if (focus >= 0) act(focus);
    return focus >= 0;
  };
  return {
    ...zoomKeys(walk),
    ...Object.fromEntries(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'].map((key) => [key, () => arrow(key, isShift, walk)])),
    Enter: atFocus(walk.zoomTo),
    Escape: walk.zoomBack,
    Backspace: walk.zoomBack,
    PageDown: () => walk.page(1),
    PageUp: () => walk.page(-1),
    ContextMenu: atFocus(walk.menuAt),
    ...(isShift ? { F10: atFocus(walk.menuAt) } : {}),
  };
}

function arrow(key: string, isShift: boolean, walk: FlameWalk): void {
  const { rows, focus } = walk;
  const isSide = key === 'ArrowLeft' || key === 'ArrowRight';
  if (isShift && isSide) {
    walk.panBy(key === 'ArrowLeft' ? -0.2 : 0.2);
    return;
  }
  if (focus < 0) {
    if (walk.origin >= 0) walk.walkTo(walk.origin);
    return;
  }
  const isDeeper = (key === 'ArrowDown') !== walk.isFlame;
  const next = isSide
    ? rows.neighbourOf(focus, key === 'ArrowLeft' ? -1 : 1)
    : isDeeper
      ? rows.widestChild(focus)
      : rows.parentOf(focus);
  if (next >= 0) walk.walkTo(next);
}
