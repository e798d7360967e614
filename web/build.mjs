// Builds the scripts and styles of both pages, the engine, and the content security policies with hashes, into `src/output/workbench/` and
// `src/output/fleet/page/`, from where the command embeds them.
//
//   node build.mjs [--check] [--no-engine]
//
// `--check` writes nothing, and fails if the committed files differ. The engine is compared only with the compiler that built it.

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { buildModule, needTarget, rustcVersion } from './engine.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const target = (name) => here(`../src/output/workbench/${name}`);
const fleetTarget = (name) => here(`../src/output/fleet/page/${name}`);
/** A report has its payload, so its engine reads no recordings. */
const WITHOUT_READER = ['--no-default-features'];
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Returns script, style and policy of reports and of the app, by name. */
export function buildWorkbench() {
  // The engine is WebAssembly, and runs in a worker that the page makes of the same script.
  return buildPage('workbench', 'main.tsx', 'index.css', "'wasm-unsafe-eval'", '; img-src data: blob:; worker-src blob:');
}

/** Returns script, style and policy of the pages of recordings and of fleets, by path. */
export async function buildPages() {
  const workbench = await buildWorkbench();
  const fleet = await buildPage('fleet', 'fleet/main.tsx', 'fleet.css', '', "; base-uri 'none'; form-action 'none'");
  return { ...inFolder(target, workbench), ...inFolder(fleetTarget, fleet) };
}

function inFolder(folder, files) {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [folder(name), text]));
}

async function buildPage(page, script, style, scriptSources, otherSources) {
  const jsx = { jsx: 'automatic', jsxImportSource: 'preact' };
  const common = { bundle: true, minify: true, charset: 'utf8', legalComments: 'none', write: false, target: ['es2022'], ...jsx };
  const textOf = async (options) => (await build({ ...common, ...options })).outputFiles[0].text.trimEnd();
  const [scriptText, styleText] = [
    await textOf({ entryPoints: [here(`src/${script}`)], format: 'iife' }),
    await textOf({ entryPoints: [here(`src/style/${style}`)] }),
  ];
  const files = { [`${page}.js`]: scriptText, [`${page}.css`]: styleText };
  for (const [name, text] of Object.entries(files)) {
    // Either would end its element.
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} has a text that ends its element`);
  }
  const scripts = `${hash(scriptText)} ${scriptSources}`.trim();
  files['policy.txt'] = `default-src 'none'; script-src ${scripts}; style-src ${hash(styleText)}${otherSources}`;
  return files;
}

/** Builds the engine, and names its compiler. */
async function writeEngine() {
  needTarget();
  await writeFile(target('engine.wasm.gz'), gzipSync(buildModule(...WITHOUT_READER), { level: 9 }));
  await writeFile(target('engine.txt'), `${rustcVersion()}\n`);
}

/** Compares the module without its compression, which differs between versions of zlib. */
async function checkEngine() {
  const committed = (await readFile(target('engine.txt'), 'utf8')).trim();
  if (rustcVersion() !== committed) return skip(`it was built by ${committed}, and this is ${rustcVersion()}`);
  try {
    needTarget();
  } catch (error) {
    return skip(`rustc cannot build it here: ${error.stderr ?? error.message}`.trim());
  }
  const isEqual = buildModule(...WITHOUT_READER).equals(gunzipSync(await readFile(target('engine.wasm.gz'))));
  return isEqual ? undefined : complain(target('engine.wasm.gz'));
}

function skip(reason) {
  console.log(`skipped: the comparison of the engine (${reason})`);
}

function complain(path) {
  console.error(`${path} is not what web/ builds; run: cd web && npm ci && npm run build`);
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [isCheck, hasEngine] = [process.argv.includes('--check'), !process.argv.includes('--no-engine')];
  for (const [path, text] of Object.entries(await buildPages())) {
    if (!isCheck) await writeFile(path, text);
    else if ((await readFile(path, 'utf8')) !== text) complain(path);
  }
  if (hasEngine) await (isCheck ? checkEngine() : writeEngine());
}
