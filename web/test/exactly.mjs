// Parses JSON with integers of any size.

import { MARK } from './canonical.mjs';

/** Parses JSON without rounding: integers above 2^53 become bigints. */
export function parseExactly(text) {
  const quoted = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, (token) =>
    /^\d{16,}$/.test(token) ? `"\\u0001big:${token}"` : token,
  );
  return JSON.parse(quoted, (_, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}
