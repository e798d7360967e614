// Runs in a browser: the engine, and `answer` for queries on the payload of the page.

import * as engine from '../src/engine/index.ts';
import { Tables, read } from './tables.mjs';

const loaded = engine.decodePayload(document.getElementById('profile').textContent).then((profile) => new Tables(engine, profile));

/** Answers a query. Both are strings. */
globalThis.answer = async (query) => JSON.stringify((await loaded).answer(read(query)));
