"""Writes `src/readers/metrickit/quantities.txt`: how the locales of CLDR write numbers, and names of units of time and size.

    npm install cldr-core@48.2.0 cldr-numbers-full@48.2.0 cldr-units-full@48.2.0
    pip install babel==2.19.0
    quantities.py node_modules > src/readers/metrickit/quantities.txt

Babel has a newer CLDR, in which some locales differ. Both ways to write are kept, as devices have old and new systems.
"""

import collections
import json
import pathlib
import re
import sys

import babel
from babel.localedata import locale_identifiers

HEAD = """\
# How the locales of CLDR {version} and of Babel {babel} write quantities; by tests/support/programs/quantities.py.
# Copyright © 1991-2025 Unicode, Inc. SPDX-License-Identifier: Unicode-3.0
# A line with tabs is for locales with the same names of units: their formats and regions, and after each unit its names. A format is the digit
# 0, the decimal sign, the grouping sign, and `2` if only the last group has three digits. A region has `*` if its locale is a language without
# a region, `?` if the data of the locale is incomplete, and `!` if its language is the main one. `{}` is the number; a name that begins with a digit has that value, and no number.
# A name has `!` if it means a day or a number of bits in more languages: `Mb` is a kilobyte in Zulu only.
"""
UNITS = {
    "duration-nanosecond": "ns", "duration-microsecond": "us", "duration-millisecond": "ms", "duration-second": "s",
    "duration-minute": "min", "duration-hour": "h", "digital-byte": "B", "digital-kilobyte": "kB",
    "digital-megabyte": "MB", "digital-gigabyte": "GB", "digital-terabyte": "TB",
}
# Units that reports do not use, but whose names are common.
OTHERS = {f"digital-{prefix}bit": prefix + "bit" for prefix in ("", "kilo", "mega", "giga", "tera")} | {"duration-day": "day"}
# Plural categories whose names may leave out the number, as `two minutes` of Arabic.
FIXED = {"zero": "0", "one": "1", "two": "2"}
CATEGORIES = {*FIXED, "few", "many", "other"}


def main(modules):
    def read(path):
        return json.loads((modules / path).read_text(encoding="utf-8"))

    digits = read("cldr-core/supplemental/numberingSystems.json")["supplemental"]["numberingSystems"]
    of_babel = {locale.replace("_", "-"): babel.Locale.parse(locale) for locale in locale_identifiers()}
    covered = read("cldr-core/coverageLevels.json")["effectiveCoverageLevels"]
    likely = read("cldr-core/supplemental/likelySubtags.json")["supplemental"]["likelySubtags"]
    version = read("cldr-core/package.json")["version"]

    def patterns(locale, units):
        """Of each unit: plural categories with their patterns."""
        try:
            all_units = read(f"cldr-units-full/main/{locale}/units.json")["main"][locale]["units"]
        except FileNotFoundError:
            all_units = {}
        for width in ("short", "narrow", "long"):
            for key, unit in units.items():
                for name, pattern in all_units.get(width, {}).get(key, {}).items():
                    if name.startswith("unitPattern-count-"):
                        yield unit, name.removeprefix("unitPattern-count-"), pattern
        if locale in of_babel:
            for key, unit in units.items():
                for width in of_babel[locale]._data["unit_patterns"].get(key, {}).values():
                    yield from ((unit, name, pattern) for name, pattern in width.items() if name in CATEGORIES)

    def names(locale, units=UNITS):
        found = {}
        for unit, category, pattern in patterns(locale, units):
            if "{0}" in pattern:
                found.setdefault(unit, set()).add(pattern.replace("{0}", "{}"))
            else:
                found.setdefault(unit, set()).add(FIXED[category] + pattern)
        return found

    def signs_of(locale):
        """Numbering systems with the signs of their numbers and a pattern."""
        try:
            numbers = read(f"cldr-numbers-full/main/{locale}/numbers.json")["main"][locale]["numbers"]
            for system in {numbers["defaultNumberingSystem"], numbers["otherNumberingSystems"].get("native"), "latn"}:
                signs = numbers.get(f"symbols-numberSystem-{system}")
                if signs:
                    pattern = numbers[f"decimalFormats-numberSystem-{system}"]["standard"].split(";")[0]
                    yield system, signs, pattern
        except FileNotFoundError:
            pass
        if locale in of_babel:
            known = of_babel[locale]
            own = {known.default_numbering_system, *known.other_numbering_systems.values(), "latn"}
            for system in own:
                # Babel takes these signs for missing ones.
                signs = {"decimal": ".", "group": ",", **known.number_symbols.get(system, {})}
                yield system, signs, known.decimal_formats[None].pattern

    def formats(locale):
        for system, signs, pattern in signs_of(locale):
            if digits[system]["_type"] != "numeric" or system == "hanidec":
                continue
            groups = pattern.split(".")[0].split(",")[1:]
            is_indian = len(groups) == 2 and len(groups[0]) == 2
            sign = digits[system]["_digits"][0] + signs["decimal"] + signs["group"]
            assert len(sign) == 3, (locale, system, signs)
            yield sign + ("2" if is_indian else "")

    def region(locale):
        parts = locale.split("-")
        mark = "" if any("-".join(parts[:end]) in covered for end in range(len(parts), 0, -1)) else "?"
        def marked(region):
            main = likely.get(f"und-{region}", "").split("-")[0]
            return mark or ("!" if main == parts[0] else "")

        found = [part for part in parts[1:] if re.fullmatch("[A-Z]{2}|[0-9]{3}", part)]
        if found:
            return marked(found[0]) + found[0]
        for known in (locale, "-".join(parts[:2]), parts[0]):
            if known in likely:
                found = likely[known].split("-")[-1]
                return marked(found) + "*" + found
        return mark + "*"

    of_cldr = {folder.name for folder in (modules / "cldr-units-full/main").iterdir()}
    # By name without spaces, then by unit: the number of languages.
    meanings = collections.defaultdict(collections.Counter)
    for language in {locale.split("-")[0] for locale in of_cldr | set(of_babel)}:
        of_units = names(language, UNITS | OTHERS).items()
        for name, unit in {("".join(name.split()), unit) for unit, found in of_units for name in found}:
            meanings[name][unit] += 1

    def marked_name(name, unit):
        counts = meanings["".join(name.split())]
        return "!" * any(counts[other] > counts[unit] for other in OTHERS.values()) + name

    blocks = {}
    for locale in sorted(of_cldr | set(of_babel)):
        base = locale.split("-")[0]
        found = names(locale)
        # The system was seen to write the names of the language where its regions have others.
        if locale != base:
            for unit, of_base in names(base).items():
                found.setdefault(unit, set()).update(of_base)
        key = "\t".join(unit + "\t" + "|".join(marked_name(name, unit) for name in sorted(found[unit])) for unit in UNITS.values() if unit in found)
        block = blocks.setdefault(key, {})
        for style in formats(locale):
            block.setdefault(style, set()).add(region(locale))
    sys.stdout.write(HEAD.replace("{version}", version).replace("{babel}", babel.__version__))
    for key, styles in blocks.items():
        written = (style + ":" + ",".join(sorted(regions)) for style, regions in sorted(styles.items()))
        print(" ".join(written), key, sep="\t")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    main(pathlib.Path(sys.argv[1]))
