// Work that is done several times at once: the machine has more than one processor, and much of a test waits.

/** Does the work for each item, in their order, by so many workers; each has the number of its worker, from 0. */
export async function forEach(items, workers, work) {
  const left = [...items.entries()];
  const worker = async (number) => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next[1], next[0], number);
  };
  await Promise.all(Array.from({ length: Math.min(workers, items.length) }, (_, number) => worker(number)));
}
