// Errors with a message for users.

/** A payload that is not what the page expects. */
export class PayloadError extends Error {
  override name = 'PayloadError';
}

/** A request that has no answer, such as a regular expression which the command reads in another way. */
export class RefusedError extends Error {
  override name = 'RefusedError';
}
