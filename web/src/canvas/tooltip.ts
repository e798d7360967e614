// A few lines next to the pointer. All content is plain text.

import type { Theme } from './theme.ts';

export interface Tip {
  readonly title: string;
  readonly subtitle?: string;
  /** Names and values. */
  readonly rows: readonly (readonly [string, string])[];
}

const [DISTANCE, MARGIN] = [14, 8];

export class Tooltip {
  readonly #element: HTMLElement;
  #shown: Tip | null = null;

  constructor(host: HTMLElement) {
    this.#element = document.createElement('div');
    // The live region announces the same text, which screen readers should not read twice.
    this.#element.setAttribute('aria-hidden', 'true');
    Object.assign(this.#element.style, {
      position: 'fixed', left: '0', top: '0', zIndex: '1000', pointerEvents: 'none', display: 'none',
      maxWidth: 'min(36rem, calc(100vw - 16px))', overflowWrap: 'anywhere',
      boxSizing: 'border-box', padding: '7px 10px', borderRadius: '6px', font: '12px/1.45 system-ui, sans-serif',
    });
    host.append(this.#element);
  }

  /** Shows a tip next to a point in the window; null hides it. */
  show(tip: Tip | null, clientX: number, clientY: number, theme: Theme): void {
    const { style } = this.#element;
    if (tip === null) {
      this.hide();
      return;
    }
    if (tip !== this.#shown) this.#fill(tip, theme);
    this.#shown = tip;
    style.display = 'block';
    const { width, height } = this.#element.getBoundingClientRect();
    const right = clientX + DISTANCE + width + MARGIN <= innerWidth;
    const below = clientY + DISTANCE + height + MARGIN <= innerHeight;
    const left = right ? clientX + DISTANCE : Math.max(MARGIN, Math.min(clientX - DISTANCE, innerWidth - MARGIN) - width);
    const top = below ? clientY + DISTANCE : Math.max(MARGIN, clientY - DISTANCE - height);
    style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide(): void {
    if (this.#shown === null) return;
    this.#shown = null;
    this.#element.style.display = 'none';
  }

  destroy(): void {
    this.#element.remove();
  }

  #fill(tip: Tip, theme: Theme): void {
    const { style } = this.#element;
    style.background = theme.isForced ? 'Canvas' : theme.raised;
    style.color = theme.text;
    style.border = `1px solid ${theme.line}`;
    style.boxShadow = theme.isDark ? '0 4px 16px rgba(0,0,0,0.5)' : '0 4px 16px rgba(20,30,40,0.16)';
    this.#element.replaceChildren(
      line(tip.title, { fontWeight: '600' }),
      ...(tip.subtitle === undefined || tip.subtitle === '' ? [] : [line(tip.subtitle, { color: theme.dim })]),
      ...(tip.rows.length === 0 ? [] : [table(tip.rows, theme)]),
    );
  }
}

function line(text: string, style: Partial<CSSStyleDeclaration>): HTMLElement {
  const element = document.createElement('div');
  element.textContent = text;
  Object.assign(element.style, style);
  return element;
}

function table(rows: Tip['rows'], theme: Theme): HTMLElement {
  const element = document.createElement('div');
  Object.assign(element.style, {
    display: 'grid', gridTemplateColumns: 'auto 1fr', columnGap: '12px', marginTop: '3px', fontVariantNumeric: 'tabular-nums',
  });
  for (const [name, value] of rows) element.append(line(name, { color: theme.dim }), line(value, {}));
  return element;
}
