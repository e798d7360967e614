// Places in a call tree as links write them.
//
//   down:main@orchard;orchard::Press::filter@orchard
//
// Functions are listed from the tree's root on, each with `@` and its binary. In a name, `\` precedes a `\`, `@`, `;`, `#` or a first `~`.
// `#` and eight letters distinguish binaries with the same name. In long paths, `~` and eight letters replace a function.

import type { Step, TreePlace } from '../host/protocol.ts';
import { RefusedError } from '../host/refused.ts';
import type { Names } from './names.ts';
import { recordingsOf } from './sides.ts';
import { MarkedFunctions, functionsOfSteps, markOfStep } from './steps.ts';

/** Longer paths are written with marks. */
const LONG = 1_000;

export function placeText({ direction, path }: TreePlace): string {
  const plain = path.map(stepText).join(';');
  const text = plain.length <= LONG ? plain : path.map(shortStepText).join(';');
  return `${direction}:${text}`;
}

/** Parses a place; functions that are in no recording of the page are rejected. */
export function readPlace(text: string, names: Names): TreePlace {
  const found = /^(down|up):(.+)$/s.exec(text);
  if (found === null) throw new RefusedError('this link has a path of functions that cannot be read; paths look like down:main@app;work@app');
  const recordings = recordingsOf(names);
  const texts = splitAt(found[2]!, ';');
  const path = stepsOf(recordings, texts);
  const known = recordings.map((recording) => functionsOfSteps(recording, path));
  const missing = path.findIndex((_, place) => known.every((found) => found[place]!.length === 0));
  if (missing >= 0) throw unknown(texts[missing]!);
  return { direction: found[1] as TreePlace['direction'], path };
}

function stepText({ name, binary, which }: Step): string {
  const escaped = (text: string): string => text.replace(/[\\@;#]|^~/g, '\\$&');
  return `${escaped(name)}${binary === null ? '' : `@${escaped(binary)}`}${whichText(which)}`;
}

function shortStepText(step: Step): string {
  const [plain, short] = [stepText(step), `~${markOfStep(step)}${whichText(step.which)}`];
  return plain.length <= short.length ? plain : short;
}

function whichText(which: string | undefined): string {
  return which === undefined ? '' : `#${which}`;
}

function stepsOf(recordings: readonly Names[], texts: readonly string[]): Step[] {
  let marked: MarkedFunctions[] | null = null;
  const ofMark = (mark: string): Step | undefined => {
    marked ??= recordings.map((recording) => new MarkedFunctions(recording));
    return marked.flatMap((functions) => functions.find(mark) ?? [])[0];
  };
  return texts.map((text) => {
    const [plain = '', which, ...more] = splitAt(text, '#');
    const named = plain.startsWith('~') ? ofMark(plain.slice(1)) : namedStep(plain);
    if (named === undefined || more.length > 0) throw unknown(text);
    return which === undefined ? named : { ...named, which };
  });
}

function namedStep(text: string): Step | undefined {
  const [name, binary = null, ...more] = splitAt(text, '@');
  if (name === undefined || more.length > 0) return undefined;
  const plain = (escaped: string): string => escaped.replace(/\\(.)/gs, '$1');
  return { name: plain(name), binary: binary === null ? null : plain(binary) };
}

/** Splits a string at characters that are not escaped by `\`. */
function splitAt(text: string, letter: string): string[] {
  const parts = [''];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at]!;
    if (unit === letter) parts.push('');
    else if (unit === '\\') parts[parts.length - 1] += text.slice(at, (at += 1) + 1);
    else parts[parts.length - 1] += unit;
  }
  return parts;
}

function unknown(step: string): RefusedError {
  const shown = step.length > 80 ? `${step.slice(0, 79)}…` : step;
  return new RefusedError(`this recording has no function ‘${shown}’, which is on a path of this link`);
}
