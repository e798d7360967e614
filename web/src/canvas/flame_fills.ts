// The colour of each box: a number that a theme maps to a fill and a text colour.

import { SHADES, STEPS, type Theme } from './theme.ts';
import { type FlameModel, KINDS, type Labels } from './types.ts';

/** Fills: shades of kinds, then steps of differences, then matches of a search. */
export const CHANGES = KINDS.length * SHADES;
export const MATCH = CHANGES + 2 * STEPS + 1;
export const FILLS = MATCH + 1;

/** The fill of each label; equal names have equal fills. */
export function fillsOfLabels({ names, kinds }: Labels): Uint8Array {
  return Uint8Array.from(names, (name, label) => kinds[label]! * SHADES + (hash(name) % SHADES));
}

/** The fill of each box in a comparison. Changes are shown by their root, so that small ones are visible. */
export function fillsOfChanges(change: Float32Array): Uint8Array {
  return Uint8Array.from(change, (value) => {
    const step = Math.ceil(Math.sqrt(Math.min(1, Math.abs(value))) * STEPS);
    return CHANGES + STEPS + Math.sign(value) * step;
  });
}

export function fillColor(theme: Theme, fill: number): string {
  if (fill === MATCH) return theme.match;
  return fill >= CHANGES ? theme.changes[fill - CHANGES]! : theme.boxes[fill]!;
}

export function fillText(theme: Theme, fill: number): string {
  if (fill === MATCH) return theme.matchText;
  return fill >= CHANGES ? theme.changeText : theme.boxTexts[Math.floor(fill / SHADES)]!;
}

/** True if there is a search. */
export function isSearched(model: FlameModel): boolean {
  return model.matches !== undefined && model.matches !== null;
}

function hash(text: string): number {
  let value = 2166136261;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 16777619);
  return (value >>> 0) >>> 7;
}
