// Shared by views of two recordings.

import type { Normalize } from '../../host/protocol.ts';
import { type App, useApp, useStore } from '../app_context.ts';
import { functionOn } from '../../state/sides.ts';

/** The requested scaling. */
export function useScaling(): Normalize {
  const { names } = useApp();
  return useStore().normalize ?? names.sides!.facts.normalize;
}

/** Shows the callers of a function: in the second recording, or in the first if only that has it. */
export function showCallers(app: App, label: number): void {
  const { sides } = app.names;
  if (sides === undefined || label < 0) return;
  const side = functionOn(sides, label, 'compared', 'after') === null ? 'before' : 'after';
  app.showSide(side, { tab: 'callers' }, label);
}
