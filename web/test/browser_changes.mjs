// Runs in a browser: the engine, and `answer` for queries on both payloads of the page.

import * as engine from '../src/engine/index.ts';
import { answerOf } from './changes.mjs';
import { parseExactly } from './exactly.mjs';
import { read, written } from './tables.mjs';

const textOf = (id) => document.getElementById(id).textContent;
const loaded = Promise.all(['before', 'profile'].map((id) => engine.decodePayload(textOf(id)))).then(
  ([before, after]) => new engine.Comparison(before, after, parseExactly(textOf('diff'))),
);

/** Answers a query. Both are strings. */
globalThis.answer = async (query) => written(answerOf(engine, await loaded, read(query)));
