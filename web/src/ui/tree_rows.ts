// The open rows of a shown tree, and the search for the next matching row. The engine has the tree: the page requests the open rows, and rows
// to open.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { AnswerOf, AskOf, FindAsk, OpenRows } from '../host/protocol.ts';
import { boxStack } from '../canvas/index.ts';
import { useAnswer, useApp, useStore } from './app_context.ts';
import { grouped } from './format.ts';
import { functionAt } from './labels.ts';
import { partWord } from './parts.tsx';
import { useSearch } from './search.tsx';
import type { TreeRows } from './table.tsx';

/** The visible rows of a tree, and which are open. */
export type TreeShape = Pick<AnswerOf<'tree'>, 'depth' | 'label' | 'flags'>;

export interface Opening {
  readonly ask: Pick<AskOf<'tree'>, 'open' | 'expand' | 'find'>;
  /** Rows are being opened, and the shown rows will be replaced. */
  readonly isOpening: boolean;
  readonly set: (ask: Partial<Opening['ask']>) => void;
}

export function useOpening(): Opening {
  const [ask, set] = useState<Opening['ask']>({ open: null, expand: null, find: null });
  return { ask, isOpening: ask.expand !== null || ask.find !== null, set: (change) => set((before) => ({ ...before, ...change })) };
}

/** The question for the heaviest boxes of a tree, with at least 0.01 % of the total. */
export const HEAVIEST = { unit: 'samples', key: '', tree: 'heaviest', pixels: 10_000, least: null, from: null, to: null } as const;
type HeaviestAsk = AskOf<'flame'> | AskOf<'diff-flame'>;

/** The rows of the answer to the current question; null without one. `heaviest` is the question for the boxes of the same tree. */
export function useTreeRows(opening: Opening, answer: (TreeShape & Pick<AnswerOf<'tree'>, 'found' | 'match'>) | null, isOld: boolean, heaviest: HeaviestAsk): TreeRows | null {
  const { ask, isOpening, set } = opening;
  const app = useApp();
  const { search: text } = useStore();
  const search = useSearch();
  const noMatch = useNoMatch();
  const [found, setFound] = useState<TreeRows['found']>(null);
  const isTyping = useRef(false);
  useEffect(() => {
    // Rows that were opened at once count as open from now on.
    if (!isOpening || answer === null || isOld) return;
    set({ open: openRows(answer, -1), expand: null, find: null });
    const { found, match } = answer;
    if (match !== null) app.seen.onPlace(`${match.at === null ? '–' : grouped(match.at)} of ${grouped(match.of)}${match.isAll ? '' : '+'}`);
    if (typeof found === 'number') setFound({ row: found, isTyping: isTyping.current });
    else if (isTyping.current) return;
    else if (found === 'beyond') app.say('The next match is beyond the rows that are shown: close some rows, or focus on a function.');
    else if (found === 'none') app.say(noMatch);
  }, [isOpening, answer, isOld]);
  const seekHeaviest = useHeaviest(heaviest, (path) => {
    if (answer !== null) set({ open: openRows(answer, -1), find: { text, path, steps: 1, isHere: true } });
  });
  if (answer === null) return null;
  const { depth, flags } = answer;
  const isOpen = (row: number): boolean => (flags[row]! & 2) !== 0;
  const expand = (row: number, onlyChain: boolean): void => set({ open: openRows(answer, -1), expand: { path: pathTo(answer, row), onlyChain } });
  const seek = (row: number, step: 1 | -1, toHeaviest: boolean, typing: boolean): void => {
    // The matches are not known yet, nor whether the search is valid.
    if (search.answer === null) return;
    if (toHeaviest && search.answer.functions === 0) return;
    isTyping.current = typing;
    if (toHeaviest) {
      seekHeaviest();
      return;
    }
    // Keys may be faster than answers.
    const find: FindAsk = ask.find === null ? { text, path: pathTo(answer, row), steps: step, isHere: false } : { ...ask.find, steps: ask.find.steps + step };
    set({ open: openRows(answer, -1), find });
  };
  return {
    depth: (row) => depth[row]!,
    hasChildren: (row) => (flags[row]! & 1) !== 0,
    isOpen,
    toggle: (row) => (isOpen(row) ? set({ open: openRows(answer, row) }) : expand(row, true)),
    expandAll: (row) => expand(row, false),
    seek,
    found,
  };
}

