// What browsers lack or refuse, simulated by variants of the page.

import { deepEqual, equal, match } from 'node:assert/strict';
import { openSync, ftruncateSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { functionsOf } from '../page/asked.mjs';
import { waitFor } from '../page/tab.mjs';

const opens = (variant) => async (tab, { variants, orchard }) => {
  await tab.openWith(variants[variant], [orchard], 'v=1&tab=functions');
  deepEqual((await tab.tables()).functions, await functionsOf(orchard, []));
};

const refusesLarge = (variant) => async (tab, { variants, folder }) => {
  await tab.open(variants[variant]);
  await tab.give([sparse(folder, 300e6)]);
  match(await tab.read(), /300 MB, and this browser can read only 256 MB .*web server/);
};

export const QUIRK_CASES = {
  'reads in a worker that cannot read blobs': opens('noReaderInWorkers'),
  'reads without workers': opens('noWorkers'),
  'refuses much for a worker that cannot read blobs': refusesLarge('noReaderInWorkers'),
  'refuses much without workers': refusesLarge('noWorkers'),

  async 'reads again, without times, if the memory is not enough'(tab, { variants, orchard, damaged }) {
    await tab.open(variants.trapsOnce, 'v=1&tab=functions');
    await tab.give([orchard]);
    const again = /Reading again, without times, for lack of memory …/;
    // The bar of the first reading is the same.
    const isAgain = async () => (await tab.count('[data-part=reading]')) > 0 && again.test(await tab.text('[data-part=reading]'));
    await waitFor(isAgain, 'the second reading');
    equal(await tab.read(), null);
    deepEqual((await tab.tables()).functions, await functionsOf(orchard, []));
    await tab.give([damaged]);
    match(await tab.read(), /truncated/);
  },

  async 'refuses what is too large even without times'(tab, { variants, orchard }) {
    await tab.open(variants.trapsAlways);
    await tab.give([orchard]);
    equal(await tab.read(), 'The browser cannot read this for lack of memory; use the command.');
    equal(await tab.count('[data-part=start]'), 1);
  },

  async 'refuses a file of more than 4 GiB'(tab, { app, folder }) {
    await tab.open(app);
    await tab.give([sparse(folder, 5 * 2 ** 30)]);
    // WebKit has a lower limit for a page from a file.
    match(await tab.read(), tab.browser.name === 'webkit' ? /only 256 MB/ : /it is larger than 4GiB, which a browser cannot read; use the command/);
  },

  async 'reads by entries and plain files without handles'(tab, { app, orchard, folder }) {
    if (tab.browser.name !== 'chromium') return;
    await tab.open(app);
    await tab.browser.run(() => void delete DataTransferItem.prototype.getAsFileSystemHandle);
    await tab.drop([orchard]);
    equal(await tab.read(), null);
    await tab.open(app);
    await tab.browser.run(() => {
      delete DataTransferItem.prototype.getAsFileSystemHandle;
      delete DataTransferItem.prototype.webkitGetAsEntry;
    });
    await tab.drop([folder]);
    match(await tab.read(), /the browser cannot read it; if it is a folder, use “Choose a folder”/);
    await tab.drop([orchard]);
    equal(await tab.read(), null);
  },
};

/** A file that takes no space. */
function sparse(folder, size) {
  const path = join(folder, `${size}.xml`);
  const file = openSync(path, 'w');
  ftruncateSync(file, size);
  closeSync(file);
  return path;
}
