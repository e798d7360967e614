#!/usr/bin/env python3
"""Checks the findings, trends and noise floors of fleet reports in JSON, from the runs that the same report lists.

    fleet_findings.py REPORT.json...

Everything is computed again: percentiles by rank and intervals from the binomial distribution with exact fractions, differences of
cohorts with scipy, sums of alerts and inputs. Prints how much was checked; ends with exit code 1 at the first number that differs.
"""

import datetime
import functools
import json
import math
import statistics
import sys
from fractions import Fraction

from scipy import stats

counted = {}


def check(what, found, expected):
    counted[what] = counted.get(what, 0) + 1
    same = found == expected
    if isinstance(found, float) and isinstance(expected, (float, Fraction)):
        same = abs(found - float(expected)) <= 1e-9 * max(1.0, abs(found))
    if not same:
        sys.exit(f"{what}: {found!r} is not {expected!r}")


def parts(name):
    """The percentile of a name, as a fraction: p99.9 is 999/1000."""
    return Fraction(name[1:]) / 100


def rank_of(q, n):
    return max(1, math.ceil(q * n))


def percentile(values, q, method):
    ordered = sorted(values)
    if method == "nearest-rank":
        return ordered[rank_of(q, len(ordered)) - 1]
    at = (len(ordered) - 1) * q
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * float(at - below)


