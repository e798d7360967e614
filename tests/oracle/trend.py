#!/usr/bin/env python3
"""Compares change points with numpy and scipy: trend.py ANSWERS.json"""

import json
import math
import sys

import numpy as np
from scipy import integrate, stats

TOLERANCE = 1e-9
LEAST = 5  # values of a level
worst: dict[str, float] = {}
skipped = 0


def same(name: str, ours: float, theirs: float, case: object) -> None:
    """Relative, or absolute for numbers that are zero but for rounding."""
    distance = abs(ours - theirs) / max(1e-12, abs(theirs)) if abs(theirs) > 1e-12 else abs(ours - theirs)
    worst[name] = max(worst.get(name, 0.0), distance)
    if not distance <= TOLERANCE:
        sys.exit(f"{name}: {ours!r}, but {theirs!r} by scipy: {json.dumps(case)}")


def unit_contrast(n: int, at: int) -> np.ndarray:
    contrast = np.where(np.arange(n) < at, -1 / at, 1 / (n - at))
    return contrast / np.linalg.norm(contrast)


def bound(t: float, n: int) -> float:
    """P(largest t of all splits > t), from the angles between the splits' contrasts."""
    if n < 2 * LEAST or t <= 0:
        return 1.0
    if math.isinf(t):
        return 0.0
    total, r2 = stats.t.sf(t, n - 2), t * t / (t * t + n - 2)
    for at in range(LEAST, n - LEAST):
        half = math.acos(min(1.0, unit_contrast(n, at) @ unit_contrast(n, at + 1))) / 2
        density = lambda angle: max(0.0, 1 - r2 / math.cos(angle) ** 2) ** ((n - 3) / 2)
        half = min(half, math.acos(math.sqrt(r2)))  # it is zero beyond
        total += integrate.quad(density, 0, half, epsabs=1e-17, epsrel=1e-13)[0] / math.pi
    return min(1.0, 2 * total)


def split_t(x: np.ndarray, at: int) -> float:
    base, new = x[:at], x[at:]
    difference = abs(new.mean() - base.mean())
    if difference <= 1e-12 * max(abs(base.mean()), abs(new.mean())):
        return 0.0
    spread = ((base - base.mean()) ** 2).sum() + ((new - new.mean()) ** 2).sum()
    return math.inf if spread == 0 else difference / math.sqrt(spread / (len(x) - 2) * (1 / at + 1 / (len(x) - at)))


def p_of(x: np.ndarray, at: int) -> float:
    return min(1.0, bound(split_t(x, at), len(x)) / 0.82)


def without_outliers(x: np.ndarray) -> np.ndarray:
    if len(x) < 3 * LEAST + 1:
        return x
    medians = np.array([np.median(x[max(0, i - LEAST + 1) : i + LEAST]) for i in range(len(x))])
    most = 4 * np.median(np.abs(x - medians)) / stats.norm.ppf(0.75)
    return np.clip(x, medians - most, medians + most)


def splits(x: np.ndarray, start: int, end: int, limit: float) -> list[int]:
    at = range(start + LEAST, end - LEAST + 1)
    if not at:
        return []
    ts = [split_t(x[start:end], i - start) for i in at]
    largest = max(ts)
    near = [i for i, t in zip(at, ts) if t == largest or t > largest * (1 - 1e-9)]
    if len(near) > 1:
        raise ValueError("a tie")
    p = p_of(x[start:end], near[0] - start)
    if p > limit:
        return []
    return splits(x, start, near[0], limit) + near + splits(x, near[0], end, limit)


def changes(x: np.ndarray, alpha: float) -> list[list[float]]:
    x = without_outliers(x)
    found = splits(x, 0, len(x), alpha ** (1 / 3))
    while True:
        ends = [0, *found, len(x)]
        parts = [(x[a:b], x[b:c]) for a, b, c in zip(ends, ends[1:], ends[2:])]
        ps = [p_of(np.concatenate(part), len(part[0])) for part in parts]
        sizes = [abs(new.mean() - base.mean()) for base, new in parts]
        if len(set(ps)) < len(ps) or any(abs(size - 0.5) < 1e-9 for size in sizes):
            raise ValueError("a tie")
        if ps and max(ps) > alpha:
            del found[int(np.argmax(ps))]
        elif sizes and min(sizes) < 0.5:
            del found[int(np.argmin(sizes))]
        else:
            break
    rows = []
    for at, p, (base, new) in zip(found, ps, parts):
        if base.std() + new.std() == 0:
            raise ValueError("no interval")
        test = stats.ttest_ind(new, base, equal_var=False)
        interval = test.confidence_interval(0.95)
        rows.append([at, p, new.mean() - base.mean(), interval.low, interval.high])
    return rows


def without_blocks(cells: list, found: list[int]) -> np.ndarray:
    """Levels and blocks by least squares; the mean over the blocks of each point, less what they differ from the mean block."""
    point, block = (np.array([cell[i] for cell in cells]) for i in (0, 1))
    y = np.array([cell[2] for cell in cells])
    level = np.searchsorted(found, point, side="right")
    columns = [(level == i) for i in range(len(found) + 1)] + [(block == i) for i in range(block.max() + 1)]
    design = np.array(columns, float).T
    if np.linalg.matrix_rank(design) < design.shape[1] - 1:
        raise ValueError("levels without a common block")
    offsets = np.linalg.lstsq(design, y, rcond=None)[0][len(found) + 1 :]
    rest = y - offsets[block] + offsets.mean()
    return np.array([rest[point == i].mean() for i in range(point.max() + 1)])


def check_series(case: dict) -> None:
    found: list[list[float]] = []
    for _ in range(5):
        before = [row[0] for row in found]
        values = without_blocks(case["cells"], before)
        found = changes(values, case["alpha"])
        if [row[0] for row in found] == before:
            break
    for ours, theirs in zip(case["values"], values, strict=True):
        if abs(ours - theirs) > 1e-9:
            sys.exit(f"values: {ours} {theirs}: {json.dumps(case)}")
    for ours, theirs in zip(case["changes"], found, strict=True):
        for name, one, other in zip(("position", "p", "difference", "lower", "upper"), ours, theirs, strict=True):
            same(name, one, other, case)


def main() -> None:
    global skipped
    with open(sys.argv[1]) as file:
        answers = json.load(file)
    for case in answers["bounds"]:
        same("bound", case["p"], bound(case["t"], case["values"]), case)
    for case in answers["tests"]:
        t = abs(float(stats.ttest_ind(case["base"], case["new"]).statistic))
        if case["t"] is not None and not math.isnan(t):
            same("ttest_ind", case["t"], t, case)
    for case in answers["series"]:
        try:
            check_series(case)
        except ValueError as reason:
            if "strict" in str(reason) or "zip" in str(reason):
                sys.exit(f"{reason}: {json.dumps(case)}")
            skipped += 1
    if skipped > len(answers["series"]) / 2:
        sys.exit(f"{skipped} series have ties")
    simulated = np.random.default_rng(1).standard_normal((40_000, 20))
    largest = np.max([np.abs(simulated @ unit_contrast(20, at)) for at in range(LEAST, 16)], axis=0)
    largest /= np.sqrt((((simulated - simulated.mean(1, keepdims=True)) ** 2).sum(1) - largest**2) / 18)
    for t in (2.5, 3.0, 3.5):
        rate, limit = (largest > t).mean(), bound(t, 20)
        assert rate <= limit + 3 * math.sqrt(limit / 40_000), (t, rate, limit)
    print(f"{skipped} series skipped; largest distances:", ", ".join(f"{name} {d:.1e}" for name, d in worst.items()))


main()
