// Keys of elements that have the focus, as tables of what each key does.

/** By key: its effect, which returns false if the key currently has none. */
export type Keys = Readonly<Record<string, () => unknown>>;

/** Acts on a key; returns true if it has an effect. With Ctrl or the command key, only the keys in `withControl` have one. */
export function press(event: KeyboardEvent, keys: Keys, withControl: readonly string[] = []): boolean {
  const { key } = event;
  if (event.altKey || ((event.ctrlKey || event.metaKey) && !withControl.includes(key))) return false;
  if (keys[key] === undefined || keys[key]() === false) return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** The zoom keys, which browsers also use with Ctrl. */
export const ZOOMING: readonly string[] = ['+', '-', '=', '0'];

export function zoomKeys({ zoomBy, zoomWhole }: { zoomBy(factor: number): void; zoomWhole(): void }): Keys {
  const [nearer, farther] = [() => zoomBy(0.6), () => zoomBy(1 / 0.6)];
  return { '+': nearer, '=': nearer, '-': farther, 0: zoomWhole, Home: zoomWhole };
}

/** Keys that move between several elements in a row. */
export function stepKeys(at: number, count: number, go: (place: number) => void): Keys {
  return { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(count - 1) };
}
