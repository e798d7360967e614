// The boxes above a box.

import type { FlameModel } from './types.ts';

/**
 * The labels on the path to a box, outermost first. Boxes precede the boxes below them, so the nearest earlier box of
 * each level is on the path.
 */
export function boxStack({ depth, label }: Pick<FlameModel, 'depth' | 'label'>, box: number): number[] {
  const found = [label[box]!];
  let level = depth[box]!;
  for (let at = box - 1; at >= 0 && level > 0; at -= 1) {
    if (depth[at] !== level - 1) continue;
    level -= 1;
    found.push(label[at]!);
  }
  return found.reverse();
}
