// A recording with the names of people, other programs and places, and the names that `--redact` removes from its page.

import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { load, openPage, textOf } from '../command.mjs';

/** The planted names. None of them may appear anywhere. */
export const PLANTED = ['kowalczyk', 'geheimnis', 'Zaubertrank', 'bericht'];

/** Writes the recording. The file name also contains a planted name. */
export function writeSecret(file, folder) {
  const path = `${folder}/kowalczyk-bericht.xml`;
  const process = '<process id="900001" fmt="Zaubertrank (77)"><pid id="900002" fmt="77">77</pid></process>';
  const text = readFileSync(file, 'utf8')
    .replaceAll('/Users/dev/Orchard/Build/Orchard.app/Contents/Frameworks/libfruit.dylib', '/Users/kowalczyk/geheimnis/Orchard.app/Contents/Frameworks/libfruit.dylib')
    .replaceAll('name="fruit_copy_fast"', 'name="fruit_copy_fast (/Users/kowalczyk/geheimnis/copy.c:12)"')
    .replaceAll('name="orchard::checksum(', 'name="kowalczyk::checksum(')
    .replace('press worker #2 (pool) (0x2a118) (Orchard, pid: 4150)', 'worker of kowalczyk (0x2a118) (Zaubertrank, pid: 77)')
    .replace(/(<tid id="27" [^>]*>\d+<\/tid>)<process ref="4"\/>/, (_, tid) => `${tid}${process}`);
  writeFileSync(path, text);
  return path;
}

/** Returns the payload of a page as a string, which anyone can extract with a short script. */
export function inflated(page, id = 'profile') {
  return gunzipSync(Buffer.from(textOf(page, id), 'base64')).toString('utf8');
}

/** Returns the names in a page that do not appear in the redacted page, not even as a part of other names. */
export async function removedNames(page, redacted) {
  const left = inflated(redacted);
  const removed = [...(await namesIn(page))].filter((name) => name.length > 3 && !left.includes(name));
  return [...removed, ...PLANTED];
}

async function namesIn(page) {
  const { tables } = (await openPage(page)).opened;
  const { Texts } = await load('state/texts.ts');
  const texts = new Texts(tables);
  const functions = Array.from(tables.functions.name, (name) => texts.at(name));
  const named = [...tables.processes, ...tables.threads, ...tables.binaries].map(({ name }) => name);
  const intervals = [...(tables.interval_labels ?? []), ...(tables.interval_owners ?? [])].flatMap(({ name, subsystem, process }) => [name, subsystem, process]).filter((name) => name != null);
  return new Set([...functions, ...named, ...intervals, ...tables.binaries.map(({ path }) => path), ...tables.runs.map(({ input }) => input)]);
}
