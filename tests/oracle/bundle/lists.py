"""Property lists and keyed archives, as Apple's documentation of bplist00 and NSKeyedArchiver has them. Strict: what is not as it
should be raises Broken. Objects are read when they are asked for, since a form.template has a million of them."""

import plistlib
import struct
from xml.parsers.expat import ExpatError


class Broken(Exception):
    """A file that breaks a rule of its format."""


class Uid(int):
    """A reference of a keyed archive."""


class Twice(str):
    """A name that an object has twice."""


class BinaryList:
    """Objects of a bplist00, by number: None, True, False, numbers, str, bytes, Uid, list and dict; what lists and dicts hold are numbers."""

    def __init__(self, data):
        if data[:8] != b"bplist00" or len(data) < 40:
            raise Broken("no bplist00")
        self.data, end = data, len(data) - 32
        self.width, self.reference, self.count, self.top, self.table = struct.unpack_from(">6xBBQQQ", data, end)
        if not (1 <= self.width <= 8 and 1 <= self.reference <= 8 and self.top < self.count):
            raise Broken("trailer")
        if self.table < 8 or self.table + self.count * self.width > end:
            raise Broken("offset table")
        self.known = {}

    def object(self, number):
        if isinstance(number, Twice):
            raise Broken(f"two fields {number}")
        if number not in self.known:
            self.known[number] = self.parse(number)
        return self.known[number]

    def parse(self, number):
        if number >= self.count:
            raise Broken(f"no object {number}")
        at = self.table + number * self.width
        at = int.from_bytes(self.data[at : at + self.width], "big")
        if not 8 <= at < self.table:
            raise Broken(f"object {number} lies outside")
        kind, low = self.data[at] >> 4, self.data[at] & 15
        at += 1
        if kind == 0 and low in (0, 8, 9):
            return {0: None, 8: False, 9: True}[low]
        if kind == 1 and low <= 4:
            return int.from_bytes(self.take(at, 1 << low), "big", signed=low == 3)
        if kind == 2 and low in (2, 3):
            return struct.unpack(">f" if low == 2 else ">d", self.take(at, 1 << low))[0]
        if kind == 3 and low == 3:
            return struct.unpack(">d", self.take(at, 8))[0]
        if kind == 8 and low < 8:
            return Uid(int.from_bytes(self.take(at, low + 1), "big"))
        if low == 15:
            marker = self.data[at]
            if marker & 0xF0 != 0x10 or marker & 15 > 3:
                raise Broken("size of an object")
            low = int.from_bytes(self.take(at + 1, 1 << (marker & 15)), "big")
            at += 1 + (1 << (marker & 15))
        if kind == 4:
            return bytes(self.take(at, low))
        if kind in (5, 6):
            try:
                return self.take(at, low * (kind - 4)).decode("ascii" if kind == 5 else "utf-16-be")
            except UnicodeDecodeError as error:
                raise Broken(f"a string: {error}") from None
        if kind in (0xA, 0xB, 0xC):
            return self.numbers(at, low)
        if kind == 0xD:
            return dict(enumerate(zip(self.numbers(at, low), self.numbers(at + low * self.reference, low))))
        raise Broken(f"kind {kind:x}{low:x} of an object")

    def take(self, at, size):
        if at + size > self.table:
            raise Broken("an object leaves the list")
        return self.data[at : at + size]

    def numbers(self, at, count):
        data, size = self.take(at, count * self.reference), self.reference
        return [int.from_bytes(data[place : place + size], "big") for place in range(0, len(data), size)]


