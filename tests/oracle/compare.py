#!/usr/bin/env python3
"""Compares the tests of two groups of values with numpy and scipy: compare.py ANSWERS.json

The formulas are those of docs/statistics.md, "Comparisons"; scipy's tests are used where they exist.
"""

import json
import math
import sys

import numpy as np
from scipy import special, stats
from scipy.stats.contingency import relative_risk

TOLERANCE = 1e-9
# scipy's tests are slow, so only some cases use them.
EVERY = 8
worst: dict[str, float] = {}


def same(name: str, ours: float | None, theirs: float | None, case: object, rounding: float = 0.0) -> None:
    """Relative, or absolute for numbers that are zero except for rounding, or that rounding changes by this."""
    distance = 0.0 if ours is None and theirs is None else math.inf
    if ours is not None and theirs is not None:
        distance = max(0.0, abs(ours - theirs) - rounding) / (abs(theirs) if abs(theirs) > 1e-12 else 1)
    worst[name] = max(worst.get(name, 0.0), distance)
    if not distance <= TOLERANCE:
        sys.exit(f"{name}: {ours!r}, but {theirs!r} by scipy: {json.dumps(case)}")


def squares(values: np.ndarray) -> float:
    return float(((values - values.mean()) ** 2).sum())


class Effect:
    """The mean difference within blocks [[base, new], ...], whose variances are at least floors [[base, new], ...]."""

    def __init__(self, blocks: list, floors: list):
        both = [(b, f) for b, f in zip(blocks, floors, strict=True) if len(b[0]) and len(b[1])]
        self.blocks = [[np.array(side, float) for side in block] for block, _ in both]
        self.floors = np.array([f for _, f in both]).reshape(-1, 2)
        self.n = np.array([[len(side) for side in block] for block in self.blocks], float).reshape(-1, 2)
        w = self.n.prod(axis=1) / self.n.sum(axis=1)
        self.w = w / w.sum()
        means = np.array([[side.mean() for side in block] for block in self.blocks]).reshape(-1, 2)
        self.differences = means[:, 1] - means[:, 0]
        self.d = float(self.w @ self.differences)
        self.tests = self.errors(1.0)
        self.has_error = self.tests is not None and min(v for v, _ in self.tests) > 0
        self.rounding = 0.0
        if self.has_error:
            t = abs(self.d) / math.sqrt(min(v for v, _ in self.tests))
            # What the last digits of logarithms change of probabilities, and of those near 1/2, what t²/df + 1 loses.
            self.rounding = 1e-14 / math.sqrt(min(v for v, _ in self.tests)) + (1e-8 if t < 1e-6 else 0)

    def errors(self, f: float) -> list | None:
        """The variance of d and its degrees of freedom by Welch and by Student, with f times the units."""
        k = len(self.blocks)
        if not k or (self.n == 1).all():
            if k < 2:
                return None
            v = max(self.differences.var(ddof=1), self.floors.mean(axis=0).sum())
            return [(v / (k * f), k * f - 1)] * 2
        is_single = self.n == 1
        s2 = np.array([[squares(side) / max(len(side) - 1, 1) for side in block] for block in self.blocks])
        s2 = np.maximum(s2, self.floors)
        free, free_f = (np.where(is_single, 0, n - 1) for n in (self.n, self.n * f))
        pooled = (free * s2).sum() / free.sum()
        w2 = np.broadcast_to(self.w[:, None] ** 2, self.n.shape)
        parts = w2 * np.where(is_single, pooled, s2) / (self.n * f)
        # All sides with one unit share one estimate, so they are one part.
        single = parts[is_single].sum()
        below = (parts[~is_single] ** 2 / free_f[~is_single]).sum() + single**2 / free_f.sum()
        welch = (parts.sum(), parts.sum() ** 2 / below if below > 0 else free_f.sum())
        return [welch, (pooled * (w2 / (self.n * f)).sum(), free_f.sum())]

    def p_above(self, d: float) -> float:
        if not self.has_error:
            return 1.0
        return max(float(special.stdtr(df, -d / math.sqrt(v))) for v, df in self.tests)

    def half_width(self, level: float) -> float:
        return max(float(-special.stdtrit(df, level)) * math.sqrt(v) for v, df in self.tests)

    def interval(self, level: float) -> tuple:
        """Unknown ends are minus infinity and None."""
        if not self.has_error:
            return -math.inf, None
        return self.d - self.half_width(level), self.d + self.half_width(level)

    def power(self, f: float, difference: float, level: float) -> float:
        """The probability that a difference is found with f times the units, by the worse test."""
        found = []
        for v, df in self.errors(f):
            found.append(stats.nct.sf(-special.stdtrit(df, level), df, difference / math.sqrt(v)))
        return float(min(found))

    def check_needed(self, ours: float | None, difference: float, level: float, case: object) -> None:
        """Checks that this factor of units just suffices, by the power that it has."""
        if ours is None:
            power = 0.0 if difference == 0 else self.power(1e9, difference, level)
            assert power < 0.9, ("needed units", power, case)
        elif ours == 1:
            assert self.power(1, difference, level) >= 0.9 - TOLERANCE, case
        else:
            # An estimate, printed as "about": incomplete beta functions of many thousands of degrees of freedom have few digits.
            assert abs(self.power(ours, difference, level) - 0.9) < 1e-4, ("power of needed units", case)


