// Rows as texts that are equal where the rows are: of the engine and of the command, whichever way they write numbers.

/** In front of the digits of a bigint. */
export const MARK = '\u0001big:';

/** JSON whose fields stand in the order of their names. An empty text is nothing: tables of the command write it so. */
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
