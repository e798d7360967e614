// Keys of elements that have the focus, as tables of what each key does.

/** By key: its effect, which returns false if the key means nothing now. */
export type Keys = Readonly<Record<string, () => unknown>>;

/** Acts on a key; returns true if it means something. With Ctrl or the command key, only the keys `withControl` do. */
export function press(event: KeyboardEvent, keys: Keys, withControl: readonly string[] = []): boolean {
  const { key } = event;
  if (event.altKey || ((event.ctrlKey || event.metaKey) && !withControl.includes(key))) return false;
  if (keys[key] === undefined || keys[key]() === false) return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** The zoom keys that browsers also have with Ctrl. */
export const ZOOMING: readonly string[] = ['+', '-', '=', '0'];

export function zoomKeys({ zoomBy, zoomWhole }: { zoomBy(factor: number): void; zoomWhole(): void }): Keys {
  const [nearer, farther] = [() => zoomBy(0.6), () => zoomBy(1 / 0.6)];
  return { '+': nearer, '=': nearer, '-': farther, 0: zoomWhole, Home: zoomWhole };
}

/** Keys that lead from one of several elements in a row to another. */
export function stepKeys(at: number, count: number, go: (place: number) => void): Keys {
  return { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(count - 1) };
}