def van_elteren(blocks: list) -> tuple | None:
    statistic = variance = 0.0
    for base, new in (block for block in blocks if len(block[0]) and len(block[1])):
        ranks = stats.rankdata(np.concatenate([base, new]))
        n = len(ranks)
        statistic += (ranks[len(base) :].sum() - len(new) * (n + 1) / 2) / (n + 1)
        variance += len(base) * len(new) / (n * (n - 1)) * squares(ranks) / (n + 1) ** 2
    if variance < 1e-15:
        return None
    z = statistic / math.sqrt(variance)
    return z, 2 * special.ndtr(-abs(z))


def exact_test(blocks: list) -> tuple[float, float, float]:
    """Of [count, of] of base and new in each block: p of as many new ones or more, or fewer, or as unlikely."""
    first, weights = 0, np.array([1.0])
    for c, m, a, n in blocks:
        low, high = max(0, a + c - m), min(a + c, n)
        first += low
        weights = np.convolve(weights, stats.hypergeom.pmf(np.arange(low, high + 1), n + m, a + c, n))
    place = sum(row[2] for row in blocks) - first
    unlikely = weights[weights <= weights[place] * (1 + 1e-7)]
    return tuple(min(1.0, float(some.sum() / weights.sum())) for some in (weights[place:], weights[: place + 1], unlikely))


def share_bound(blocks: list, level: float) -> float | None:
    """The upper bound of the ratio of Mantel and Haenszel, by the variance of Greenland and Robins; a logarithm."""
    c, m, a, n = np.array(blocks, float).T
    new, base = (a * m / (n + m)).sum(), (c * n / (n + m)).sum()
    if new == 0 or base == 0:
        return None
    variance = (((a + c) * n * m - a * c * (n + m)) / (n + m) ** 2).sum()
    return math.log(new / base) - special.ndtri(level) * math.sqrt(variance / (new * base))


def holm(p: np.ndarray) -> np.ndarray:
    order, count, adjusted = np.argsort(p, kind="stable"), len(p), np.empty(len(p))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * (count - np.arange(count))))
    return adjusted


