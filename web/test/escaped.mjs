/** A regular expression, of the command and of JavaScript, that matches just that text. */
export function escaped(text) {
  return text.replace(/[\\.*+?()|[\]{}^$]/gu, '\\$&');
}
