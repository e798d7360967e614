// What the command says of the recordings whose pages are tried, asked once for all browsers.

import { jsonOf } from '../command.mjs';

const asked = new Map();

/** The JSON of the command with options. */
export async function askedJson(files, options) {
  const key = JSON.stringify([files, options]);
  if (!asked.has(key)) asked.set(key, jsonOf(files, options));
  const { json, error } = await asked.get(key);
  if (error !== undefined) throw new Error(error);
  return json;
}

/** The rows of functions, as the page saves them. */
export async function functionsOf(file, options) {
  const { functions } = await askedJson([file], ['--view', 'functions', ...options]);
  return functions.map(({ self_weight, all_weight, function: name, binary }) => ({ self: Number(self_weight), all: Number(all_weight), function: name, binary: binary ?? '' }));
}
