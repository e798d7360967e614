// Addresses of files.

import { pathToFileURL } from 'node:url';

let opened = 0;

/** Returns the address of a file with a new query, since browsers only scroll if nothing but the fragment differs from the open page. */
export function addressOf(path, fragment = '') {
  const address = pathToFileURL(path);
  address.search = `${(opened += 1)}`;
  address.hash = fragment;
  return address.href;
}
