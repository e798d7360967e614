"""Writes reports of MetricKit as devices of all locales do, with the values in them.

    quantities.py < REQUESTS > ANSWERS

The request `locales` asks for their names, and `NAME COUNT SEED` for reports of a locale with about COUNT values. The answer is a line of JSON.
A report is {"report": its document, "values": [...]}; of a day of metrics, values are nanoseconds: CPU time, time in which the app ran, and
the start and the end of each bin; of others, the one value in nanoseconds or bytes. Babel writes the quantities, or ICU if
QUANTITIES_BY_ICU is set.
"""

import decimal
import json
import os
import random
import sys

if os.environ.get("QUANTITIES_BY_ICU"):
    import icu

    LOCALES = sorted(icu.Locale.getAvailableLocales())

    def write(locale, value, unit, width):
        width = getattr(icu.UNumberUnitWidth, "FULL_NAME" if width == "long" else width.upper())
        formatter = icu.NumberFormatter.withLocale(icu.Locale(locale)).unitWidth(width)
        return formatter.unit(icu.MeasureUnit.forIdentifier(unit.split("-")[1])).formatDouble(float(value))

    def region(locale):
        return icu.Locale(locale).addLikelySubtags().getCountry()
else:
    import babel
    from babel.core import get_global
    from babel.localedata import locale_identifiers
    from babel.units import format_unit

    LOCALES = sorted(locale_identifiers())

    def write(locale, value, unit, width):
        return format_unit(value, unit, width, locale=locale, numbering_system="default")

    def region(locale):
        known = babel.Locale.parse(locale)
        likely = get_global("likely_subtags")
        parts = [known.language, known.script]
        names = ["_".join(part for part in parts if part), known.language]
        found = known.territory or next((likely[name].split("_")[-1] for name in names if name in likely), None)
        return found


SCALES = {
    "duration-millisecond": 10**6, "duration-second": 10**9, "duration-minute": 60 * 10**9,
    "digital-byte": 1, "digital-kilobyte": 10**3, "digital-megabyte": 10**6, "digital-gigabyte": 10**9,
}
OTHERS = [
    ("hangDiagnostics", "hangDuration", ["duration-millisecond", "duration-second"]),
    ("appLaunchDiagnostics", "launchDuration", ["duration-millisecond", "duration-second"]),
    ("cpuExceptionDiagnostics", "totalCPUTime", ["duration-second", "duration-minute"]),
    ("diskWriteExceptionDiagnostics", "writesCaused", ["digital-byte", "digital-kilobyte", "digital-megabyte", "digital-gigabyte"]),
]
TREE = {"callStackPerThread": True, "callStacks": [{"threadAttributed": True, "callStackRootFrames": [
    {"binaryName": "App", "address": 4294971392, "offsetIntoBinaryTextSegment": 4096, "sampleCount": 1}]}]}


def number(rng, most, digits):
    """A number below `most`, of any magnitude, with as many decimals."""
    value = decimal.Decimal(str(10 ** rng.uniform(0, most)))
    return round(value, digits).normalize() if digits else round(value)


def exact(value, unit):
    return int(decimal.Decimal(value) * SCALES[unit])


def day(rng, locale, width):
    def time(value, unit="duration-second"):
        return write(locale, value, unit, width), exact(value, unit)

    cpu, foreground, background = (time(number(rng, 5.5, rng.choice([0, 1, 1, 2]))) for _ in range(3))
    starts = sorted({10 * round(10 ** rng.uniform(0, 4)) for _ in range(8)})
    bins = [(time(start, "duration-millisecond"), time(start + 9, "duration-millisecond")) for start in starts]
    values = [cpu[1], foreground[1] + background[1], *(bound[1] for bin_ in bins for bound in bin_)]
    return values, {
        "timeStampBegin": "2024-05-01 00:00:00 +0000",
        "metaData": {"regionFormat": region(locale)},
        "cpuMetrics": {"cumulativeCPUTime": cpu[0]},
        "applicationTimeMetrics": {"cumulativeForegroundTime": foreground[0], "cumulativeBackgroundTime": background[0]},
        "applicationLaunchMetrics": {"histogrammedTimeToFirstDrawKey": {"histogramValue": {
            str(index): {"bucketCount": 1, "bucketStart": start[0], "bucketEnd": end[0]}
            for index, (start, end) in enumerate(bins)}}},
    }


def other(rng, locale, width):
    kind, key, units = rng.choice(OTHERS)
    unit = rng.choice(units)
    is_whole = unit in ("duration-millisecond", "digital-byte")
    value = number(rng, 6 if is_whole else 4, 0 if is_whole else rng.choice([0, 1, 1, 2]))
    facts = {key: write(locale, value, unit, width), "regionFormat": region(locale)}
    return [exact(value, unit)], {kind: [{"callStackTree": TREE, "diagnosticMetaData": facts}]}


def answer(request):
    if request == "locales":
        return LOCALES
    locale, count, seed = request.split()
    rng, left, reports = random.Random(f"{locale}{seed}"), int(count), []
    while left > 0:
        width = rng.choice(["short", "short", "short", "narrow", "long"])
        values, report = rng.choice([day, other, other])(rng, locale, width)
        left -= len(values)
        reports.append({"report": json.dumps(report, ensure_ascii=False), "values": values})
    return reports


for line in sys.stdin:
    print(json.dumps(answer(line.strip())), flush=True)