@functools.cache
def ranks(n, q, tail):
    """The largest l with P(B < l) <= tail, and the smallest u with P(B >= u) <= tail; None beyond the ends."""
    p = float(q)
    # Sums from both ends, so that small tails are not differences of large sums.
    mass = [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
    lower, total = 0, Fraction(0)
    while lower < n and total + mass[lower] <= Fraction(tail):
        total += mass[lower]
        lower += 1
    upper, total = n + 1, Fraction(0)
    while upper > 1 and total + mass[upper - 1] <= Fraction(tail):
        upper -= 1
        total += mass[upper]
    assert 0 <= p <= 1
    return (lower if lower >= 1 else None, upper if upper <= n else None)


def interval(values, q, tail):
    ordered = sorted(values)
    return tuple(None if rank is None else ordered[rank - 1] for rank in ranks(len(values), q, tail))


def needed(q):
    beyond = min(q, 1 - q)
    return 1 if beyond == 0 else math.ceil(1 / beyond)


class Report:
    def __init__(self, data):
        self.data, self.options = data, data["options"]
        self.tail = (1 - self.options["confidence"]) / 2
        self.method = self.options["method"]
        self.is_weighted = self.options["is_weighted"]
        self.quantiles = self.options["quantiles"]

    def runs(self, keep):
        return [run for run in self.data["runs"] if keep(run)]

    def of_cohort(self, cohort):
        return [run["value"] for run in self.runs(lambda run: run["cohort"] == cohort)]

    def compared_runs(self, cohort):
        return [(run["value"], run["samples"]) for run in self.runs(lambda run: run["cohort"] == cohort)]

    def unit(self, cohort):
        return self.data["cohorts"][cohort]["value_unit"]


def alerts(report, finding):
    states = [alert["state"] for alert in report.data["alerts"]]
    for state in ("fired", "undecided", "quiet"):
        check("alerts", finding[state], states.count(state))
    urgent = [state for state in ("fired", "undecided") if state in states]
    check("first alert", finding["first"], states.index(urgent[0]) if urgent else None)


def level(report, finding):
    runs = report.runs(lambda run: run["value_unit"] == finding["value_unit"])
    values = [run["value"] for run in runs]
    check("runs", finding["runs"], len(values))
    if not values:
        return
    check("median", finding["median"], percentile(values, Fraction(1, 2), report.method))
    above = [name for name in report.quantiles if Fraction(1, 2) < parts(name) <= Fraction(99, 100)]
    supported = [name for name in above if needed(parts(name)) <= len(values)]
    lacking = [name for name in above if name not in supported]
    expected = supported[-1] if supported else None
    check("tail", finding["tail"] and finding["tail"]["name"], expected)
    if expected:
        check("tail value", finding["tail"]["value"], percentile(values, parts(expected), report.method))
    check("lacking", finding["lacking"] and finding["lacking"]["name"], lacking[0] if lacking else None)
    if lacking:
        check("needed", finding["lacking"]["needed"], needed(parts(lacking[0])))
    check("largest", finding["max"], max(values))
    check("largest run", finding["worst_run"]["source"], next(run["source"] for run in runs if run["value"] == max(values)))


def compared(report, unit):
    """The cohorts and pairs that are compared, and the newest pair of each trend."""
    cohorts = [cohort for cohort in report.data["cohorts"] if cohort["value_unit"] == unit and cohort["runs"] > 0]
    trend = next((t for t in report.data["trends"] if t["over"] == "label" and t["value_unit"] == unit), None)
    pairs = []
    if trend:
        last = {}
        for cohort in cohorts:
            if cohort["labels"][trend["label"]] is None:
                continue
            others = json.dumps({key: value for key, value in cohort["labels"].items() if key != trend["label"]})
            if others in last:
                pairs.append((last[others], cohort["cohort"]))
            last[others] = cohort["cohort"]
    else:
        all_of = [cohort["cohort"] for cohort in cohorts]
        pairs = [(a, b) for index, b in enumerate(all_of) for a in all_of[:index]]
    newest = [pair for pair in pairs if not any(other[0] == pair[1] for other in pairs)] if trend else []
    return [cohort["cohort"] for cohort in cohorts], pairs, newest


def t_tests(groups):
    """Difference of logarithms, and the errors with degrees of freedom by Welch and by Student."""
    logs = [[math.log(value) for value, _ in group] for group in groups]
    floors = [1 / (6 * max(sum(samples for _, samples in group) / len(group), 0.5) ** 2) for group in groups]
    variances = [max(statistics.variance(values), floor) for values, floor in zip(logs, floors)]
    (n, m), (v, w) = map(len, logs), variances
    welch = (v / n + w / m, (v / n + w / m) ** 2 / ((v / n) ** 2 / (n - 1) + (w / m) ** 2 / (m - 1)))
    pooled = (((n - 1) * v + (m - 1) * w) / (n + m - 2) * (1 / n + 1 / m), n + m - 2)
    return statistics.fmean(logs[1]) - statistics.fmean(logs[0]), [welch, pooled]


def difference_of(groups, level):
    """What differs between the runs of two cohorts, how far it is from no difference, and its numbers."""
    if min(map(len, groups)) < 3:
        return None
    busy = [[run for run in group if run[0] > 0] for group in groups]
    idle = [len(group) - len(part) for group, part in zip(groups, busy)]
    level /= 2 if any(idle) else 1
    if min(map(len, busy)) > 1:
        difference, errors = t_tests(busy)
        half = max(stats.t.ppf(1 - level / 2, free) * math.sqrt(variance) for variance, free in errors)
        p = max(2 * stats.t.sf(abs(difference) / math.sqrt(variance), free) for variance, free in errors)
        if p <= level:
            ends = (difference - half, difference + half)
            means = [math.exp(statistics.fmean(math.log(value) for value, _ in part)) for part in busy]
            return min(map(abs, ends)), "typical", means, [math.exp(x) for x in (difference, *ends)]
    table = [[idle[1], len(groups[1]) - idle[1]], [idle[0], len(groups[0]) - idle[0]]]
    p = stats.fisher_exact(table).pvalue
    if any(idle) and p <= level:
        return 0, "idle", [count / len(group) for count, group in zip(idle, groups)], p
    return None


def differences(report, unit, found):
    """All differences that are no chance, and those of them that the report tells."""
    cohorts, pairs, newest = compared(report, unit)
    if report.is_weighted or not pairs:
        check("no comparison", found, [])
        return
    runs = {cohort: report.compared_runs(cohort) for cohort in cohorts}
    level = 2 * float(report.tail) / len(pairs)
    tests = {pair: difference_of([runs[cohort] for cohort in pair], level) for pair in pairs}
    certain = {pair: test for pair, test in tests.items() if test}
    expected = sorted(certain, key=lambda pair: (pair not in newest, -certain[pair][0]))[:2]
    told = [finding for finding in found if finding["kind"] == "difference"]
    check("differences", len(told), len(expected))
    for finding, (a, b) in zip(told, expected):
        _, kind, values, numbers = certain[a, b]
        check("pair", (finding["from"]["cohort"], finding["to"]["cohort"], finding["of"]), (a, b, kind))
        near("idle", [finding["from_idle"], finding["to_idle"]], [sum(value == 0 for value, _ in runs[c]) / len(runs[c]) for c in (a, b)])
        near("values", [finding["from_value"], finding["to_value"]], values)
        if kind == "typical":
            near("ratio", [finding["ratio"], finding["lower"], finding["upper"]], numbers)
        else:
            near("p", [finding["p"]], [numbers])
    is_told = any(pair in certain for pair in newest) if newest else bool(certain)
    none = [finding for finding in found if finding["kind"] == "no-difference"]
    check("no difference", len(none), 0 if is_told else 1)
    for finding in none:
        about = [cohort for pair in newest for cohort in pair] if newest else cohorts
        check("newest", finding["is_newest"], bool(newest))
        check("compared cohorts", [cohort["cohort"] for cohort in finding["cohorts"]], about)
        check("testable", finding["is_testable"], all(len(runs[c]) >= 3 for c in about))


def near(name, ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        check(name, float(mine), float(other))


def row_of(table, finding):
    names = ("process", "thread", "binary", "function")
    same = lambda row: all(row.get(name) == finding.get(name) for name in names)
    return next((row for row in table["rows"] if same(row)), None)


def row_difference(report, finding):
    contrast = next(
        c for c in report.data["contrasts"] if c["scope"] == finding["scope"] and c["value_unit"] == finding["value_unit"]
    )
    row = row_of(contrast, finding)
    check("row", row is not None, True)
    values = dict(zip((cohort["cohort"] for cohort in contrast["cohorts"]), row["values"]))
    check("lowest", finding["low"]["value"], min(values.values()))
    check("highest", finding["high"]["value"], max(values.values()))
    check("lowest in", values[finding["low"]["cohort"]], min(values.values()))
    check("highest in", values[finding["high"]["cohort"]], max(values.values()))
    check("row percentile", finding["percentile"], contrast["by"])
    check("certain", row["at_least"] is not None and row["at_least"] > 0, True)
    for name in ("low", "high"):
        enough = needed(parts(finding["percentile"]))
        check("supported", report.data["cohorts"][finding[name]["cohort"]]["runs"] >= enough, True)


def most_used(report, finding):
    cohort = report.data["cohorts"][finding["of"]["cohort"]]
    table = next(table for table in cohort["tables"] if table["scope"] == finding["scope"])
    row = row_of(table, finding)
    if row is None:
        check("hidden row", table["hidden"] > 0, True)
        return
    used = row["summary"]["weighted_mean"]
    check("share", finding["share"], used / cohort["across_runs"]["weighted_mean"])
    many = ("", "(unnamed)", "(no stack)")
    named = [r for r in table["rows"] if finding["scope"] != "function" or r["function"] not in many]
    check("most", used, max(r["summary"]["weighted_mean"] for r in named))
    if finding["percentile"]:
        of_row = next(p for p in row["summary"]["percentiles"] if p["name"] == finding["percentile"]["name"])
        check("percentile of row", finding["percentile"]["value"], of_row["value"])
        check("its support", of_row["support"] != "too-few", True)


def tail(report, finding):
    values = [run["value"] for run in report.runs(lambda run: run["value_unit"] == finding["value_unit"])]
    least = sorted(values)[math.ceil(Fraction(95, 100) * len(values)) - 1]
    beyond = sum(value >= least for value in values if value > 0)
    busy = sum(value > 0 for value in values)
    check("runs of the tail", (finding["beyond"]["runs"], finding["others"]["runs"]), (beyond, busy - beyond))
    check("most of the tail", 2 * finding["beyond"]["high_runs"] >= beyond, True)
    check("few of the others", 10 * finding["others"]["high_runs"] <= busy - beyond, True)
    check("enough runs in the tail", beyond >= 5, True)
    check("more in the tail", finding["beyond"]["share"] >= finding["others"]["share"] + 0.05, True)


def poisson_quantile(q, mean):
    """The smallest k with P(X <= k) >= q: terms from far below the mean on, added up."""
    k = max(0, int(mean - 15 * math.sqrt(mean) - 50))
    below = 0.0
    while True:
        below += math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))
        if below >= q:
            return k
        k += 1


