// A second recording to compare with the orchard: some samples weigh more, one function is renamed, and another one has no samples.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const RENAMED = 'fruit_copy_slow';

export function writeChanged(file, path) {
  const text = readFileSync(file, 'utf8');
  let rows = 0;
  const weights = text.replace(/<weight ref="9"\/>/g, (found) => ((rows += 1) % 3 === 0 ? '<weight fmt="2.50 ms">2500000</weight>' : found));
  writeFileSync(path, weights.replace(/name="fruit_copy_fast"/g, `name="${RENAMED}"`));
  return path;
}

/** Writes the recording with another process to two folders, with the same file name. */
export function writeOfTwoProcesses(file, folder) {
  const text = readFileSync(file, 'utf8');
  const write = (version, text) => {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'time-profile.xml'), text);
    return join(folder, version, 'time-profile.xml');
  };
  return [write('14.3.1', text), write('26.4.1', text.replace(/Orchard \(4150\)/g, 'Grove (4150)').replace(/\(Orchard, pid: 4150\)/g, '(Grove, pid: 4150)'))];
}
