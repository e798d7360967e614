// Runs the command to get pages and JSON.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { parseExactly } from './exactly.mjs';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const COMMAND = process.env.TRACEPARSE ?? join(ROOT, 'target/debug/traceparse');

/** Bundles a file in `web/` and its imports into one script. */
export async function bundled(path, format) {
  const entry = join(ROOT, 'web', path);
  const result = await build({ entryPoints: [entry], bundle: true, format, charset: 'utf8', write: false, platform: 'neutral' });
  return result.outputFiles[0].text;
}

/** Loads the engine, bundled for Node, since not every version of Node runs TypeScript. */
export async function loadEngine() {
  const text = await bundled('src/engine/index.ts', 'esm');
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}

/** Returns the page of recordings, or of a comparison (`diff` and two recordings), and the command's messages. */
export async function pageOf(files, options = []) {
  const folder = mkdtempSync(join(tmpdir(), 'workbench-'));
  const path = join(folder, 'page.html');
  try {
    const { isDone, stderr } = await done([...files, ...options, '-o', path]);
    return isDone ? { page: readFileSync(path, 'utf8'), notes: stderr } : { error: stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the payload in a page, as base64; with the id `before`, the payload of a comparison's first recording. */
export function payloadOf(page, id = 'profile') {
  return new RegExp(`<script id="${id}" type="application/octet-stream">([^<]*)</script>`).exec(page)[1];
}

/** Returns the facts in the page of a comparison, in addition to the two payloads. */
export function factsOf(page) {
  return parseExactly(factsTextOf(page));
}

/** Returns the facts as a string. */
export function factsTextOf(page) {
  return /<script id="diff" type="application\/json">([^<]*)<\/script>/.exec(page)[1];
}

/** Returns the command's JSON, with integers above 2^53 as bigints, or its error message. */
export async function jsonOf(files, options) {
  const { isDone, stdout, stderr } = await done([...files, '--format', 'json', ...options]);
  return isDone ? { json: parseExactly(stdout), warnings: stderr } : { error: stderr };
}

/** Runs the command to its end. A crash fails the test. */
function done(words) {
  return new Promise((resolve, reject) => {
    execFile(COMMAND, words, { encoding: 'utf8', maxBuffer: 1 << 30 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ isDone: error === null, stdout, stderr });
    });
  });
}
