// The only way for strings into the page: everything that Preact writes is made inert, so views do not have to.

import { Fragment, type VNode, options } from 'preact';
import { inert } from '../state/inert.ts';

const ATTRIBUTES = ['title', 'aria-label'] as const;

/** Makes all strings inert from now on, except user input and the tabs of source lines. */
export function writeInertTexts(): void {
  const before = options.vnode;
  options.vnode = (vnode: VNode) => {
    if (typeof vnode.type === 'string') makeInert(vnode.type, vnode.props as Record<string, unknown>);
    else if (vnode.type === Fragment) makeInert('', vnode.props as Record<string, unknown>);
    before?.(vnode);
  };
}

function makeInert(type: string, props: Record<string, unknown>): void {
  const text = type === 'code' ? inertLine : inert;
  if ('children' in props) props['children'] = inertChildren(props['children'], text);
  for (const name of ATTRIBUTES) {
    const value = props[name];
    if (typeof value === 'string') props[name] = inert(value);
  }
}

function inertChildren(children: unknown, text: (text: string) => string): unknown {
  if (typeof children === 'string') return text(children);
  return Array.isArray(children) ? children.map((child: unknown) => inertChildren(child, text)) : children;
}

function inertLine(line: string): string {
  return line.split('\t').map(inert).join('\t');
}
