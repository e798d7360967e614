// Writes the same scene as an SVG file: text stays text, without scripts or styles of the page.

import type { Align, Pen } from './pen.ts';

export class SvgPen implements Pen {
  readonly #parts: string[] = [];
  readonly #width: number;
  readonly #height: number;
  readonly #title: string;
  #color = '#000';
  #font = '';

  constructor(width: number, height: number, title: string) {
    this.#width = width;
    this.#height = height;
    this.#title = title;
  }

  fill(color: string): void {
    this.#color = color;
  }

  rect(x: number, y: number, width: number, height: number): void {
    const place = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.#parts.push(`<rect ${place} ${paint('fill', this.#color)}/>`);
  }

  /** Adds a tooltip to an area. */
  tells(x: number, y: number, width: number, height: number, text: string): void {
    const place = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.#parts.push(`<rect ${place} fill-opacity="0"><title>${escaped(text)}</title></rect>`);
  }

  frame(x: number, y: number, width: number, height: number, color: string, thickness: number): void {
    const [w, h] = [Math.max(0, width - thickness), Math.max(0, height - thickness)];
    this.#parts.push(
      `<rect x="${short(x + thickness / 2)}" y="${short(y + thickness / 2)}" width="${short(w)}" height="${short(h)}" fill="none" ` +
        `${paint('stroke', color)} stroke-width="${short(thickness)}"/>`,
    );
  }

  area(points: Float32Array, count: number): void {
    const texts: string[] = [];
    for (let at = 0; at < count; at += 1) texts.push(`${short(points[2 * at]!)},${short(points[2 * at + 1]!)}`);
    this.#parts.push(`<polygon points="${texts.join(' ')}" ${paint('fill', this.#color)}/>`);
  }

  font(size: number, weight: 400 | 600, family: string): void {
    this.#font = `font-size="${size}" font-weight="${weight}" font-family="${escaped(family)}"`;
  }

  text(text: string, x: number, y: number, align: Align = 'left'): void {
    const anchor = align === 'left' ? '' : ` text-anchor="${align === 'right' ? 'end' : 'middle'}"`;
    this.#parts.push(`<text x="${short(x)}" y="${short(y)}"${anchor} ${this.#font} ${paint('fill', this.#color)}>${escaped(text)}</text>`);
  }

  clip(x: number, y: number, width: number, height: number): () => void {
    // A nested SVG clips by itself, without names that two files could share.
    const box = `${short(x)} ${short(y)} ${short(width)} ${short(height)}`;
    this.#parts.push(`<svg x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" viewBox="${box}">`);
    return () => this.#parts.push('</svg>');
  }

  finish(): string {
    const [width, height] = [short(this.#width), short(this.#height)];
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">` +
      `<title>${escaped(this.#title)}</title>${this.#parts.join('\n')}</svg>\n`
    );
  }
}

/** A colour in SVG: opacity is a separate attribute, which more readers support. */
function paint(attribute: 'fill' | 'stroke', color: string): string {
  const found = /^rgba\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)[\s,/]+([\d.]+)\s*\)$/.exec(color);
  if (found === null) return `${attribute}="${escaped(color)}"`;
  return `${attribute}="rgb(${found[1]},${found[2]},${found[3]})" ${attribute}-opacity="${found[4]}"`;
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Escapes text for XML. Characters that XML does not allow become U+FFFD. */
export function escaped(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
    .replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
