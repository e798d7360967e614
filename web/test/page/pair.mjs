// A second recording to compare with the orchard: some samples weigh more, one function is renamed, and another one has no samples.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const RENAMED = 'fruit_copy_slow';

/** Returns the recording with one of so many samples heavier. */
function heavier(file, every) {
  let rows = 0;
  return readFileSync(file, 'utf8').replace(/<weight ref="9"\/>/g, (found) => ((rows += 1) % every === 0 ? '<weight fmt="2.50 ms">2500000</weight>' : found));
}

/** Writes six runs of a version to a folder: the fewer samples are heavier, the less CPU time they take. */
export function writeRuns(file, folder, every) {
  mkdirSync(folder);
  for (let run = 0; run < 6; run += 1) writeFileSync(join(folder, `run #${run}.xml`), heavier(file, every + run));
  return folder;
}

export function writeChanged(file, path) {
  writeFileSync(path, heavier(file, 3).replace(/name="fruit_copy_fast"/g, `name="${RENAMED}"`));
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
