// Writes a page that contains only the canvases, with the recording of a page written by the command.
//
//   node dev/canvas.mjs PAGE.html OUT.html

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { payloadOf } from '../test/command.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export async function writeDevPage(page, out) {
  const options = { bundle: true, format: 'iife', write: false, target: ['es2022'], charset: 'utf8', entryPoints: [here('canvas.ts')] };
  const script = (await build(options)).outputFiles[0].text;
  const payload = payloadOf(await readFile(page, 'utf8'));
  const shell = await readFile(here('canvas.html'), 'utf8');
  await writeFile(out, `${shell}<script id="profile" type="application/octet-stream">${payload}</script>\n<script>${script}</script>\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeDevPage(process.argv[2], process.argv[3]);
