/** A request without an answer, such as an invalid regular expression. The message is a sentence for users. */
export class RefusedError extends Error {
  override name = 'RefusedError';
}
