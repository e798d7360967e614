// The command's output for the tested recordings, computed once for all browsers.

import { jsonOf } from '../command.mjs';

const asked = new Map();

/** Returns the command's JSON for these options. */
export async function askedJson(files, options) {
  const key = JSON.stringify([files, options]);
  if (!asked.has(key)) asked.set(key, jsonOf(files, options));
  const { json, error } = await asked.get(key);
  if (error !== undefined) throw new Error(error);
  return json;
}

/** Returns the rows of functions, in the form in which the page saves them. */
export async function functionsOf(file, options) {
  const { functions } = await askedJson([file], ['--view', 'functions', ...options]);
  return functions.map(({ self_weight, all_weight, function: name, binary }) => ({ self: Number(self_weight), all: Number(all_weight), function: name, binary: binary ?? '' }));
}
