/** Returns a regular expression, for the command and for JavaScript, that matches exactly this string. */
export function escaped(text) {
  return text.replace(/[\\.*+?()|[\]{}^$]/gu, '\\$&');
}