def noise(report, summary, row):
    """The noise floors of a row: docs/statistics.md, "Sampling noise"."""
    for percent in summary["percentiles"]:
        q = parts(percent["name"])
        if report.is_weighted or q == 1 or not row["effective_samples"]:
            check("no noise", percent["noise"], None)
            continue
        mean = row["effective_samples"] / summary["count"]
        floor = poisson_quantile(float(q), mean) / mean * summary["mean"] if q else 0.0
        check("noise", percent["noise"], floor)
        is_above = q > Fraction(1, 2) and percent["value"] > 0 and percent["value"] >= summary["mean"]
        is_noise = is_above and percent["value"] <= percent["noise"]
        check("is noise", percent["is_noise"], is_noise)


def inputs(report, finding):
    inputs = report.data["inputs"]
    check("failed", finding["failed"], len(inputs["failed"]))
    check("without time", finding["without_time"], len(inputs["without_time"]))
    check("estimated", finding["estimated_time"], sum(run["wall_source"] == "samples" for run in report.data["runs"]))
    check("damaged", finding["damaged"], sum(recording["unread_runs"] for recording in inputs["damaged"]))
    check("rejected", finding["rejected_rows"], inputs["rejected_rows"])
    files = {run["source"] for run in report.data["runs"]} | set(inputs["without_time"])
    check("files", finding["files"], len(files | {failed["source"] for failed in inputs["failed"]}))


