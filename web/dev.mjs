// Tests the page without cargo: builds script and style, and puts them into a page written by the command.
//
//   TRACEPARSE_ENGINE=ENGINE.wasm node dev.mjs PAGE.html OUT.html

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildPage } from './build.mjs';

/** Returns a page of the command with the current script, style and policy of `web/`, and with the engine of `TRACEPARSE_ENGINE`. */
export async function withBuild(page) {
  const files = await buildPage();
  const replaced = (text, from, to) => {
    const start = text.indexOf(from[0]) + from[0].length;
    const end = text.indexOf(from[1], start);
    if (start < from[0].length || end < 0) throw new Error(`a page has no ${from[0]}`);
    return text.slice(0, start) + to + text.slice(end);
  };
  const withPolicy = replaced(page, ['http-equiv="Content-Security-Policy" content="', '">'], files['policy.txt']);
  const withStyle = replaced(withPolicy, ['<style>', '</style>'], files['workbench.css']);
  const withScript = replaced(withStyle, ['<script>', '</script>'], files['workbench.js']);
  const engine = process.env.TRACEPARSE_ENGINE;
  if (engine === undefined) return withScript;
  const text = gzipSync(await readFile(engine), { level: 9 }).toString('base64');
  return withScript.replace('<script id="profile"', `<script id="engine" type="application/octet-stream">${text}</script>\n$&`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [from, to] = process.argv.slice(2);
  await writeFile(to, await withBuild(await readFile(from, 'utf8')));
}
