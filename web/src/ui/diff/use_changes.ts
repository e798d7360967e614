// Shared by views of two recordings.

import type { Normalize } from '../../host/protocol.ts';
import { useApp, useStore } from '../app_context.ts';

/** The requested scaling. */
export function useScaling(): Normalize {
  const { names } = useApp();
  return useStore().normalize ?? names.sides!.facts.normalize;
}
