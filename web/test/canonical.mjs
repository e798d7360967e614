// Converts rows to strings that are equal if the rows are. Engine and command may write numbers differently.

/** The prefix of a bigint's digits. */
export const MARK = '\u0001big:';

/** Returns JSON with fields sorted by name. An empty string becomes null, since the command's tables write null that way. */
export function canonical(value) {
  return JSON.stringify(sorted(value), (_, part) => {
    const isLarge = typeof part === 'bigint' || (Number.isInteger(part) && part >= 2 ** 53);
    if (!isLarge) return part;
    return part < 2n ** 53n ? Number(part) : `${MARK}${BigInt(part)}`;
  });
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value === '' ? null : value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}
