// Short names of recordings, from the names of their files. Paths come from the machine that wrote the page, so `\` may also be a
// separator.

/**
 * For each side: its files, with the last folder that distinguishes them from files with the same name on another side:
 * `14.3.1/time-profile.xml`.
 */
export function titlesOf(sides: readonly (readonly string[])[]): string[] {
  return sides.map((paths, side) => {
    const others = sides.flatMap((paths, other) => (other === side ? [] : paths));
    return paths.map((path) => titleOf(path, others)).join(', ');
  });
}

function titleOf(input: string, others: readonly string[]): string {
  // Sums of runs have their number before the path.
  const [, runs, path] = /^([\d,]+ runs? of |)(.*)$/s.exec(input) as unknown as [string, string, string];
  const parts = partsOf(path);
  const name = parts[0] ?? path;
  const alike = others.map(partsOf).find(([other]) => other === name);
  const place = alike === undefined ? -1 : parts.findIndex((part, at) => part !== alike[at]);
  if (place < 1) return runs + name;
  const separator = path.includes('/') ? '/' : '\\';
  // The part between is the same on both sides.
  const between = place === 1 ? [] : place === 2 ? [parts[1]!] : ['…'];
  return runs + [parts[place]!, ...between, name].join(separator);
}

/** The names on a path, the last one first. */
function partsOf(path: string): string[] {
  return path.split(/[/\\]+/).filter((part) => part !== '').reverse();
}
