// Makes strings from recordings inert: they cannot reverse text or hide anything. The rules are the same as in `src/output/inert.rs`.

/**
 * Controls, line separators, direction marks and overrides, tags, and other ignorable characters in Unicode, except
 * joiners and selectors.
 */
const ACTS =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]/u;
const ALL = new RegExp(ACTS, 'gu');
const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text with visible escapes, such as `\u{202e}`, for every character that is invisible or affects the text around it. */
export function inert(text: string): string {
  if (!ACTS.test(text)) return text;
  return text.replace(ALL, (found) => SHORT[found] ?? `\\u{${found.codePointAt(0)!.toString(16)}}`);
}
