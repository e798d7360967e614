// Tests the pages without building the command: builds script and style, and puts them and the built engine into a page that the command
// wrote.
//
//   node dev.mjs PAGE.html OUT.html

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildPages } from './build.mjs';

/** Returns a page of the command with the current script, style and policy of `web/`, and the last engine that was built. */
export async function withBuild(page) {
  const isFleet = page.includes('<script id="report"');
  const [folder, name] = isFleet ? ['fleet/page', 'fleet'] : ['workbench', 'workbench'];
  const files = await buildPages();
  const built = (file) => files[fileURLToPath(new URL(`../src/output/${folder}/${file}`, import.meta.url))];
  const replaced = (text, from, to) => {
    const start = text.indexOf(from[0]) + from[0].length;
    const end = text.indexOf(from[1], start);
    if (start < from[0].length || end < 0) throw new Error(`a page has no ${from[0]}`);
    return text.slice(0, start) + to + text.slice(end);
  };
  const withPolicy = replaced(page, ['http-equiv="Content-Security-Policy" content="', '">'], built('policy.txt'));
  const withStyle = replaced(withPolicy, ['<style>', '</style>'], built(`${name}.css`));
  const withScript = replaced(withStyle, ['<script>', '</script>'], built(`${name}.js`));
  if (isFleet) return withScript;
  const engine = await readFile(new URL('../src/output/workbench/engine.wasm.gz', import.meta.url), 'base64');
  return replaced(withScript, ['<script id="engine" type="application/octet-stream">', '</script>'], engine);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [from, to] = process.argv.slice(2);
  await writeFile(to, await withBuild(await readFile(from, 'utf8')));
}
