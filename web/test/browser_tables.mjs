// What a browser runs to compute tables: the engine, and `tables`, which answers queries on the payload of its page.

import * as engine from '../src/engine/index.ts';
import { Tables, read } from './tables.mjs';

const loaded = engine.decodePayload(document.getElementById('profile').textContent).then((profile) => new Tables(engine, profile));

/** The answer to a query, both as texts. */
globalThis.answer = async (query) => JSON.stringify((await loaded).answer(read(query)));
