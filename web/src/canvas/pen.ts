// Draws scenes: on a canvas, or as an SVG of the same drawing.

export type Align = 'left' | 'right' | 'center';

export interface Pen {
  /** Sets the colour for the next shapes. */
  fill(color: string): void;
  rect(x: number, y: number, width: number, height: number): void;
  /** Draws a line around a box, inside its edges. */
  frame(x: number, y: number, width: number, height: number, color: string, thickness: number): void;
  /** Fills an area. The corners are alternating x and y. */
  area(points: Float32Array, count: number): void;
  font(size: number, weight: 400 | 600, family: string): void;
  /** Draws text on its base line. */
  text(text: string, x: number, y: number, align?: Align): void;
  /** Clips drawing to an area, until the returned function is called. */
  clip(x: number, y: number, width: number, height: number): () => void;
}

/** Sets a property of the context only if it changes: setting a property costs as much as drawing. */
export class CanvasPen implements Pen {
  readonly #context: CanvasRenderingContext2D;
  #color = '';
  #font = '';
  #align: Align = 'left';

  constructor(context: CanvasRenderingContext2D) {
    this.#context = context;
    context.textBaseline = 'alphabetic';
    context.textAlign = 'left';
  }

  fill(color: string): void {
    if (color === this.#color) return;
    this.#color = color;
    this.#context.fillStyle = color;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.#context.fillRect(x, y, width, height);
  }

  frame(x: number, y: number, width: number, height: number, color: string, thickness: number): void {
    const context = this.#context;
    context.strokeStyle = color;
    context.lineWidth = thickness;
    context.strokeRect(x + thickness / 2, y + thickness / 2, Math.max(0, width - thickness), Math.max(0, height - thickness));
  }

  area(points: Float32Array, count: number): void {
    const context = this.#context;
    context.beginPath();
    for (let at = 0; at < count; at += 1) context.lineTo(points[2 * at]!, points[2 * at + 1]!);
    context.fill();
  }

  font(size: number, weight: 400 | 600, family: string): void {
    const font = fontText(size, weight, family);
    if (font === this.#font) return;
    this.#font = font;
    this.#context.font = font;
  }

  text(text: string, x: number, y: number, align: Align = 'left'): void {
    if (align !== this.#align) {
      this.#align = align;
      this.#context.textAlign = align;
    }
    this.#context.fillText(text, x, y);
  }

  clip(x: number, y: number, width: number, height: number): () => void {
    const context = this.#context;
    const [color, font, align] = [this.#color, this.#font, this.#align];
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    return () => {
      context.restore();
      [this.#color, this.#font, this.#align] = [color, font, align];
    };
  }
}

export function fontText(size: number, weight: number, family: string): string {
  return `${weight} ${size}px ${family}`;
}
