// Tests the page in browsers: opens it from a file, and uses mouse and keyboard.
//
//   node test/page.mjs [--browser NAME]… [--case TEXT] [--everywhere] [--fresh] [--verbose]
//
// The command writes the pages; `--fresh` replaces their script and style with the current build of web/. `TRACEPARSE_CORPUS` adds real
// recordings. A case also fails if the console contains anything. All browsers run at the same time, with two windows each. Cases that
// cannot differ between browsers run in only one of them, in turn; `--everywhere` runs them in all.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CASES } from './page/cases.mjs';
import { COMPARED_CASES } from './page/compared_cases.mjs';
import { writeInputs } from './page/inputs.mjs';
import { INTERVAL_CASES } from './page/interval_cases.mjs';
import { INVERTED_CASES } from './page/inverted_cases.mjs';
import { LAYOUT_CASES } from './page/layout_cases.mjs';
import { HISTORY_CASES } from './page/history_cases.mjs';
import { FITTING_CASES, OPENING_CASES, opensEach } from './page/opening_cases.mjs';
import { PLACE_CASES } from './page/place_cases.mjs';
import { REDACTION_CASES } from './page/redaction_cases.mjs';
import { SAVING_CASES } from './page/saving_cases.mjs';
import { SEARCH_CASES } from './page/search_cases.mjs';
import { SORTING_CASES } from './page/sorting_cases.mjs';
import { Tab } from './page/tab.mjs';
import { argumentsOf, runCases } from './runner.mjs';

const asked = argumentsOf(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), 'workbench-page-'));
const inputs = await writeInputs(folder, asked.isFresh);
/** Cases where browsers may differ: opening, drawing, keys, the mouse, links and saving. The slowest come first. */
const inEach = casesOf(OPENING_CASES, COMPARED_CASES, REDACTION_CASES, SAVING_CASES, HISTORY_CASES, LAYOUT_CASES, INTERVAL_CASES, CASES);
/** Cases that depend mostly on the page's state and answers. `equality.mjs` opens more recordings in every browser. */
const inOne = casesOf(FITTING_CASES, opensEach(inputs), SEARCH_CASES, PLACE_CASES, SORTING_CASES, INVERTED_CASES);
await runCases({ asked, inEach, inOne, inputs, newTab: (browser) => new Tab(browser) });
rmSync(folder, { recursive: true });

function casesOf(...groups) {
  return groups.flatMap(Object.entries);
}
