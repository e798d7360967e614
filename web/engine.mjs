// Builds the page's engine: the binding crate in `engine/`, compiled to WebAssembly. The module depends only on the sources, the version of
// rustc and both lock files, and not on the folders of the checkout and of cargo.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const TARGET = 'wasm32-unknown-unknown';
/** The features that rustc uses for this target. Browsers have had them since 2022. */
const FEATURES = ['bulk-memory', 'sign-ext', 'nontrapping-float-to-int', 'mutable-globals', 'multivalue', 'reference-types'];

/** The functions of `engine/src/lib.rs`, of which `read` exists only with its feature. */
const EXPORTS = ['memory', 'reserve', 'open', 'ask', 'answer', 'read'];

const run = (program, ...options) => execFileSync(program, options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** The version of rustc, like `rustc 1.95.0 (59807616e 2026-04-14)`. */
export const rustcVersion = () => run('rustc', '--version');

/** Installs the target if it is missing. Throws if that fails. */
export function needTarget() {
  const library = join(run('rustc', '--print', 'sysroot'), 'lib/rustlib', TARGET);
  try {
    readdirSync(library);
  } catch {
    run('rustup', 'target', 'add', TARGET);
  }
}

/** Returns the bytes of the module, with other options of cargo if given. */
export function buildModule(...others) {
  // Beside other builds, which would wait for each other in one folder.
  const target = join(process.env.CARGO_TARGET_DIR ?? here('../target'), 'engine');
  const build = ['build', '--profile', 'page', '--package', 'traceparse-engine', '--locked', '--target', TARGET, '--target-dir', target, ...others];
  const env = { ...process.env, CARGO_ENCODED_RUSTFLAGS: remapped().join('\x1f') };
  execFileSync('cargo', build, { cwd: here('..'), env, stdio: ['ignore', 'inherit', 'inherit'] });
  const built = join(target, TARGET, 'page/traceparse_engine.wasm');
  const [reduced, optimised] = ['reduced', 'optimised'].map((state) => `${built}.${state}`);
  const features = FEATURES.map((feature) => `--enable-${feature}`);
  // Functions with one caller stay functions: a browser compiles less of them at the start, and the module compresses to a tenth less.
  const options = ['-Os', '--one-caller-inline-max-function-size=20', '--strip-debug', ...features];
  const binaryen = (program, ...given) => run(process.execPath, here(`node_modules/binaryen/bin/wasm-${program}`), ...given);
  writeFileSync(`${built}.graph`, JSON.stringify(graph()));
  binaryen('metadce', ...features, built, '--graph-file', `${built}.graph`, '-o', reduced);
  binaryen('opt', ...options, reduced, '-o', optimised);
  return readFileSync(optimised);
}

/** What the page uses. A dependency of `zip` exports more, and imports functions for these exports. */
function graph() {
  const exported = EXPORTS.map((name) => ({ name, export: name }));
  return [...exported, { name: 'page', root: true, reaches: EXPORTS }];
}

/** The options that replace the folders of this machine in the messages of panics. */
function remapped() {
  const registry = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry/src');
  const [, commit] = /^commit-hash: (.*)$/m.exec(run('rustc', '-vV'));
  const folders = [
    [here('..').replace(/\/$/, ''), '/traceparse'],
    ...readdirSync(registry).map((index) => [join(registry, index), '/crates']),
    // Only if the component rust-src is installed.
    [join(run('rustc', '--print', 'sysroot'), 'lib/rustlib/src/rust'), `/rustc/${commit}`],
  ];
  return folders.map(([from, to]) => `--remap-path-prefix=${from}=${to}`);
}
