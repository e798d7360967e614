#!/usr/bin/env python3
"""Compares the tests of two groups of values with numpy and scipy: compare.py ANSWERS.json"""

import json
import math
import sys

import numpy as np
from scipy import special, stats
from scipy.stats.contingency import relative_risk

TOLERANCE = 1e-9
# scipy's own tests are slow, so not all cases have them.
EVERY = 16
worst: dict[str, float] = {}


def same(name: str, ours: float, theirs: float, case: object) -> None:
    """Relative, or absolute for numbers that are zero but for rounding."""
    distance = abs(ours - theirs) / max(abs(theirs), 1e-12) if abs(theirs) > 1e-12 else abs(ours - theirs)
    worst[name] = max(worst.get(name, 0.0), distance)
    if not distance <= TOLERANCE:
        sys.exit(f"{name}: {ours!r}, but {theirs!r} by scipy: {json.dumps(case)}")


def squares(values: np.ndarray) -> float:
    return float(((values - values.mean()) ** 2).sum())


def effect(blocks: list) -> tuple | None:
    """Difference, error, degrees of freedom and variance of a value."""
    counts = np.array([[len(base), len(new)] for base, new in blocks], float)
    differences = np.array([new.mean() - base.mean() for base, new in blocks])
    k = len(blocks)
    free = (counts - 1).sum(axis=0)
    if free.sum() == 0:
        if k < 2:
            return None
        variance = differences.var(ddof=1)
        return differences.mean(), math.sqrt(variance / k), k - 1, variance / 2
    within = sum(squares(side) for block in blocks for side in block) / free.sum()
    parts = []
    if free.min() == 0:
        parts.append((within * (1 / counts).sum(), free.sum()))
    else:
        for side in (0, 1):
            if counts[:, side].min() == 1:
                variance = sum(squares(block[side]) for block in blocks) / free[side]
                parts.append((variance * (1 / counts[:, side]).sum(), free[side]))
            else:
                parts += [(block[side].var(ddof=1) / len(block[side]), len(block[side]) - 1) for block in blocks]
    total = sum(part for part, _ in parts)
    degrees = total**2 / sum(part**2 / n for part, n in parts) if total > 0 else 1
    return differences.mean(), math.sqrt(total) / k, degrees, within


def ranks(blocks: list) -> tuple | None:
    statistic = variance = 0.0
    for base, new in blocks:
        all_ranks = stats.rankdata(np.concatenate([base, new]))
        n = len(all_ranks)
        statistic += (all_ranks[len(base) :].sum() - len(new) * (n + 1) / 2) / (n + 1)
        variance += len(base) * len(new) / (n * (n - 1)) * squares(all_ranks) / (n + 1) ** 2
    if variance < 1e-15:
        return None
    z = statistic / math.sqrt(variance)
    return z, 2 * special.ndtr(-abs(z))


def check_effect(case: dict, has_tests: bool) -> None:
    blocks = [[np.array(side, float) for side in block] for block in case["blocks"]]
    ours, theirs = case["effect"], effect(blocks)
    if theirs is None or theirs[1] < 1e-14:
        assert ours is None or ours["error"] < 1e-14, case
    else:
        difference, error, degrees, variance = theirs
        same("difference", ours["difference"], difference, case)
        same("error", ours["error"], error, case)
        same("degrees", ours["degrees"], degrees, case)
        same("p", ours["p"], 2 * special.stdtr(degrees, -abs(difference) / error), case)
        quantile = special.stdtrit(degrees, 0.975)
        same("lower", ours["lower"], difference - quantile * error, case)
        same("upper", ours["upper"], difference + quantile * error, case)
        same("bound", ours["bound"], difference + special.stdtrit(degrees, 0.95) * error, case)
        z = special.ndtri(0.975) + special.ndtri(0.9)
        needed = 2 * z**2 * variance / 0.03**2
        assert ours["needed"] in (math.ceil(needed * (1 - 1e-12)), math.ceil(needed * (1 + 1e-12))), case
        if has_tests and len(blocks) == 1 and min(map(len, blocks[0])) > 1:
            test = stats.ttest_ind(blocks[0][1], blocks[0][0], equal_var=False)
            same("ttest_ind p", ours["p"], test.pvalue, case)
            same("ttest_ind df", ours["degrees"], test.df, case)
            same("ttest_ind low", ours["lower"], test.confidence_interval(0.95).low, case)
        if has_tests and len(blocks) > 1 and all(len(side) == 1 for block in blocks for side in block):
            test = stats.ttest_rel([new[0] for _, new in blocks], [base[0] for base, _ in blocks])
            same("ttest_rel p", ours["p"], test.pvalue, case)
    ours, theirs = case["ranks"], ranks(blocks)
    if theirs is None:
        assert ours is None, case
    else:
        same("z", ours[0], theirs[0], case)
        same("rank p", ours[1], theirs[1], case)
        if has_tests and len(blocks) == 1:
            test = stats.mannwhitneyu(blocks[0][1], blocks[0][0], use_continuity=False, method="asymptotic")
            same("mannwhitneyu p", ours[1], test.pvalue, case)


def check_exact(case: dict, has_tests: bool) -> None:
    first, weights = 0, np.array([1.0])
    new = base = variance = 0.0
    for c, m, a, n in case["blocks"]:
        low, high = max(0, a + c - m), min(a + c, n)
        first += low
        weights = np.convolve(weights, stats.hypergeom.pmf(np.arange(low, high + 1), n + m, a + c, n))
        new, base = new + a * m / (n + m), base + c * n / (n + m)
        variance += ((a + c) * n * m - a * c * (n + m)) / (n + m) ** 2
    seen = weights[sum(row[2] for row in case["blocks"]) - first]
    p = weights[weights <= seen * (1 + 1e-7)].sum() / weights.sum()
    if p > 1e-18:
        same("exact p", case["p"], p, case)
    else:
        assert case["p"] < 1e-15, case
    if new > 0 and base > 0:
        bound = math.log(new / base) + special.ndtri(0.975) * math.sqrt(variance / (new * base))
        same("ratio bound", case["bound"], bound, case)
    else:
        assert case["bound"] is None, case
    if has_tests and len(case["blocks"]) == 1:
        c, m, a, n = case["blocks"][0]
        fisher = stats.fisher_exact([[a, n - a], [c, m - c]]).pvalue
        if fisher > 1e-15:
            same("fisher_exact", case["p"], fisher, case)
        if a > 0 and c > 0:
            high = relative_risk(a, n, c, m).confidence_interval(0.95).high
            same("relative_risk", math.exp(case["bound"]), high, case)


def check_family(case: dict) -> None:
    p = np.array(case["p"])
    order, count = np.argsort(p, kind="stable"), len(p)
    holm = np.empty(count)
    holm[order] = np.minimum(1, np.maximum.accumulate(p[order] * (count - np.arange(count))))
    for ours, theirs in zip(case["holm"], holm, strict=True):
        same("holm", ours, theirs, case)
    for ours, theirs in zip(case["q"], stats.false_discovery_control(p), strict=True):
        same("false_discovery_control", ours, theirs, case)


def main() -> None:
    with open(sys.argv[1]) as file:
        answers = json.load(file)
    with np.errstate(all="ignore"):
        for index, case in enumerate(answers["effects"]):
            check_effect(case, index // 4 % EVERY == 0)
        for index, case in enumerate(answers["exact"]):
            check_exact(case, index // 4 % EVERY == 0)
        for case in answers["families"]:
            check_family(case)
    print("largest distances:", ", ".join(f"{name} {distance:.1e}" for name, distance in worst.items()))


main()
