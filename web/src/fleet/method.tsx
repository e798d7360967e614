// The definitions of the numbers, from the library, and the meaning of the marks on this page.

import type { JSX } from 'preact';
import { capitalized } from './measure.ts';
import { usePage } from './page_context.ts';

export function Method(): JSX.Element {
  const { words, report } = usePage();
  const percentile =
    report.options.method === 'linear'
      ? 'The straight line between the two values around the index (n − 1)·q. It may be a number that no run has.'
      : 'Of n values in ascending order, the one with rank ⌈q·n⌉: the percentile is one of them.';
  const interval =
    `Two of the values. With at least ${words.confidence} confidence, the true percentile (of all possible runs) lies between them, for any ` +
    'distribution. “?” marks an end that cannot be determined from so few runs. It is unknown, which does not mean it is far away. “n/a” means ' +
    'there are too few runs for this percentile: it would simply be the largest value. The number next to it is how many runs it needs.';
  const noise =
    'By chance, a sampling profiler sees more of a function in one run than in another. “~” marks a percentile no higher than chance alone ' +
    'would produce if all runs were the same; it is not evidence of a difference between runs.';
  const weights = 'Percentiles count a run as often as its run weight says: the smallest value whose cumulative weight reaches q times the total weight.';
  const definitions: (readonly [string, string])[] = [
    [capitalized(words.subject), `${capitalized(words.measure)}.`],
    ['Numbers', `${capitalized(words.method)}.`],
    ['Percentile', percentile],
    ...(report.options.is_weighted ? [['Weights', weights] as const] : [['Interval', interval] as const]),
    ['Noise', noise],
  ];
  return (
    <>
      <h2>Method</h2>
      <dl class="method">{definitions.map(([name, text]) => [<dt key={name}>{name}</dt>, <dd key={`${name} text`}>{text}</dd>])}</dl>
    </>
  );
}
