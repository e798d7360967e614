// The command, asked for pages and JSON.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { parseExactly } from './exactly.mjs';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const COMMAND = process.env.TRACEPARSE ?? join(ROOT, 'target/debug/traceparse');

/** A file of `web/` as one script, with all that it imports. */
export async function bundled(path, format) {
  const entry = join(ROOT, 'web', path);
  const result = await build({ entryPoints: [entry], bundle: true, format, charset: 'utf8', write: false, platform: 'neutral' });
  return result.outputFiles[0].text;
}

/** The engine, bundled for Node, which runs no TypeScript everywhere. */
export async function loadEngine() {
  const text = await bundled('src/engine/index.ts', 'esm');
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}

/** The page of recordings, or of a comparison (`diff`, and two recordings), as text, and what was said of it. */
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

/** The payload in a page, as base64; `before` is that of a comparison's first recording. */
export function payloadOf(page, id = 'profile') {
  return new RegExp(`<script id="${id}" type="application/octet-stream">([^<]*)</script>`).exec(page)[1];
}

/** What the page of a comparison tells beside both payloads. */
export function factsOf(page) {
  return parseExactly(factsTextOf(page));
}

/** The same as text. */
export function factsTextOf(page) {
  return /<script id="diff" type="application\/json">([^<]*)<\/script>/.exec(page)[1];
}

/** The command's JSON, whose integers above 2^53 are bigints; or what it complains of. */
export async function jsonOf(files, options) {
  const { isDone, stdout, stderr } = await done([...files, '--format', 'json', ...options]);
  return isDone ? { json: parseExactly(stdout), warnings: stderr } : { error: stderr };
}

/** Runs the command to its end. One that crashes is an error of the test. */
function done(words) {
  return new Promise((resolve, reject) => {
    execFile(COMMAND, words, { encoding: 'utf8', maxBuffer: 1 << 30 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ isDone: error === null, stdout, stderr });
    });
  });
}
