// Columns of numbers, as `src/output/workbench/columns.rs` writes them.

import { PayloadError } from './error.ts';

/** A column as the head lists it. */
export interface ColumnHead {
  readonly name: string;
  readonly rows: number;
  readonly encoding: 'constant' | 'varint' | 'delta';
  readonly value?: number | string;
}

const LIMIT = 2 ** 53;

/** Bytes that are read from front to back. */
export class ByteReader {
  readonly bytes: Uint8Array;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  take(length: number): Uint8Array {
    const end = this.offset + length;
    if (end > this.bytes.length) throw new PayloadError('the payload ends too early');
    const taken = this.bytes.subarray(this.offset, end);
    this.offset = end;
    return taken;
  }

  /** A number in LEB128, or -1 if it is 2^53 or more; `skipped` then contains it. */
  varint(): number {
    const bytes = this.bytes;
    let byte = bytes[this.offset++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    byte = bytes[this.offset++]!;
    value |= (byte & 127) << 7;
    if (byte < 128) return value;
    byte = bytes[this.offset++]!;
    value |= (byte & 127) << 14;
    if (byte < 128) return value;
    byte = bytes[this.offset++]!;
    value |= (byte & 127) << 21;
    if (byte < 128) return value;
    return this.#rest(value);
  }

  #rest(start: number): number {
    let [value, factor] = [start, 2 ** 28];
    for (let byte = 128; byte >= 128; factor *= 128) {
      byte = this.#byte();
      value += (byte & 127) * factor;
    }
    return value < LIMIT ? value : -1;
  }

  /** Any number in LEB128 of at most 64 bits. */
  bigVarint(): bigint {
    let [value, shift] = [0n, 0n];
    for (let byte = 128; byte >= 128; shift += 7n) {
      byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
    }
    return value;
  }

  #byte(): number {
    const byte = this.bytes[this.offset++];
    if (byte === undefined) throw new PayloadError('the payload ends too early');
    return byte;
  }
}

/** The values of a column as doubles where each of them is exact, else as 64-bit integers. */
export function readNumbers(reader: ByteReader, column: ColumnHead): Float64Array | BigUint64Array {
  if (column.encoding === 'constant') {
    const value = BigInt(column.value ?? 0);
    if (value < LIMIT) return new Float64Array(column.rows).fill(Number(value));
    return new BigUint64Array(column.rows).fill(value);
  }
  const start = reader.offset;
  const numbers = new Float64Array(column.rows);
  if (column.encoding === 'varint' ? readPlain(reader, numbers) : readDeltas(reader, numbers)) return numbers;
  reader.offset = start;
  return readWide(reader, column);
}

/** The values of a column below 2^32, minus `base`: with 1, 0 becomes -1, which means none. */
export function readIndices(reader: ByteReader, column: ColumnHead, base: 0 | 1): Int32Array {
  const indices = new Int32Array(column.rows);
  if (column.encoding === 'constant') return indices.fill(Number(column.value ?? 0) - base);
  const isDelta = column.encoding === 'delta';
  let before = 0;
  for (let row = 0; row < indices.length; row += 1) {
    const number = reader.varint();
    const value = isDelta ? before + (number % 2 === 0 ? number / 2 : -(number + 1) / 2) : number;
    if (!(number >= 0 && value >= 0 && value <= 0x7fff_ffff)) throw new PayloadError(`${column.name} has a number that is not an index`);
    indices[row] = value - base;
    before = value;
  }
  return indices;
}

function readPlain(reader: ByteReader, numbers: Float64Array): boolean {
  for (let row = 0; row < numbers.length; row += 1) {
    const value = reader.varint();
    if (!(value >= 0)) return false;
    numbers[row] = value;
  }
  return true;
}

function readDeltas(reader: ByteReader, numbers: Float64Array): boolean {
  let value = 0;
  for (let row = 0; row < numbers.length; row += 1) {
    const number = reader.varint();
    value += number % 2 === 0 ? number / 2 : -(number + 1) / 2;
    if (!(number >= 0 && value >= 0 && value < LIMIT)) return false;
    numbers[row] = value;
  }
  return true;
}

function readWide(reader: ByteReader, column: ColumnHead): BigUint64Array {
  const numbers = new BigUint64Array(column.rows);
  let before = 0n;
  for (let row = 0; row < numbers.length; row += 1) {
    let value = reader.bigVarint();
    if (column.encoding === 'delta') {
      const difference = (value >> 1n) ^ -(value & 1n);
      value = BigInt.asUintN(64, before + difference);
    }
    numbers[row] = value;
    before = value;
  }
  return numbers;
}
