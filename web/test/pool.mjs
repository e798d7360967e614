// Runs work in parallel: the machine has several processors, and tests spend much time waiting.

/** Processes each item in order, with this many workers. Each call gets the number of its worker, from 0. */
export async function forEach(items, workers, work) {
  const left = [...items.entries()];
  const worker = async (number) => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next[1], next[0], number);
  };
  await Promise.all(Array.from({ length: Math.min(workers, items.length) }, (_, number) => worker(number)));
}
