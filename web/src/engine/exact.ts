// Sums of 64-bit numbers, exact.
//
// Doubles are exact below 2^53. A payload contains the sum of all its weights; if that is less, no partial sum is rounded, and a number is
// one double: one *plane*. Otherwise a number consists of three planes of 22 bits each, from the lowest on, and 2^31 rows can be added in
// each plane without rounding. Views add plane by plane, so they do not depend on this.

/** A sum: a number if all are below 2^53, else a bigint. Both can be compared with `<`. */
export type Exact = number | bigint;

/** The number of planes of weights, and of numbers of samples. */
export interface Shape {
  readonly weight: 1 | 3;
  readonly count: 1 | 3;
}

const LIMIT = 1n << 53n;
const BITS = 22n;
const MASK = (1n << BITS) - 1n;

/** The planes that numbers with this sum need. */
export function planesFor(total: bigint): 1 | 3 {
  return total < LIMIT ? 1 : 3;
}

/** Splits the values of a column into planes. */
export function planesOf(values: Float64Array | BigUint64Array, count: 1 | 3): Float64Array[] {
  if (count === 1 && values instanceof Float64Array) return [values];
  const planes = [0, 1, 2].map(() => new Float64Array(values.length));
  for (let row = 0; row < values.length; row += 1) {
    const value = BigInt(values[row]!);
    for (let plane = 0; plane < 3; plane += 1) {
      planes[plane]![row] = Number((value >> (BITS * BigInt(plane))) & MASK);
    }
  }
  return planes;
}

/** Weights and numbers of samples, by index. */
export class Sums {
  readonly shape: Shape;
  readonly planes: readonly Float64Array[];

  constructor(shape: Shape, size: number, planes?: readonly Float64Array[]) {
    this.shape = shape;
    this.planes = planes ?? Array.from({ length: shape.weight + shape.count }, () => new Float64Array(size));
  }

  get size(): number {
    return this.planes[0]!.length;
  }

  /** The weight at an index. */
  weight(index: number): Exact {
    return join(this.planes, 0, this.shape.weight, index);
  }

  /** The number of samples at an index. */
  samples(index: number): Exact {
    return join(this.planes, this.shape.weight, this.shape.count, index);
  }

  /** True if any sample was counted at an index, regardless of its weight. */
  isCounted(index: number): boolean {
    const { weight, count } = this.shape;
    for (let plane = weight; plane < weight + count; plane += 1) {
      if (this.planes[plane]![index] !== 0) return true;
    }
    return false;
  }

  /** Adds what another one has at an index. */
  add(index: number, other: Sums, from: number): void {
    for (let plane = 0; plane < this.planes.length; plane += 1) {
      this.planes[plane]![index]! += other.planes[plane]![from]!;
    }
  }
}

/**
 * Adds to each target what a source has: `to[target[i]] += from[source[i]]`, where a target is not negative. Without `source` it is the
 * index itself. Most sums have two planes, which are added up at once.
 */
export function scatter(from: Sums, to: Sums, source: Int32Array | null, target: Int32Array): void {
  if (from.planes.length !== 2) {
    from.planes.forEach((_, plane) => scatterPlane(from.planes[plane]!, to.planes[plane]!, source, target));
    return;
  }
  const [weight, count] = from.planes as [Float64Array, Float64Array];
  const [weights, counts] = to.planes as [Float64Array, Float64Array];
  for (let index = 0; index < target.length; index += 1) {
    const place = target[index]!;
    if (place < 0) continue;
    const at = source === null ? index : source[index]!;
    weights[place]! += weight[at]!;
    counts[place]! += count[at]!;
  }
}

/** Adds rows to their targets, which have nothing yet: `to[target[row]] += from[row]`. */
export function scatterRows(from: Sums, to: Sums, rows: Int32Array, target: Int32Array): void {
  if (from.planes.length === 2) {
    const [weight, count] = from.planes as [Float64Array, Float64Array];
    // Both sums of a target side by side, so that memory is waited for once.
    const pairs = new Float64Array(2 * to.size);
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at]!;
      const place = 2 * target[row]!;
      pairs[place]! += weight[row]!;
      pairs[place + 1]! += count[row]!;
    }
    split(pairs, to.planes as [Float64Array, Float64Array]);
    return;
  }
  from.planes.forEach((values, plane) => {
    const sums = to.planes[plane]!;
    for (let at = 0; at < rows.length; at += 1) sums[target[rows[at]!]!]! += values[rows[at]!]!;
  });
}

/** Adds rows to their targets, or takes them away again. Planes hold integers below 2^53, so nothing is left of what was taken away. */
export function changeByRows(to: Sums, from: Sums, rows: Int32Array, target: Int32Array, sign: 1 | -1): void {
  from.planes.forEach((values, plane) => {
    const sums = to.planes[plane]!;
    for (let at = 0; at < rows.length; at += 1) sums[target[rows[at]!]!]! += sign * values[rows[at]!]!;
  });
}

/** Pairs as two planes. */
export function split(pairs: Float64Array, [first, second]: readonly [Float64Array, Float64Array]): void {
  for (let index = 0; index < first.length; index += 1) {
    first[index] = pairs[2 * index]!;
    second[index] = pairs[2 * index + 1]!;
  }
}

function scatterPlane(from: Float64Array, to: Float64Array, source: Int32Array | null, target: Int32Array): void {
  for (let index = 0; index < target.length; index += 1) {
    const place = target[index]!;
    if (place >= 0) to[place]! += from[source === null ? index : source[index]!]!;
  }
}

function join(planes: readonly Float64Array[], first: number, count: 1 | 3, index: number): Exact {
  if (count === 1) return planes[first]![index]!;
  let value = 0n;
  for (let plane = count - 1; plane >= 0; plane -= 1) value = (value << BITS) + BigInt(planes[first + plane]![index]!);
  return value;
}

/** Orders sums from the smallest on. */
export function compareExact(a: Exact, b: Exact): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
