// The lower edge of a timeline: dragging it changes the height, which is remembered. A double click restores the initial height. The `resize`
// of styles does not work in WebKit below a canvas, nor by finger.

import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { remember, remembered } from './remembered.ts';

export function LowerEdge({ of, box }: { of: string; box: RefObject<HTMLElement | null> }): JSX.Element {
  const key = `timeline-height-${of.toLowerCase()}`;
  /** The distance from the pointer to the edge during a drag. */
  const hold = useRef<number | null>(null);
  useLayoutEffect(() => {
    box.current!.style.height = remembered(key) ?? '';
  }, [key]);
  const drag = (y: number): void => {
    const { style } = box.current!;
    style.height = `${y - box.current!.getBoundingClientRect().top}px`;
    // The style has limits.
    style.height = `${box.current!.getBoundingClientRect().height}px`;
    remember(key, style.height);
  };
  return (
    <div
      class="lower-edge"
      title="Drag to change the height; double click to restore it"
      data-part="lower-edge"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        hold.current = box.current!.getBoundingClientRect().bottom - event.clientY;
      }}
      onPointerMove={(event) => hold.current !== null && drag(event.clientY + hold.current)}
      onLostPointerCapture={() => (hold.current = null)}
      onDblClick={() => {
        box.current!.style.height = '';
        remember(key, null);
      }}
    />
  );
}
