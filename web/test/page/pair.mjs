// A second recording to compare the orchard with: some samples weigh more, one function has another name, and one has none of its samples.

import { readFileSync, writeFileSync } from 'node:fs';

export const RENAMED = 'fruit_copy_slow';

export function writeChanged(file, path) {
  const text = readFileSync(file, 'utf8');
  let rows = 0;
  const weights = text.replace(/<weight ref="9"\/>/g, (found) => ((rows += 1) % 3 === 0 ? '<weight fmt="2.50 ms">2500000</weight>' : found));
  writeFileSync(path, weights.replace(/name="fruit_copy_fast"/g, `name="${RENAMED}"`));
  return path;
}
