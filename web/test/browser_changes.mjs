// What a browser runs to compare: the engine, and `changes`, which answers queries on both payloads of its page.

import * as engine from '../src/engine/index.ts';
import { answerOf } from './changes.mjs';
import { parseExactly } from './exactly.mjs';
import { read, written } from './tables.mjs';

const textOf = (id) => document.getElementById(id).textContent;
const loaded = Promise.all(['before', 'profile'].map((id) => engine.decodePayload(textOf(id)))).then(
  ([before, after]) => new engine.Comparison(before, after, parseExactly(textOf('diff'))),
);

/** The answer to a query, both as texts. */
globalThis.answer = async (query) => written(answerOf(engine, await loaded, read(query)));
