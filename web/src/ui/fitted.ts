// Names that fit their cells: shortened as flame graphs do, so that their distinctive part stays. The title contains the complete name.

import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { TextWidths } from '../canvas/index.ts';

const names = new WeakMap<Element, string>();
const waiting = new Set<HTMLElement>();
const widths = new Map<string, TextWidths>();
/** The square of the kind and the space after it, as in the style; and an allowance for kerning and fractions of pixels. */
const [SQUARE, SPARE] = [15, 2];
let observer: ResizeObserver | null = null;

/** The element of a name in a cell, whose width does not depend on the name. */
export function useFitted(name: string): RefObject<HTMLSpanElement | null> {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const span = element.current!;
    if (span.closest('.cell, .top-row, .chosen-name') === null) return;
    names.set(span, name);
    fitSoon(span);
    observer ??= new ResizeObserver((entries) => entries.forEach(({ target }) => fitSoon(target as HTMLElement)));
    observer.observe(span);
    return () => observer?.unobserve(span);
  }, [name]);
  return element;
}

/** All names of a table are measured before the first is changed, so that the page is laid out once. */
function fitSoon(element: HTMLElement): void {
  if (waiting.size === 0) queueMicrotask(fitAll);
  waiting.add(element);
}

function fitAll(): void {
  const elements = [...waiting].filter((element) => element.isConnected);
  waiting.clear();
  if (elements.length === 0) return;
  // The shorthand is empty if figures have one width.
  const { fontWeight, fontSize, fontFamily } = getComputedStyle(elements[0]!);
  const font = `${fontWeight} ${fontSize} ${fontFamily}`;
  const measure = widths.get(font) ?? new TextWidths(font);
  widths.set(font, measure);
  const rooms = elements.map((element) => element.clientWidth - SQUARE - SPARE);
  elements.forEach((element, index) => {
    const text = element.firstChild as Text | null;
    const name = names.get(element) ?? '';
    // Hidden elements have no width; the style cuts off text that is too narrow for two letters.
    const fitting = rooms[index]! <= 0 ? name : measure.fit(name, rooms[index]!) || name;
    if (text !== null && text.data !== fitting) text.data = fitting;
  });
}
