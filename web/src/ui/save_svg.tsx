// A button that saves the drawing of a view.

import type { JSX, RefObject } from 'preact';
import { useApp } from './app_context.ts';
import type { Drawing } from './canvas_host.tsx';
import { download } from './copy.ts';

export function SaveSvg<M>({ name, drawing }: { name: string; drawing: RefObject<Drawing<M> | null> }): JSX.Element {
  const app = useApp();
  const save = (): void => {
    download(`${name}.svg`, 'image/svg+xml', drawing.current?.exportSvg() ?? '');
    app.say(`Saved ${name}.svg.`);
  };
  return (
    <button type="button" data-part="export-svg" onClick={save}>
      Save SVG
    </button>
  );
}
