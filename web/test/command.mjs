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

/** Loads a module of the page, bundled for Node, since not every version of Node runs TypeScript. */
export async function load(path) {
  const options = { bundle: true, format: 'esm', charset: 'utf8', write: false, platform: 'neutral', mainFields: ['module'] };
  const result = await build({ ...options, entryPoints: [join(ROOT, 'web/src', path)], jsx: 'automatic', jsxImportSource: 'preact' });
  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].text).toString('base64')}`);
}

/** Returns the text of a page's script with this id: `engine`, `profile`, `before` or `diff`. */
export function textOf(page, id) {
  return new RegExp(`<script id="${id}" type="[^"]*">([^<]*)</script>`).exec(page)?.[1] ?? null;
}

/** Opens the content of a page, as its worker does. */
export async function openPage(page) {
  const { openModule } = await load('host/open_module.ts');
  const { compiled } = await load('host/engine.ts');
  const bytesOf = (id) => (textOf(page, id) === null ? null : new Uint8Array(Buffer.from(textOf(page, id), 'base64')));
  return openModule({ engine: await compiled(bytesOf('engine')), isCompressed: true, payload: bytesOf('profile'), before: bytesOf('before'), facts: textOf(page, 'diff') });
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

/** Returns the command's JSON, with integers above 2^53 as strings, or its error message. */
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
