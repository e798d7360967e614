// Lists what was dropped or chosen: all files, including files in folders, with their paths below the drop.
//
// Browsers differ: only Chromium has `getAsFileSystemHandle`, whose folders lack files with names such as `a:b`, `a.lnk` and `a.`. Entries have them,
// but on a page from a file, Chromium cannot read the entries of `webkitGetAsEntry`.

import { type Dropped, droppedFile } from '../host/dropped.ts';
import { RefusedError } from '../host/refused.ts';

/** One more than the engine reads, which is enough for its message about too many files. */
const MOST_FILES = 200_001;

/** Files, and sentences about others that the browser cannot read. */
export interface Listing {
  readonly files: readonly Dropped[];
  readonly refused: readonly string[];
}

/** The ways in which a browser offers a dropped file or folder. */
interface Item {
  readonly handle: Promise<FileSystemHandle | null> | null;
  readonly entry: FileSystemEntry | null;
  readonly file: File | null;
}

interface HandleItem {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
}

/** Lists a drop. Call it in the event: afterwards, browsers forget what was dropped. */
export function droppedFiles({ items }: DataTransfer): Promise<Listing> {
  const dropped = [...items].filter(({ kind }) => kind === 'file').map((item): Item => {
    const handle = (item as HandleItem).getAsFileSystemHandle?.() ?? null;
    // Try the next way.
    handle?.catch(() => {});
    return { handle, entry: item.webkitGetAsEntry?.() ?? null, file: item.getAsFile() };
  });
  return listed(dropped);
}

/** Lists what an input chose; folders have paths. */
export function chosenFiles(files: FileList): Listing {
  const chosen = [...files].map((file) => droppedFile(file.webkitRelativePath === '' ? file.name : file.webkitRelativePath, file));
  // Files in one folder have different paths.
  return { files: joined(chosen.some(({ path }) => path.includes('/')) ? [chosen] : chosen.map((file) => [file])), refused: [] };
}

/** Joins the listings of several drops. */
export function joinedListings(listings: readonly Listing[]): Listing {
  return { files: joined(listings.map(({ files }) => files)), refused: listings.flatMap(({ refused }) => refused) };
}

/** Joins lists. Files and folders with a name of an earlier list get a folder with a number: `2/a.xml`. */
export function joined(lists: readonly (readonly Dropped[])[]): Dropped[] {
  const found: Dropped[] = [];
  const taken = new Set<string>();
  for (const list of lists) {
    const renamed = new Map<string, string>();
    const first = found.length;
    for (const file of list) {
      const root = rootOf(file);
      let name = renamed.get(root);
      for (let number = 1; name === undefined; number += 1) {
        const tried = number === 1 ? root : `${number}/${root}`;
        if (!taken.has(tried)) name = tried;
      }
      renamed.set(root, name);
      found.push({ ...file, path: name + file.path.slice(root.length) });
    }
    for (const { path } of found.slice(first)) taken.add(rootOf({ path })).add(path.split('/', 2).join('/'));
  }
  return found;
}

/** The dropped file or folder that a file belongs to. */
export function rootOf({ path }: Pick<Dropped, 'path'>): string {
  return path.split('/', 1)[0]!;
}

/** Throws if none of the files can be read. */
async function listed(items: readonly Item[]): Promise<Listing> {
  const listings: Listing[] = [];
  for (const item of items) listings.push(await filesOf(item));
  const { files, refused } = joinedListings(listings);
  if (files.length === 0 && refused.length > 0) throw new RefusedError(refused[0]!);
  return { files: files.slice(0, MOST_FILES), refused };
}

/** Tries the ways of reading an item. */
async function filesOf({ handle, entry, file }: Item): Promise<Listing> {
  const ways: (() => Promise<Listing>)[] = [];
  if (handle !== null) ways.push(async () => filesOfHandle((await handle)!));
  if (entry !== null) ways.push(() => filesOfEntry(entry));
  // Entries have all files.
  if (location.protocol !== 'file:') ways.reverse();
  for (const way of ways) {
    const found = await way().catch(() => null);
    if (found !== null) return found;
  }
  return file === null ? { files: [], refused: [] } : plainFile(file);
}

/** Collects files. If the dropped file itself cannot be read, there may be another way; a file in a folder is left out. */
class Collected implements Listing {
  readonly files: Dropped[] = [];
  readonly refused: string[] = [];

  async add(path: string, read: Promise<File>): Promise<void> {
    try {
      this.files.push(droppedFile(path, await read));
    } catch (error) {
      if (!path.includes('/')) throw error;
      this.refused.push(`${path}: the browser cannot read it`);
    }
  }
}

async function filesOfHandle(root: FileSystemHandle): Promise<Listing> {
  const found = new Collected();
  const visit = async (handle: FileSystemHandle, path: string): Promise<void> => {
    if (handle.kind === 'file') return found.add(path, (handle as FileSystemFileHandle).getFile());
    const children: FileSystemHandle[] = [];
    for await (const child of (handle as FolderHandle).values()) {
      children.push(child);
      if (found.files.length + children.length >= MOST_FILES) break;
    }
    await Promise.all(children.map((child) => visit(child, `${path}/${child.name}`)));
  };
  await visit(root, root.name);
  return found;
}

/** TypeScript's types do not declare that folders can be iterated. */
interface FolderHandle extends FileSystemHandle {
  values(): AsyncIterable<FileSystemHandle>;
}

async function filesOfEntry(root: FileSystemEntry): Promise<Listing> {
  const found = new Collected();
  const visit = async (entry: FileSystemEntry, path: string): Promise<void> => {
    if (entry.isFile) return found.add(path, new Promise((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)));
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    const next = (): Promise<FileSystemEntry[]> => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    // Each call returns only a part of the folder.
    for (let children = await next(); children.length > 0 && found.files.length < MOST_FILES; children = await next()) {
      await Promise.all(children.map((child) => visit(child, `${path}/${child.name}`)));
    }
  };
  await visit(root, root.name);
  return found;
}

/** A file; a folder looks like a file whose content cannot be read. */
async function plainFile(file: File): Promise<Listing> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    return { files: [], refused: [`${file.name}: the browser cannot read it; if it is a folder, use “Choose a folder”, or compress it and choose the zip`] };
  }
  return { files: [droppedFile(file.name, file)], refused: [] };
}
