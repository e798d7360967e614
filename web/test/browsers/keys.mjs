// Keys by the names that Playwright and Puppeteer share: `Control+Shift+z`, `ArrowDown`, `?`.

/** The last key, and those that are held. */
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
