#!/usr/bin/env python3
"""Reads the symbols of a dyld shared cache after the documented structures (dyld_cache_format.h, mach-o/loader.h, mach-o/nlist.h).

dyld_cache.py CACHE prints what the symbol tables, the exports and the local symbols define, in the columns of nm: image, UUID of the image,
address of its Mach-O header, address, kind (T: in a section with instructions; S: elsewhere; lower case: local), name as in the file.
dyld_cache.py CACHE EXPECTED.tsv checks that each row of the table is among them.
"""

import struct
import sys
import uuid


class File:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if not self.data.startswith(b"dyld_v1"):
            sys.exit(f"{path}: not a part of a cache")
        self.size, count = self.at("<II", 0x10)
        self.mappings = [self.at("<QQQ", self.size + 32 * index) for index in range(count)]

    def at(self, form, offset):
        return struct.unpack_from(form, self.data, offset)

    def field(self, form, offset, absent):
        return self.at(form, offset) if offset + struct.calcsize(form) <= self.size else absent

    def text(self, offset):
        return self.data[offset : self.data.index(b"\0", offset)].decode()

    def uuid(self, offset=0x58):
        return self.data[offset : offset + 16]


class Cache:
    def __init__(self, path):
        self.main = File(path)
        self.files = [self.main]
        start, count = self.main.field("<II", 0x188, (0, 0))
        is_first_version = self.main.size <= 0x1C8
        for index in range(count):
            at = start + index * (24 if is_first_version else 56)
            suffix = f".{index + 1}" if is_first_version else self.main.text(at + 24)
            self.files.append(File(path + suffix))
            assert self.files[-1].uuid() == self.main.uuid(at), suffix
        self.locals = self.main
        if self.main.size >= 0x1A0 and any(self.main.uuid(0x190)):
            self.locals = File(path + ".symbols")
            assert self.locals.uuid() == self.main.uuid(0x190), ".symbols"
        self.base = self.main.mappings[0][0]

    def place(self, address):
        for file in self.files:
            for start, size, offset in file.mappings:
                if start <= address < start + size:
                    return file, offset + address - start
        sys.exit(f"no file contains {address:#x}")

    def images(self):
        start, count = self.main.at("<II", 0x18)
        start, count = self.main.field("<II", 0x1C0, (start, count))
        for index in range(count):
            address, _, _, path, _ = self.main.at("<QQQII", start + 32 * index)
            yield Image(self, address, self.main.text(path))

    def local_symbols(self, image):
        start, size = self.locals.field("<QQ", 0x48, (0, 0))
        if not size:
            return
        symbols, _, names, _, entries, count = self.locals.at("<6I", start)
        is_wide = self.main.size >= 0x190
        form, key = ("<QII", image.address - self.base) if is_wide else ("<III", image.offset)
        for index in range(count):
            own, first, number = self.locals.at(form, start + entries + index * struct.calcsize(form))
            if own == key:
                at = start + symbols + first * struct.calcsize(image.nlist)
                yield from image.symbols(self.locals, at, number, start + names, is_local=True)


class Image:
    def __init__(self, cache, address, path):
        self.cache, self.address, self.path = cache, address, path
        self.file, self.offset = cache.place(address)
        magic, *_, count, _, _ = self.file.at("<7I", self.offset)
        is_wide = magic == 0xFEEDFACF
        self.nlist = "<IBBHQ" if is_wide else "<IBBHI"
        self.sections, self.symtab, self.exports, self.uuid = [], None, None, None
        at = self.offset + (32 if is_wide else 28)
        for _ in range(count):
            command, size = self.file.at("<II", at)
            if command in (0x19, 1):
                self.segment(at, is_wide)
            elif command == 2:
                self.symtab = self.file.at("<4I", at + 8)
            elif command == 0x1B:
                self.uuid = uuid.UUID(bytes=self.file.uuid(at + 8))
            elif command == 0x80000033:
                self.exports = self.file.at("<II", at + 8)
            elif command in (0x22, 0x80000022):
                self.exports = self.file.at("<II", at + 40)
            at += size

    def segment(self, at, is_wide):
        name = self.file.data[at + 8 : at + 24].rstrip(b"\0")
        address, _, offset, _ = self.file.at("<4Q" if is_wide else "<4I", at + 24)
        (count,) = self.file.at("<I", at + (64 if is_wide else 48))
        first, size = (72, 80) if is_wide else (56, 68)
        for index in range(count):
            section = at + first + index * size
            start, length = self.file.at("<QQ" if is_wide else "<II", section + 32)
            (flags,) = self.file.at("<I", section + (64 if is_wide else 56))
            self.sections.append((start, start + length, flags & 0x80000400 != 0))
        if name == b"__LINKEDIT":
            self.linkedit, place = self.cache.place(address)
            assert place == offset, self.path

    def kind(self, address, section=None):
        inside = [one for one in self.sections if one[0] <= address < one[1]] if section is None else [self.sections[section]]
        return "T" if any(is_code for _, _, is_code in inside) else "S"

    def symbols(self, file, at, count, names, is_local=False):
        for index in range(count):
            name, kind, section, _, address = file.at(self.nlist, at + index * struct.calcsize(self.nlist))
            if kind & 0xE0 == 0 and kind & 0xE == 0xE:
                letter = self.kind(address, section - 1)
                text = file.text(names + name)
                if text != "<redacted>":
                    yield address, letter.lower() if is_local or kind & 1 == 0 else letter, text

    def exported(self):
        if not self.exports or not self.exports[1]:
            return
        trie = self.linkedit.data[self.exports[0] : sum(self.exports)]

        def number(at):
            value = shift = 0
            while True:
                value |= (trie[at] & 0x7F) << shift
                shift, at = shift + 7, at + 1
                if trie[at - 1] < 0x80:
                    return value, at

        todo = [(0, b"")]
        while todo:
            at, name = todo.pop()
            size, at = number(at)
            if size:
                flags, place = number(at)
                if flags & 8 == 0 and flags & 3 == 0:
                    address = self.address + number(place)[0]
                    yield address, self.kind(address), name.decode()
            at += size
            edges, at = trie[at], at + 1
            for _ in range(edges):
                end = trie.index(b"\0", at)
                child, after = number(end + 1)
                todo.append((child, name + trie[at:end]))
                at = after

    def all(self):
        symbols, count, names, _ = self.symtab
        found = list(self.symbols(self.linkedit, symbols, count, names))
        found += self.exported()
        found += self.cache.local_symbols(self)
        return sorted(set(found))


def main():
    cache = Cache(sys.argv[1])
    rows = []
    for image in cache.images():
        head = (image.path, str(image.uuid).upper(), f"{image.address:#018x}")
        rows += [(*head, f"{address:#018x}", kind, name) for address, kind, name in image.all()]
    if len(sys.argv) == 2:
        print("\n".join("\t".join(row) for row in rows))
        return
    # Apart from code, kinds depend on the section.
    kinds = lambda kind: kind if kind in "Tt" else kind.isupper()
    found = {(row[0], row[3], kinds(row[4]), row[5]) for row in rows}
    with open(sys.argv[2]) as expected:
        wanted = [line.rstrip("\n").split("\t") for line in expected][1:]
    missing = [row for row in wanted if (row[0], row[1], kinds(row[2]), row[3]) not in found]
    for row in missing[:10]:
        print("missing:", *row)
    print(f"{len(wanted)} rows, {len(missing)} missing; {len(rows)} symbols")
    sys.exit(1 if missing else 0)


main()
