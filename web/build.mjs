// Builds the page's script, style and engine, and the content security policy with hashes, into `src/output/workbench/`, from where the
// command embeds them, and the policy of the page of fleets.
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
const fleet = (name) => here(`../src/output/fleet/html/${name}`);
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Returns script, style and policy by file name. */
export async function buildPage() {
  const jsx = { jsx: 'automatic', jsxImportSource: 'preact' };
  const common = { bundle: true, minify: true, charset: 'utf8', legalComments: 'none', write: false, target: ['es2022'], ...jsx };
  const script = await build({ ...common, entryPoints: [here('src/main.tsx')], format: 'iife' });
  const style = await build({ ...common, entryPoints: [here('src/style/index.css')] });
  const files = { 'workbench.js': script.outputFiles[0].text.trimEnd(), 'workbench.css': style.outputFiles[0].text.trimEnd() };
  for (const [name, text] of Object.entries(files)) {
    // Either would end its element.
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} has a text that ends its element`);
  }
  // The engine is WebAssembly, and runs in a worker that the page makes of the same script.
  files['policy.txt'] =
    `default-src 'none'; script-src ${hash(files['workbench.js'])} 'wasm-unsafe-eval'; style-src ${hash(files['workbench.css'])}; ` +
    `img-src data: blob:; worker-src blob:`;
  return files;
}

/** The policy of the page of fleets, whose script and styles are embedded as they are. */
async function fleetPolicy() {
  const [script, ...styles] = await Promise.all(['report.js', 'report.css', 'run_pages.css'].map(async (name) => hash(await readFile(fleet(name), 'utf8'))));
  return `default-src 'none'; script-src ${script}; style-src ${styles.join(' ')}; img-src data:; base-uri 'none'; form-action 'none'`;
}

/** Builds the engine, and names its compiler. */
async function writeEngine() {
  needTarget();
  await writeFile(target('engine.wasm.gz'), gzipSync(buildModule(), { level: 9 }));
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
  const isEqual = buildModule().equals(gunzipSync(await readFile(target('engine.wasm.gz'))));
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
  const files = Object.entries(await buildPage()).map(([name, text]) => [target(name), text]);
  files.push([fleet('policy.txt'), await fleetPolicy()]);
  for (const [path, text] of files) {
    if (!isCheck) await writeFile(path, text);
    else if ((await readFile(path, 'utf8')) !== text) complain(path);
  }
  if (hasEngine) await (isCheck ? checkEngine() : writeEngine());
}
