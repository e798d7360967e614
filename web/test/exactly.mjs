/** Parses JSON without rounding. Integers that no double holds become strings, as in the files that the page saves. */
export function parseExactly(text) {
  const isLarge = (token) => /^\d{16,}$/.test(token) && BigInt(token) > Number.MAX_SAFE_INTEGER;
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, (token) => (isLarge(token) ? `"${token}"` : token)));
}
