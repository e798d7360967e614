// Matches the functions of two recordings by the command's rules: by binary and name; without a name, by the UUID of the binary and the
// offset from its load address, or by the address.

import { NO_STACK } from '../order.ts';
import { IS_NAMED, type Profile, binaryName, functionName } from '../profile.ts';
import { compareTexts } from '../text.ts';

/** A function of either recording, or samples without stack. */
export interface MatchedFunction {
  /** The name, or `BINARY+0xOFFSET` without a name; null for samples without a stack. */
  readonly name: string | null;
  readonly binary: string | null;
  /** How it was matched; for `offset`, the UUID and the offset distinguish functions with the same name. */
  readonly key: 'named' | 'offset' | 'address' | 'no-stack';
  readonly uuid: string;
  readonly offset: bigint;
  /** A matching function in each recording; -1 if there is none, and for samples without a stack. */
  readonly before: number;
  readonly after: number;
}

/** The number of samples without stack. */
export const STACKLESS = 0;

/** The functions of both recordings, each once. */
export class Matching {
  readonly functions: readonly MatchedFunction[];
  /** The binary of each function. */
  readonly binaryOf: Int32Array;
  /** Names of binaries; null is code in no known binary. The first one is for samples without a stack. */
  readonly binaries: readonly (string | null)[];
  readonly #ofSide: readonly [Int32Array, Int32Array];
  #order: Int32Array | null = null;

  constructor(before: Profile, after: Profile) {
    const found: MatchedFunction[] = [noStack];
    const numberOf = new Map<string, number>();
    const numbered = (profile: Profile, side: 'before' | 'after'): Int32Array =>
      Int32Array.from({ length: profile.functions.count }, (_, id) => {
        const row = keyed(profile, id);
        const key = JSON.stringify([row.name, row.binary, row.key, row.uuid, String(row.offset)]);
        const number = numberOf.get(key) ?? found.length;
        numberOf.set(key, number);
        const known = found[number] ?? row;
        found[number] = known[side] < 0 ? { ...known, [side]: id } : known;
        return number;
      });
    this.#ofSide = [numbered(before, 'before'), numbered(after, 'after')];
    this.functions = found;
    const binaries: (string | null)[] = [null];
    const places = new Map<string | null, number>();
    this.binaryOf = Int32Array.from(found, ({ key, binary }) => {
      if (key === 'no-stack') return 0;
      const place = places.get(binary) ?? binaries.push(binary) - 1;
      places.set(binary, place);
      return place;
    });
    this.binaries = binaries;
  }

  /** The number of a label in a side's tree: a function, or samples without a stack. */
  number(side: 0 | 1, label: number): number {
    return label === NO_STACK ? STACKLESS : this.#ofSide[side][label]!;
  }

  /** By number: the place of a function among all, by name, then binary, then what it was matched by. */
  get order(): Int32Array {
    this.#order ??= placesOf(this.functions);
    return this.#order;
  }
}

const noStack: MatchedFunction = { name: null, binary: null, key: 'no-stack', uuid: '', offset: 0n, before: -1, after: -1 };
const KEYS = ['named', 'offset', 'address', 'no-stack'];
const NIL = '00000000-0000-0000-0000-000000000000';

function keyed(profile: Profile, id: number): MatchedFunction {
  const [name, binary] = [functionName(profile, id), binaryName(profile, id)];
  const row = { name, binary, uuid: '', offset: 0n, before: -1, after: -1 };
  if ((profile.functions.flags[id]! & IS_NAMED) !== 0) return { ...row, key: 'named' };
  const at = profile.functions.binary[id]!;
  const { uuid, load_address } = profile.binaries[at] ?? { uuid: null, load_address: '0x0' };
  const address = /^0x[0-9a-fA-F]+$/.test(name) ? BigInt(name) : null;
  const offset = address === null ? -1n : address - BigInt(load_address);
  if (uuid === null || uuid === NIL || offset < 0n) return { ...row, key: 'address' };
  // Where a library was loaded differs from start to start: the offset is what both have in common.
  return { ...row, name: `${binary ?? ''}+0x${offset.toString(16)}`, key: 'offset', uuid, offset };
}

function placesOf(functions: readonly MatchedFunction[]): Int32Array {
  const order = functions.map((_, number) => number);
  order.sort((a, b) => compareFunctions(functions[a]!, functions[b]!));
  const places = new Int32Array(order.length);
  order.forEach((number, place) => {
    places[number] = place;
  });
  return places;
}

function compareFunctions(a: MatchedFunction, b: MatchedFunction): number {
  const byName = compareTexts(a.name ?? '', b.name ?? '') || compareNullable(a.binary, b.binary);
  const byKey = byName || KEYS.indexOf(a.key) - KEYS.indexOf(b.key) || compareTexts(a.uuid, b.uuid);
  return byKey || (a.offset < b.offset ? -1 : Number(a.offset > b.offset));
}

/** Orders texts; null comes first. */
export function compareNullable(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareTexts(a, b);
}
