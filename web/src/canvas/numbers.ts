// Arrays that are reused in every frame, so that drawing does not produce garbage.

/** Rectangles: for each its x, y, width and height. */
export class Numbers {
  values = new Float32Array(1 << 10);
  count = 0;

  /** Adds a column, joined with its neighbour if possible. */
  pushColumn(x: number, y: number, width: number, height: number): void {
    const { values, count } = this;
    const isJoined = count > 0 && values[count - 3] === y && values[count - 1] === height && values[count - 4]! + values[count - 2]! === x;
    if (isJoined) values[count - 2]! += width;
    else this.push(x, y, width, height);
  }

  push(x: number, y: number, width: number, height: number): void {
    if (this.count + 4 > this.values.length) {
      const larger = new Float32Array(2 * this.values.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.count] = x;
    this.values[this.count + 1] = y;
    this.values[this.count + 2] = width;
    this.values[this.count + 3] = height;
    this.count += 4;
  }
}
