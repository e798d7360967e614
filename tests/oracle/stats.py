"""Compares what tests/stats_oracle.rs wrote into FOLDER with numpy, scipy and exact arithmetic.

usage: stats.py FOLDER

Exits with 1 and the first differences where there are any. Needs numpy and scipy (PyPI).
"""

import json
import math
import os
import sys
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy
from scipy import stats

MILLION = 10**6


class Differences:
    def __init__(self):
        self.checked = 0
        self.found = []

    def check(self, is_equal, *what):
        self.checked += 1
        if not is_equal:
            self.found.append(what)


def same_bits(left, right):
    return numpy.asarray(left, float).view(numpy.uint64) == numpy.asarray(right, float).view(numpy.uint64)


def quantiles(data, differences):
    parts = data["quantiles"]
    fractions = numpy.array(parts) / 1e6
    overshot = 0
    for number, sample in enumerate(data["samples"]):
        integers = sorted(sample["values"] + [0] * sample["zeros"])
        values = numpy.array(integers) / 1e6
        nearest = numpy.quantile(values, fractions, method="inverted_cdf")
        linear = numpy.quantile(values, fractions, method="linear")
        for q, part in enumerate(parts):
            product = part * len(values)
            rank = max(1, -(-product // MILLION))
            ours = sample["nearest"][q]
            differences.check(ours == values[rank - 1], "nearest rank", number, part, ours, values[rank - 1])
            if ours != nearest[q]:
                is_overshoot = product % MILLION == 0 and part / 1e6 * len(values) > product // MILLION
                overshot += is_overshoot
                is_next = is_overshoot and nearest[q] == values[rank]
                differences.check(is_next, "inverted_cdf", number, part, ours, nearest[q])
        for q in numpy.flatnonzero(~same_bits(sample["linear"], linear)):
            differences.check(False, "linear", number, parts[q], sample["linear"][q], float(linear[q]))
        differences.checked += len(parts)
        mean = math.floor(Fraction(sum(integers), len(integers)) + Fraction(1, 2))
        differences.check(sample["mean"] == mean, "mean", number, sample["mean"], mean)
    print(f"quantiles: q*n is an integer and numpy's product is above it, with another value: {overshot} times")


def weighted(data, differences):
    parts = data["quantiles"]
    fractions = numpy.array(parts) / 1e6
    on_edges = 0
    for number, sample in enumerate(data["samples"]):
        pairs = sorted(map(tuple, sample["pairs"] + [[0, 1_500_000]] * sample["zeros"]))
        cumulative = numpy.cumsum([weight for _, weight in pairs]).tolist()
        total = cumulative[-1]
        values = numpy.array([value for value, _ in pairs])
        theirs = numpy.quantile(values, fractions, method="inverted_cdf", weights=[weight for _, weight in pairs])
        at = 0
        order = sorted(range(len(parts)), key=lambda q: parts[q])
        for q in order:
            while cumulative[at] * MILLION < parts[q] * total:
                at += 1
            ours = sample["nearest"][q]
            differences.check(ours == pairs[at][0], "weighted", number, parts[q], ours, pairs[at][0])
            if ours != theirs[q]:
                edge = min(abs(cumulative[i] / total - parts[q] / 1e6) for i in (at - 1, at) if i >= 0)
                on_edges += edge < 1e-12
                differences.check(edge < 1e-12, "inverted_cdf with weights", number, parts[q], ours, float(theirs[q]))
        mean = math.floor(Fraction(sum(value * weight for value, weight in pairs), total) + Fraction(1, 2))
        differences.check(sample["mean"] == mean, "weighted mean", number, sample["mean"], mean)
        squares = sum(weight * weight for _, weight in pairs)
        differences.check(
            math.isclose(sample["effective"], Fraction(total * total, squares), rel_tol=1e-14),
            "effective count", number, sample["effective"], total * total / squares,
        )
    print(f"weighted: a cumulative weight is q of all, and numpy takes the other value: {on_edges} times")


def is_tie(count, parts, confidence, ranks):
    """Whether one of the tails that these ranks leave is exactly half of what may be missed, by fractions."""
    if count > 20:
        return False
    q, tail = Fraction(parts, MILLION), Fraction(MILLION - confidence, 2 * MILLION)
    terms = [math.comb(count, k) * q**k * (1 - q) ** (count - k) for k in range(count + 1)]
    lower, upper = ranks
    return sum(terms[: lower or 0]) == tail or sum(terms[upper or count + 1 :]) == tail


def intervals(rows, differences):
    count, parts, confidence = (numpy.array([row[i] for row in rows], float) for i in range(3))
    q, tail = parts / 1e6, (1e6 - confidence) / 2e6
    lower = stats.binom.ppf(tail, count, q).astype(int)
    upper = stats.binom.ppf(1 - tail, count, q).astype(int) + 1
    low = numpy.array([row[3] or 0 for row in rows])
    high = numpy.array([row[4] or row[0] + 1 for row in rows])
    below, above = stats.binom.cdf(low - 1, count, q), stats.binom.sf(high - 1, count, q)
    ties = 0
    for i, row in enumerate(rows):
        theirs = [lower[i] if lower[i] >= 1 else None, upper[i] if upper[i] <= row[0] else None]
        if row[3:] != theirs and is_tie(*row[:3], row[3:]):
            ties += 1
        else:
            differences.check(row[3:] == theirs, "ranks", row, theirs)
        differences.check(below[i] <= tail[i] * (1 + 1e-9) and above[i] <= tail[i] * (1 + 1e-9), "coverage", row)
    worst = (1 - below - above)[confidence == 950_000].min()
    print(f"intervals: a tail is exactly half of what may be missed, and scipy takes the rank beside: {ties} times")
    print(f"intervals: the least coverage at 95 % is {worst:.6f}")


def needed(rows, differences):
    table = {500_000: 6, 900_000: 36, 950_000: 72, 990_000: 368, 999_000: 3688}
    for parts, confidence, interval, count in rows:
        if confidence == 950_000 and parts in table:
            differences.check(interval == table[parts], "table", parts, interval)
        inside = max(parts, MILLION - parts)
        # inside^n <= tail and inside^(n - 1) > tail, in integers: (i / 10^6)^n <= t / (2 * 10^6).
        holds = lambda n: inside**n * 2 * MILLION <= (MILLION - confidence) * MILLION**n
        if interval < 20_000:
            is_smallest = holds(interval) and not holds(interval - 1)
            differences.check(is_smallest, "needed for interval", parts, confidence, interval)
        else:
            exact = math.ceil(math.log((MILLION - confidence) / 2e6) / math.log(inside / 1e6))
            differences.check(interval == exact, "needed for interval", parts, confidence, interval, exact)
        differences.check(count == math.ceil(Fraction(MILLION, MILLION - inside)), "needed", parts, count)


def poisson_tail(mean, count):
    """P(X > count) in decimals, from the most likely count outwards, to 25 digits."""
    with localcontext() as context:
        context.prec = 40
        mean = Decimal(mean)
        mode, total, tail = int(mean), Decimal(0), Decimal(0)
        for first, step in ((mode, 1), (mode - 1, -1)):
            k, weight = first, Decimal(1) if step == 1 else mode / mean
            while weight > Decimal(10) ** -30 and k >= 0:
                total += weight
                tail += weight if k > count else 0
                weight = weight * mean / (k + 1) if step == 1 else weight * k / mean
                k += step
        return tail / total


def poisson(rows, differences):
    means = numpy.array([row[0] for row in rows])
    parts = numpy.array([row[1] for row in rows], float)
    theirs = stats.poisson.ppf(parts / 1e6, means).astype(int)
    decided = 0
    for (mean, part, ours), other in zip(rows, theirs):
        if ours != other and mean > 1e6:
            decided += 1
            beyond = Decimal(MILLION - part) / MILLION
            is_smallest = poisson_tail(mean, ours) <= beyond < poisson_tail(mean, ours - 1)
            differences.check(is_smallest, "poisson, in decimals", mean, part, ours, int(other))
        else:
            differences.check(ours == other, "poisson", mean, part, ours, int(other))
    print(f"poisson: means above a million where scipy's tail is off, and decimals say we are right: {decided}")


CHECKS = {check.__name__: check for check in (quantiles, weighted, intervals, needed, poisson)}


def main(folder):
    names = [name[:-5] for name in sorted(os.listdir(folder)) if name.endswith(".json")]
    if not names:
        sys.exit(f"{folder}: nothing to compare")
    all_found = []
    for name in names:
        with open(os.path.join(folder, name + ".json")) as file:
            data = json.load(file)
        differences = Differences()
        CHECKS[name](data, differences)
        print(f"{name}: {differences.checked} compared, {len(differences.found)} differ")
        all_found += differences.found
    for found in all_found[:20]:
        print("differs:", *found)
    sys.exit(1 if all_found else 0)


if __name__ == "__main__":
    main(sys.argv[1])
