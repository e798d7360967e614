// Tries the page without cargo: builds script and style, and puts them into a page that the command wrote.
//
//   node dev.mjs PAGE.html OUT.html

import { readFile, writeFile } from 'node:fs/promises';
import { buildPage } from './build.mjs';

const [from, to] = process.argv.slice(2);
const page = await readFile(from, 'utf8');
const files = await buildPage();
const payload = page.match(/<script id="profile"[^>]*>[^<]*<\/script>/)[0];
const title = page.match(/<title>[^<]*<\/title>/)[0];
await writeFile(
  to,
  `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${files['policy.txt']}">\n` +
    `<meta name="viewport" content="width=device-width, initial-scale=1">\n${title}\n<style>${files['workbench.css']}</style>\n</head>\n<body>\n` +
    `<main id="workbench">\n<h1>${title.replace(/<[^>]*>/g, '')}</h1>\n</main>\n${payload}\n<script>${files['workbench.js']}</script>\n</body>\n</html>\n`,
);
