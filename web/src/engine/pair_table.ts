// Distinct pairs of numbers, numbered in the order of insertion.

const LEAST = 1 << 12;

/** A hash table with open addressing; it is at most half full. */
export class PairTable {
  #first: Int32Array;
  #second: Int32Array;
  /** Places of pairs, one higher; 0 is free. */
  #slots: Int32Array;
  count = 0;

  /** A table with space for about this many pairs. */
  constructor(expected = 0) {
    const room = Math.max(LEAST, 2 ** Math.ceil(Math.log2(expected + 1)));
    this.#first = new Int32Array(room);
    this.#second = new Int32Array(room);
    this.#slots = new Int32Array(2 * room);
  }

  /** The number of a pair, new where it was not there. */
  add(first: number, second: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash(first, second) & mask;
    for (let place = this.#slots[slot]!; place !== 0; place = this.#slots[slot]!) {
      if (this.#first[place - 1] === first && this.#second[place - 1] === second) return place - 1;
      slot = (slot + 1) & mask;
    }
    return this.#insert(slot, first, second);
  }

  /** The pairs in their order. */
  finish(): { count: number; first: Int32Array; second: Int32Array } {
    return { count: this.count, first: this.#first.slice(0, this.count), second: this.#second.slice(0, this.count) };
  }

  first(id: number): number {
    return this.#first[id]!;
  }

  second(id: number): number {
    return this.#second[id]!;
  }

  #insert(slot: number, first: number, second: number): number {
    const id = this.count++;
    this.#slots[slot] = id + 1;
    this.#first[id] = first;
    this.#second[id] = second;
    if (this.count === this.#first.length) this.#grow();
    return id;
  }

  #grow(): void {
    const room = 2 * this.count;
    const copy = (numbers: Int32Array): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(room);
      larger.set(numbers);
      return larger;
    };
    this.#first = copy(this.#first);
    this.#second = copy(this.#second);
    this.#slots = new Int32Array(2 * room);
    const mask = this.#slots.length - 1;
    for (let id = 0; id < this.count; id += 1) {
      let slot = hash(this.#first[id]!, this.#second[id]!) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = id + 1;
    }
  }
}

function hash(first: number, second: number): number {
  let mixed = Math.imul(first, 0x9e37_79b1) ^ Math.imul(second + 0x7f4a_7c15, 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b_3c6d);
  return mixed ^ (mixed >>> 13);
}
