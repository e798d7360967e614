// Errors with a message for users.

import { RefusedError } from '../host/refused.ts';

export { RefusedError };

/** A payload that is not what the page expects. */
export class PayloadError extends RefusedError {
  override name = 'PayloadError';
}
