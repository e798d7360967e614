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

const EXPORT_SECTION = 7;
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
  writeFileSync(reduced, withoutOtherExports(readFileSync(built)));
  const features = FEATURES.map((feature) => `--enable-${feature}`);
  // Functions with one caller stay functions: a browser compiles less of them at the start, and the module compresses to a tenth less.
  const options = ['-Os', '--one-caller-inline-max-function-size=20', '--strip-debug', ...features];
  run(process.execPath, here('node_modules/binaryen/bin/wasm-opt'), ...options, reduced, '-o', optimised);
  return readFileSync(optimised);
}

/**
 * Removes what the page does not use from the exports of a module: a dependency of `zip` has exports, with imports for them. binaryen then removes
 * both. (Its `wasm-metadce` removes exports, but writes a module that compresses to 4 % more.)
 */
function withoutOtherExports(module) {
  const parts = [module.subarray(0, 8)];
  for (let at = 8; at < module.length; ) {
    const [length, start] = numberAt(module, at + 1);
    const kept = module[at] === EXPORT_SECTION ? keptExports(module.subarray(start, start + length)) : null;
    // Six short names, so the length takes one byte.
    parts.push(kept === null ? module.subarray(at, start + length) : Buffer.from([EXPORT_SECTION, kept.length, ...kept]));
    at = start + length;
  }
  return Buffer.concat(parts);
}

/** Each export has the length of its name, its name, a kind and an index. */
function keptExports(section) {
  const kept = [];
  for (let [, at] = numberAt(section, 0); at < section.length; ) {
    const [length, name] = numberAt(section, at);
    const [, end] = numberAt(section, name + length + 1);
    if (EXPORTS.includes(section.toString('utf8', name, name + length))) kept.push(section.subarray(at, end));
    at = end;
  }
  return Buffer.concat([Buffer.from([kept.length]), ...kept]);
}

/** Returns a LEB128 number, and where it ends. */
function numberAt(bytes, at) {
  let [value, end] = [0, at];
  do value += (bytes[end] & 127) * 2 ** (7 * (end - at));
  while (bytes[end++] > 127);
  return [value, end];
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
