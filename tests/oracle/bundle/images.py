"""Which image lies at an address: the image lists of a form.template, as docs/trace-bundles.md describes them."""

import struct
import uuid
from bisect import bisect_right

from lists import Broken

STORES = "com.apple.xray.symbolstoremanager.symbolstores"
CACHES = "com.apple.xray.symbolstore.sharedcache.signatures"
KERNELS = "com.apple.xray.symbolstore.kern.signatures"
SIGNATURE = "com.apple.xray.symbolstore.signature"


def signature(data):
    """(UUID, segments) of each image, and the UUID and place of the shared cache."""
    try:
        magic, version, count = struct.unpack_from("<II12xI", data)
        if (magic, version) != (0xFF01FF02, 1):
            raise Broken("signature")
        at, images = 24, []
        for _ in range(count):
            name = data[at : at + 16]
            segments, length = struct.unpack_from("<II", data, at + 48)
            at += 56 + length
            if at + 32 * segments > len(data):
                raise Broken("signature ends")
            read = [struct.unpack_from("<16sQQ", data, at + 32 * index) for index in range(segments)]
            images.append((name, [(title.split(b"\0")[0], start, size) for title, start, size in read]))
            at += 32 * segments
        cache = None
        while at < len(data):
            magic, kind, again, length = struct.unpack_from("<IIII", data, at)
            if magic == 0x00C0FFEE:
                cache = data[at + 8 : at + 24], struct.unpack_from("<Q", data, at + 24)[0]
                break
            if (magic, again) != (0xA1B22B1A, 0xA1B22B1A) or length < 16:
                raise Broken("chunk of a signature")
            at += length
        return images, cache
    except struct.error:
        raise Broken("signature ends") from None


class Segments:
    """Segments by address, each of an image by UUID and place of its __TEXT."""

    def __init__(self, images):
        found, self.is_odd = [], False
        for name, segments, offset in images:
            text = next((start for title, start, _ in segments if title == b"__TEXT"), None)
            if text is None:
                self.is_odd = True
                continue
            for title, start, size in segments:
                if title in (b"__PAGEZERO", b"__LINKEDIT"):
                    continue
                if start + size >= 1 << 64:
                    self.is_odd = True
                elif size > 0:
                    found.append((start, start + size, (name, text, offset)))
        found.sort(key=lambda segment: segment[0])
        self.starts = [segment[0] for segment in found]
        self.found, self.furthest, furthest = found, [], 0
        for segment in found:
            furthest = max(furthest, segment[1])
            self.furthest.append(furthest)

    def at(self, address):
        """All images there."""
        place, images = bisect_right(self.starts, address) - 1, set()
        while place >= 0 and self.furthest[place] > address:
            if self.found[place][1] > address:
                images.add(self.found[place][2])
            place -= 1
        return images


class Process:
    """The images of a process."""

    def __init__(self, own, cache, base, loaded, kernel):
        self.own, self.cache, self.base, self.loaded, self.kernel = own, cache, base, loaded, kernel
        self.known = {}
        self.is_odd = any(table is not None and table.is_odd for table in (own, cache, kernel))

    def exactly(self, address):
        found = {(name, text) for table in (self.own, self.kernel) for name, text, _ in table.at(address)}
        if self.cache is not None and address >= self.base:
            for name, text, offset in self.cache.at(address - self.base):
                if offset in self.loaded and text + self.base < 1 << 64:
                    found.add((name, text + self.base))
        return found

    def find(self, address):
        """The one image at an address, which may be signed."""
        if address not in self.known:
            found = self.exactly(address)
            # Bits above 47 are a signature, unless all of them are set: the kernel's addresses.
            if address >> 47 not in (0, (1 << 17) - 1):
                found = found or self.exactly(address & (1 << 47) - 1) or self.exactly(address & (1 << 39) - 1)
            self.known[address] = found.copy().pop() if len(found) == 1 else None
        return self.known[address]


class Images:
    """The images of all processes of a recording."""

    def __init__(self, archive):
        self.archive, self.processes, self.caches, self.stores = archive, {}, {}, {}

    def of(self, run, pid, device):
        key = run, pid
        if key not in self.processes:
            self.processes[key] = self.read(run, pid, device)
        return self.processes[key]

    def read(self, run, pid, device):
        nothing = Segments([])
        if self.archive is None:
            return Process(nothing, None, 0, set(), nothing)
        kernel = self.kernel(run, device)
        node = self.store(run, pid, device)
        data = self.archive.data(self.archive.member(node, SIGNATURE)) if pid != 0 and node is not None else None
        if not data:
            return Process(nothing, None, 0, set(), kernel)
        images, cache = signature(data)
        own = Segments([(name, segments, 0) for name, segments in images])
        loaded = {self.archive.number(item) for item in self.archive.items(self.archive.member(node, "dsc_load_addresses"))}
        if None in loaded:
            raise Broken("no place of an image in the cache")
        table, base = (self.cache(cache[0]), cache[1]) if cache and loaded else (None, 0)
        return Process(own, table, base, loaded, kernel)

    def store(self, run, pid, device):
        """What is kept of a process: of several with one number, the one on the device that was chosen."""
        archive = self.archive
        if run not in self.stores:
            run_node = numbered(archive, archive.top(STORES), run)
            found = {}
            for key, node in archive.entries(run_node):
                host, _, number = (archive.text(key) or "").rpartition(".")
                if number.isdigit() and host:
                    found.setdefault(int(number), []).append((host, node))
            self.stores[run] = found
        several = self.stores[run].get(pid, [])
        if len(several) == 1:
            return several[0][1]
        return next((node for host, node in several if host == device), None)

    def kernel(self, run, device):
        archive, node = self.archive, self.store(run, 0, device)
        data = archive.data(archive.member(node, SIGNATURE)) if node is not None else None
        if not data:
            node = numbered(archive, archive.top(KERNELS), run)
            data = archive.data(node) if node is not None else None
        images = signature(data)[0] if data else []
        return Segments([(name, segments, 0) for name, segments in images])

    def cache(self, name):
        if name not in self.caches:
            archive, images = self.archive, []
            for key, cached in archive.entries(archive.top(CACHES)):
                if key is None or archive.uuid(key) != name:
                    continue
                for offset, node in archive.entries(cached):
                    data = archive.data(node)
                    offset = archive.number(offset)
                    for image, segments in signature(data)[0] if data else []:
                        images.append((image, segments, offset))
            self.caches[name] = Segments(images)
        return self.caches[name]


def numbered(archive, node, number):
    """The value whose key is a number."""
    found = [value for key, value in archive.entries(node) if key is not None and archive.list.object(key) == number]
    if len(found) > 1:
        raise Broken(f"two entries {number}")
    return found[0] if found else None


def spelled(image):
    return "" if image is None else f"@{str(uuid.UUID(bytes=image[0])).upper()}+{image[1]:x}"
