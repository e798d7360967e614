// Names for the questions and answers that the engine declares, and types that it does not have.

import type { Answer, Ask, Operation } from './generated.ts';

export type * from './generated.ts';

export type AskOf<K extends Ask['kind']> = Extract<Ask, { kind: K }>;
export type AnswerOf<K extends Ask['kind']> = Extract<Answer, { kind: K }>;
export type AnswerTo<A extends Ask> = AnswerOf<A['kind']>;

/** An operation on one place of the tree that results from the earlier operations. */
export type OfPlace = Extract<Operation, { kind: 'root-at-place' | 'prune-place' | 'charge-place' }>;
