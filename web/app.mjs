// Builds the page that opens recordings in the browser, `dist/traceparse.html`, and its engine, `dist/reader.wasm`: `npm run app`.
//
//   node app.mjs [--no-engine] [OPTION-OF-CARGO]…
//
// `--no-engine` uses the last engine that was built.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildWorkbench } from './build.mjs';
import { buildModule, needTarget } from './engine.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Returns the page with an engine. The shell is the same as that of reports, which is in `src/output/workbench/page.rs`. */
export async function appPage(module) {
  const files = await buildWorkbench();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${files['policy.txt']}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>traceparse</title>
<style>${files['workbench.css']}</style>
</head>
<body>
<main id="workbench">
<h1>traceparse</h1>
<noscript>This page opens recordings with JavaScript, which is turned off here.</noscript>
<p id="opening" class="notice">Reading the page … If this line stays, the file is incomplete: download it again.</p>
</main>
<script id="reader" type="application/octet-stream">${gzipSync(module, { level: 9 }).toString('base64')}</script>
<script>${files['workbench.js']}</script>
</body>
</html>
`;
}

function write(name, content) {
  mkdirSync(here('dist'), { recursive: true });
  writeFileSync(here(`dist/${name}`), content);
  console.log(`dist/${name}: ${content.length} bytes, ${gzipSync(content, { level: 9 }).length} with gzip`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = process.argv.slice(2).filter((option) => option !== '--no-engine');
  if (!process.argv.includes('--no-engine')) {
    needTarget();
    write('reader.wasm', buildModule(...options));
  }
  const page = await appPage(readFileSync(here('dist/reader.wasm')));
  write('traceparse.html', Buffer.from(page));
}
