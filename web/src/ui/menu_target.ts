// The target of a menu.

import type { TreePlace } from '../host/protocol.ts';

export interface MenuTarget {
  /** The function; null or negative if there is none. */
  readonly label: number | null;
  /** The stack that contains it, outermost first. */
  readonly stack?: (() => readonly number[]) | undefined;
  /** The tree in which this stack is a place. */
  readonly tree?: TreePlace['direction'] | undefined;
  /** The row, and the complete table, as TSV. */
  readonly row?: (() => string) | undefined;
  readonly table?: (() => string) | undefined;
  /** A thread or process in place of a function. */
  readonly thread?: number | undefined;
  readonly process?: number | undefined;
  readonly binary?: string | undefined;
  readonly expand?: (() => void) | undefined;
}