class Archive:
    """A keyed archive."""

    def __init__(self, data):
        self.list = BinaryList(data)
        top = self.fields_at(self.list.top)
        if "$top" not in top or "$objects" not in top:
            raise Broken("no keyed archive")
        self.objects = self.list.object(top["$objects"])
        if not isinstance(self.objects, list):
            raise Broken("$objects")
        self.tops = self.fields_at(top["$top"])

    def fields_at(self, number):
        """Names and numbers of the fields of an object; of a name that is there twice, an error to be raised by who asks for it."""
        pairs = self.list.object(number)
        if not isinstance(pairs, dict):
            raise Broken("an object has fields")
        fields = {}
        for key, value in pairs.values():
            key = self.list.object(key)
            if not isinstance(key, str):
                raise Broken(f"field {key!r:.40}")
            fields[key] = Twice(key) if key in fields else value
        return fields

    def follow(self, number):
        """The number of an object that is no reference; None for nil."""
        if isinstance(number, Twice):
            raise Broken(f"two fields {number}")
        for _ in range(8):
            value = self.list.object(number)
            if not isinstance(value, Uid):
                return None if self.objects and number == self.objects[0] else number
            if value >= len(self.objects):
                raise Broken(f"no object {value} in the archive")
            number = self.objects[value]
        raise Broken("references in a circle")

    def top(self, name):
        return self.follow(self.tops[name]) if name in self.tops else None

    def field(self, node, name):
        """What a field leads to; None where it is nil or not there."""
        if node is None:
            return None
        fields = self.fields_at(node)
        return self.follow(fields[name]) if name in fields else None

    def has_field(self, node, name):
        return isinstance(self.list.object(node), dict) and name in self.fields_at(node)

    def is_object(self, node):
        return node is not None and isinstance(self.list.object(node), dict) and self.has_field(node, "$class")

    def class_name(self, node):
        return self.list.object(self.field(self.field(node, "$class"), "$classname"))

    def entries(self, node):
        """Keys and values of a dictionary of either kind."""
        if node is None:
            return []
        fields = self.fields_at(node)
        if "NS.keys" in fields or "NS.objects" in fields:
            keys, values = (self.list.object(fields.get(name, self.list.top)) for name in ("NS.keys", "NS.objects"))
            if not isinstance(keys, list) or not isinstance(values, list) or len(keys) != len(values):
                raise Broken("keys and values")
            return [(self.follow(key), self.follow(value)) for key, value in zip(keys, values)]
        if self.class_name(node) != "XRIntKeyedDictionary":
            raise Broken("no dictionary")
        count = self.number(self.follow(fields["$0"])) if "$0" in fields else None
        names = [name for name in fields if name.startswith("$") and name[1:].isdigit()]
        if count is None or len(names) != 2 * count + 1 or sorted(int(name[1:]) for name in names) != list(range(2 * count + 1)):
            raise Broken("keys and values by number")
        place = lambda number: self.follow(fields[f"${number}"])
        return [(place(2 * entry + 1), place(2 * entry + 2)) for entry in range(count)]

    def items(self, node):
        if node is None:
            return []
        value = self.list.object(node)
        if isinstance(value, dict):
            fields = self.fields_at(node)
            if "NS.objects" in fields:
                value = self.list.object(fields["NS.objects"])
            else:
                numbers = sorted(int(name[10:]) for name in fields if name.startswith("NS.object.") and name[10:].isdigit())
                if numbers != list(range(len(numbers))) or not (numbers or self.class_name(node).endswith("OrderedSet")):
                    raise Broken("no list")
                value = [fields[f"NS.object.{number}"] for number in numbers]
        if not isinstance(value, list):
            raise Broken("no list")
        return [self.follow(item) for item in value]

    def member(self, node, name):
        """What a name stands for in a dictionary of names, or a field of another object."""
        if node is None or not self.has_field(node, "NS.keys"):
            return self.field(node, name)
        found = [value for key, value in self.entries(node) if key is not None and self.plain(key, "NS.string") == name]
        if len(found) > 1:
            raise Broken(f"two entries {name}")
        return found[0] if found else None

    def plain(self, node, field):
        value = self.list.object(node)
        if isinstance(value, dict) and field in (fields := self.fields_at(node)):
            value = self.list.object(self.follow(fields[field]))
        return value

    def of_type(self, node, kind, field):
        if node is None:
            return None
        value = self.plain(node, field)
        if type(value) is not kind:
            raise Broken(f"{value!r:.40} is no {kind.__name__}")
        return value

    def text(self, node):
        return self.of_type(node, str, "NS.string")

    def data(self, node):
        return self.of_type(node, bytes, "NS.data")

    def uuid(self, node):
        return self.of_type(node, bytes, "NS.uuidbytes")

    def whole(self, node):
        return self.of_type(node, int, "")

    def number(self, node):
        value = self.whole(node)
        if value is not None and not 0 <= value < 1 << 64:
            raise Broken(f"number {value}")
        return value

    def real(self, node):
        if node is None:
            return None
        value = self.list.object(node)
        if type(value) not in (int, float):
            raise Broken(f"{value!r:.40} is no number of seconds")
        return float(value)


def strings(data):
    """The strings of a run: a property list in XML, or a binary one."""
    if data[:6] == b"bplist":
        binary = BinaryList(data)
        texts = binary.object(binary.top)
        texts = [binary.object(text) for text in texts] if isinstance(texts, list) else None
    else:
        try:
            texts = plistlib.loads(data, fmt=plistlib.FMT_XML)
        except (ExpatError, ValueError, plistlib.InvalidFileException, AttributeError, IndexError) as error:
            raise Broken(f"strings: {error}") from None
    if not isinstance(texts, list) or any(not isinstance(text, str) for text in texts):
        raise Broken("strings are a list of texts")
    return texts
