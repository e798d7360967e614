// How a run was recorded, in short.

import type { Tables } from '../host/protocol.ts';
import { timeText } from './format.ts';

/** `iPhone15,3 · iOS 18.2 · 2026-03-04 10:12 · 74.2 s recorded`; empty if nothing is known. */
export function recordedText({ device, start_date, duration_ns }: Tables['runs'][number]): string {
  // Without the build, which the title has.
  const system = [device?.platform, device?.os_version?.replace(/ \([^()]*\)$/, '')].filter((part) => part !== undefined).join(' ');
  // The time where it was recorded, without seconds and zone.
  const date = start_date?.slice(0, 16).replace('T', ' ');
  const length = duration_ns === undefined ? undefined : `${timeText(Number(duration_ns))} recorded`;
  return [device?.model, system, date, length].filter((part) => part !== undefined && part !== '').join(' · ');
}