/** Finds the path to the heaviest match. If all matches are too light, the path is empty, and the first match follows. */
function useHeaviest(ask: HeaviestAsk, found: (path: readonly number[]) => void): () => void {
  const { names } = useApp();
  const { matches } = useSearch();
  const [isWanted, want] = useState(false);
  const { answer, isOld, fault } = useAnswer('heaviest', isWanted ? ask : null);
  useEffect(() => {
    if (!isWanted || isOld || (answer === null && fault === null)) return;
    want(false);
    if (answer === null || matches === null) return found([]);
    const { model } = answer;
    const best = Array.from(model.label, (_, box) => box).reduce((best, box) => (matches[model.label[box]!] === 1 && !(model.width[box]! <= model.width[best]!) ? box : best), -1);
    // Without the root, which contains all boxes.
    found(best < 0 ? [] : boxStack(model, best).slice(1).map((place) => functionAt(names, place)));
  }, [isWanted, isOld, answer, fault]);
  return () => want(true);
}

/**
 * By row: its level of indentation. As in the terminal, levels are indented only if the tree forks: a call without siblings continues the
 * chain of the row above, on the same level.
 */
export function chainLevels({ depth }: Pick<TreeShape, 'depth'>): Int32Array {
  const callers: number[] = [];
  const callerOf = Array.from(depth, (level, row) => {
    callers[level] = row;
    return level > 1 ? callers[level - 1]! : -1;
  });
  const callees = new Int32Array(depth.length);
  for (const caller of callerOf) if (caller >= 0) callees[caller] = callees[caller]! + 1;
  const levels = new Int32Array(depth.length);
  callerOf.forEach((caller, row) => {
    if (caller >= 0) levels[row] = levels[caller]! + (callees[caller] === 1 ? 0 : 1);
  });
  return levels;
}

/** Fewer callers before the first fork are shown like all other rows. */
const MANY_CALLERS = 5;
/** A callee with this share of its caller leaves too little for a fork. */
const NEARLY_ALL = 0.9;

/** The first row of the topmost path whose weight is divided among its callees; 0 if it is near the top. */
export function firstFork({ depth }: Pick<TreeShape, 'depth'>, weightOf: (row: number) => number): number {
  let row = 0;
  while (row + 1 < depth.length && depth[row + 1] === depth[row]! + 1 && weightOf(row + 1) >= NEARLY_ALL * weightOf(row)) row += 1;
  return row < MANY_CALLERS ? 0 : row;
}

/** Why no row of the tree matches. */
function useNoMatch(): string {
  const { by } = useStore();
  const { answer } = useSearch();
  const isSelected = [answer?.all, answer?.before?.all].some((all) => all !== undefined && Number(all.samples) > 0);
  if (!isSelected) return 'Nothing in the selection matches the search.';
  return by === 'none' ? 'No row matches the search.' : `No row of this tree matches the search: the matches are in the tree of another ${partWord(by)}.`;
}

/** The rows that are open after one of them was opened or closed; -1 changes none. */
function openRows({ depth, label, flags }: TreeShape, toggled: number): OpenRows {
  const open: { depth: number[]; label: number[] } = { depth: [], label: [] };
  flags.forEach((flag, row) => {
    const isOpen = (flag & 2) !== 0;
    if (isOpen === (row === toggled)) return;
    open.depth.push(depth[row]!);
    open.label.push(label[row]!);
  });
  return open;
}

/** The labels on the path to a row, from the top. */
export function pathTo({ depth, label }: TreeShape, row: number): number[] {
  const path = [label[row]!];
  for (let above = row - 1, level = depth[row]!; above >= 0 && level > 1; above -= 1) {
    if (depth[above]! >= level) continue;
    level = depth[above]!;
    path.unshift(label[above]!);
  }
  return path;
}
