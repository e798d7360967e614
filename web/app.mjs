// Builds the engine that reads recordings itself, as `dist/reader.wasm`: `npm run app`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildModule, needTarget } from './engine.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

needTarget();
const module = buildModule(...process.argv.slice(2));
mkdirSync(here('dist'), { recursive: true });
writeFileSync(here('dist/reader.wasm'), module);
console.log(`dist/reader.wasm: ${module.length} bytes, ${gzipSync(module, { level: 9 }).length} with gzip`);
