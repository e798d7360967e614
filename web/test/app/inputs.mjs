// The app, and variants of it in which browsers lack something.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { appPage } from '../../app.mjs';
import { ROOT } from '../command.mjs';
import { hostileRecording } from '../page/inputs.mjs';

/** The engine runs out of memory if a condition of its `request` is true. The second reading is slow enough to be seen. */
function trapping(condition) {
  return `{
    const make = WebAssembly.instantiate;
    WebAssembly.instantiate = async (...all) => {
      const { exports } = await make.apply(WebAssembly, all);
      let at = 0;
      const reserve = (length) => (at = exports.reserve(length));
      const read = (length) => {
        const request = new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at >>> 0, length));
        if (${condition}) throw new WebAssembly.RuntimeError('unreachable');
        for (const end = performance.now() + 1500; performance.now() < end; );
        return exports.read(length);
      };
      return { exports: { ...exports, reserve, read } };
    };
  }`;
}

/** Runs before the script, in the page and in its workers. */
const BEFORE = {
  noReaderInWorkers: 'delete globalThis.FileReaderSync;',
  noWorkers: 'delete globalThis.Worker;',
  slowFiles: `if (globalThis.FileReaderSync) {
    const { prototype } = FileReaderSync;
    const read = prototype.readAsArrayBuffer;
    prototype.readAsArrayBuffer = function (blob) {
      for (const end = performance.now() + (blob.size > 1 ? 1500 : 0); performance.now() < end; );
      return read.call(this, blob);
    };
  }`,
  trapsOnce: trapping(`!request.includes('"sums":true')`),
  trapsAlways: trapping('true'),
  slowOperations: `if (!globalThis.document) addEventListener('message', ({ data }) => {
    for (const end = performance.now() + (data.place?.operations.length > 0 ? 60_000 : 0); performance.now() < end; );
  });`,
};

/** A call tree that was copied from Instruments, whose reader warns of its accuracy. */
const DEEP_COPY = ['Weight\tSelf Weight\tSymbol Names', '4.00 ms  100.0%\t1.00 ms\tstart', '3.00 ms  75.0%\t3.00 ms\t main', ''].join('\n');

export async function writeAppInputs(folder) {
  const module = readFileSync(join(ROOT, 'web/dist/reader.wasm'));
  const page = await appPage(module);
  const written = (name, text) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const orchard = join(ROOT, 'fixtures/27/orchard/input.xml');
  return {
    folder,
    app: written('app.html', page),
    variants: Object.fromEntries(Object.entries(BEFORE).map(([name, code]) => [name, written(`${name}.html`, withCode(page, code))])),
    orchard,
    waiting: join(ROOT, 'fixtures/27/time-profile-waiting/input.xml'),
    hostile: hostileRecording(orchard, join(folder, `<img src=x onerror="globalThis.pwned='file'">.xml`)),
    damaged: written('damaged.xml', readFileSync(orchard).subarray(0, 20_000)),
    warned: written('warned.txt', DEEP_COPY),
    notes: written('notes.txt', 'hello'),
    axe: createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  };
}

/** Adds code to the script, which the policy allows by its hash. */
function withCode(page, code) {
  const [start, end] = ['<script>', '</script>\n</body>'].map((mark) => page.lastIndexOf(mark));
  const script = page.slice(start + '<script>'.length, end);
  const hash = (text) => createHash('sha256').update(text).digest('base64');
  return `${page.slice(0, start)}<script>${code}${script}${page.slice(end)}`.replace(hash(script), hash(code + script));
}
