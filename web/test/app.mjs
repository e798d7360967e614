// Tests the app (`npm run app`) in browsers: drops and chooses files of all kinds, and compares what is shown with the command.
//
//   node test/app.mjs [--browser NAME]… [--case TEXT] [--verbose]
//
// The page has the current script and style, and the engine in `dist/reader.wasm`. Without `TRACEPARSE_CORPUS`, only fixtures are read.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppTab } from './app/app_tab.mjs';
import { APP_CASES } from './app/cases.mjs';
import { DROP_CASES } from './app/drop_cases.mjs';
import { equalsTheCommand } from './app/equality_cases.mjs';
import { writeAppInputs } from './app/inputs.mjs';
import { QUIRK_CASES } from './app/quirk_cases.mjs';
import { savingCases } from './app/saving_cases.mjs';
import { argumentsOf, runCases } from './runner.mjs';

const asked = argumentsOf(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), 'app-'));
const inputs = await writeAppInputs(folder);
const inEach = [APP_CASES, QUIRK_CASES, DROP_CASES, savingCases(), await equalsTheCommand()].flatMap(Object.entries);
await runCases({ asked, inEach, inputs, newTab: (browser) => new AppTab(browser) });
rmSync(folder, { recursive: true });
