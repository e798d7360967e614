// The command, asked for pages and JSON.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { MARK } from './canonical.mjs';

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

/** The page of recordings, or of a comparison (`diff`, and two recordings), as text. */
export function pageOf(files, options = []) {
  const folder = mkdtempSync(join(tmpdir(), 'workbench-'));
  const path = join(folder, 'page.html');
  try {
    const { status, stderr } = spawnSync(COMMAND, [...files, ...options, '-o', path], { encoding: 'utf8', maxBuffer: 1 << 30 });
    if (status !== 0) return { error: stderr };
    return { page: readFileSync(path, 'utf8') };
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
  return parseExactly(/<script id="diff" type="application\/json">([^<]*)<\/script>/.exec(page)[1]);
}

/** The command's JSON, whose integers above 2^53 are bigints; or what it complains of. */
export function jsonOf(files, options) {
  const { status, stdout, stderr } = spawnSync(COMMAND, [...files, '--format', 'json', ...options], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  return status === 0 ? { json: parseExactly(stdout), warnings: stderr } : { error: stderr };
}


/** JSON without rounding. */
export function parseExactly(text) {
  const quoted = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, (token) =>
    /^\d{16,}$/.test(token) ? `"\\u0001big:${token}"` : token,
  );
  return JSON.parse(quoted, (_, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}