def check_effect(case: dict, has_tests: bool) -> None:
    ours, theirs = case["effect"], Effect(case["blocks"], case["floors"])
    if not theirs.has_error or min(v for v, _ in theirs.tests) < 1e-28:
        assert ours is None or min(ours["welch"][0], ours["pooled"][0]) < 1e-14, case
    else:
        same("difference", ours["difference"], theirs.d, case)
        for name, (v, df) in zip(("welch", "pooled"), theirs.tests, strict=True):
            same(f"{name} error", ours[name][0], math.sqrt(v), case)
            same(f"{name} degrees", ours[name][1], df, case)
        same("p above", ours["p_above"], theirs.p_above(theirs.d), case, theirs.rounding)
        same("p below", ours["p_below"], theirs.p_above(-theirs.d), case, theirs.rounding)
        same("p", ours["p"], 2 * theirs.p_above(abs(theirs.d)), case, theirs.rounding)
        for end, of_theirs in zip(ours["interval"], theirs.interval(0.005), strict=True):
            same("interval", end, of_theirs, case)
        same("bound", ours["bound"], theirs.interval(0.05)[1], case)
        if has_tests:
            theirs.check_needed(ours["needed"], math.log(1.03), 0.025, case)
        if has_tests:
            check_by_scipy(ours, theirs, case)
    ours, theirs = case["ranks"], van_elteren(case["blocks"])
    assert (ours is None) == (theirs is None), case
    for name, mine, other in zip(("z", "rank p"), ours or (), theirs or (), strict=True):
        same(name, mine, other, case)
    if has_tests and theirs and len(case["blocks"]) == 1:
        base, new = case["blocks"][0]
        test = stats.mannwhitneyu(new, base, use_continuity=False, method="asymptotic")
        same("mannwhitneyu p", ours[1], test.pvalue, case)


def check_by_scipy(ours: dict, theirs: Effect, case: dict) -> None:
    """By scipy's tests of one block without floors, and of pairs."""
    if any(map(any, case["floors"])):
        return
    if len(theirs.blocks) == 1 and theirs.n.min() > 1:
        base, new = theirs.blocks[0]
        for alternative, name in (("greater", "p_above"), ("less", "p_below"), ("two-sided", "p")):
            tests = [stats.ttest_ind(new, base, equal_var=equal, alternative=alternative) for equal in (False, True)]
            same(f"ttest_ind {alternative}", ours[name], max(test.pvalue for test in tests), case)
        same("ttest_ind df", ours["welch"][1], stats.ttest_ind(new, base, equal_var=False).df, case)
        intervals = [stats.ttest_ind(new, base, equal_var=equal).confidence_interval(0.99) for equal in (False, True)]
        same("ttest_ind low", ours["interval"][0], min(interval.low for interval in intervals), case)
    if len(theirs.blocks) > 1 and theirs.n.max() == 1:
        base, new = ([float(block[side][0]) for block in theirs.blocks] for side in (0, 1))
        for alternative, name in (("greater", "p_above"), ("less", "p_below"), ("two-sided", "p")):
            same(f"ttest_rel {alternative}", ours[name], stats.ttest_rel(new, base, alternative=alternative).pvalue, case)


def check_exact(case: dict, has_tests: bool) -> None:
    names = ("greater", "less", "two-sided")
    for name, ours, theirs in zip(names, case["p"], exact_test(case["blocks"]), strict=True):
        if theirs > 1e-18:
            same(f"exact {name}", ours, theirs, case)
        else:
            assert ours < 1e-15, case
    same("ratio bound", case["bound"], share_bound(case["blocks"], 0.025), case)
    if has_tests and len(case["blocks"]) == 1:
        c, m, a, n = case["blocks"][0]
        for name, ours in zip(names, case["p"], strict=True):
            fisher = stats.fisher_exact([[a, n - a], [c, m - c]], alternative=name).pvalue
            if fisher > 1e-15:
                same(f"fisher_exact {name}", ours, fisher, case)
        if a > 0 and c > 0:
            high = relative_risk(a, n, c, m).confidence_interval(0.95).high
            same("relative_risk", math.exp(case["bound"]), high, case)


def main() -> None:
    with open(sys.argv[1]) as file:
        answers = json.load(file)
    with np.errstate(all="ignore"):
        for index, case in enumerate(answers["effects"]):
            check_effect(case, index // 4 % EVERY == 0)
        for index, case in enumerate(answers["exact"]):
            check_exact(case, index // 4 % EVERY == 0)
    print("largest distances:", ", ".join(f"{name} {distance:.1e}" for name, distance in worst.items()))


if __name__ == "__main__":
    main()