def trend(report, found):
    if found["over"] == "label":
        others = lambda cohort: {key: value for key, value in cohort["labels"].items() if key != found["label"]}
        cohorts = [c for c in report.data["cohorts"] if others(c) == found["labels"] and c["value_unit"] == found["value_unit"]]
        cohorts = [c for c in cohorts if c["labels"][found["label"]] is not None]
        check("points", [point["name"] for point in found["points"]], [c["labels"][found["label"]] for c in cohorts])
        groups = [report.runs(lambda run, c=c: run["cohort"] == c["cohort"]) for c in cohorts]
    else:
        periods = {}
        dated = [run for run in report.runs(lambda run: run["value_unit"] == found["value_unit"]) if run["start"]]
        for run in dated:
            day = datetime.date.fromisoformat(run["start"][:10])
            first = day - datetime.timedelta(days=day.weekday()) if found["over"] == "week" else day
            periods.setdefault(first.isoformat(), []).append(run)
        check("periods", [point["name"] for point in found["points"]], sorted(periods))
        check("undated", found["undated"], len(report.runs(lambda run: run["value_unit"] == found["value_unit"])) - len(dated))
        groups = [periods[name] for name in sorted(periods)]
    for point, runs in zip(found["points"], groups):
        values = [run["value"] for run in runs]
        check("runs of point", point["runs"], len(values))
        if not values:
            continue
        check("largest of point", point["max"], max(values))
        for percent in point["percentiles"] if not report.is_weighted else []:
            q = parts(percent["name"])
            check("percentile of point", percent["value"], percentile(values, q, report.method))
            low, high = interval(values, q, report.tail) if 0 < q < 1 else (percent["lower"], percent["upper"])
            check("interval of point", (percent["lower"], percent["upper"]), (low, high))


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            report = Report(json.load(file))
        by_kind = {"alerts": alerts, "row-difference": row_difference, "most-used": most_used, "inputs": inputs, "tail": tail}
        if not report.is_weighted:
            by_kind["level"] = level
        for finding in report.data["findings"]:
            if finding["kind"] in by_kind:
                by_kind[finding["kind"]](report, finding)
        kinds = [finding["kind"] for finding in report.data["findings"]]
        check("one finding for alerts", kinds.count("alerts"), 1 if report.data["alerts"] else 0)
        of_unit = {}
        for finding in report.data["findings"]:
            if finding["kind"] in ("difference", "no-difference"):
                cohort = (finding.get("to") or finding["cohorts"][0])["cohort"]
                of_unit.setdefault(report.unit(cohort), []).append(finding)
        for unit in {run["value_unit"] for run in report.data["runs"]}:
            differences(report, unit, of_unit.get(unit, []))
        for cohort in report.data["cohorts"]:
            for row in (row for table in cohort["tables"] for row in table["rows"]):
                noise(report, row["summary"], row)
        for found in report.data["trends"]:
            trend(report, found)
    print(" ".join(f"{what.replace(' ', '-')}={count}" for what, count in sorted(counted.items())))


main()
