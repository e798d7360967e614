/** A performance counter: its name, if it is known, or its number. */
export function counterName(number: number, name: string | null): string {
  return name === null ? `counter ${number}` : `counter ${number}, ${name}`;
}
