// Keys by the names that Playwright and Puppeteer share: `Control+Shift+z`, `ArrowDown`, `?`.

/** Splits keys into the last one and the held ones. */
export function splitKeys(keys) {
  const held = [];
  let rest = keys;
  for (let found = HELD.exec(rest); found !== null; found = HELD.exec(rest)) {
    held.push(found[1]);
    rest = rest.slice(found[0].length);
  }
  return { held, key: rest };
}

const HELD = /^(Control|Shift|Alt|Meta)\+/;
