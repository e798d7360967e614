#!/usr/bin/env python3
"""Compares change points with numpy and scipy: trend.py ANSWERS.json"""

import json
import math
import sys
from collections.abc import Callable

import numpy as np
from scipy import integrate, linalg, signal, stats

TOLERANCE = 1e-9
LEAST = 5  # values of a level
worst: dict[str, float] = {}
skipped = 0
counts = {"changes": 0, "ramps": 0, "hidden": 0}


def same(name: str, ours: float, theirs: float, case: object) -> None:
    """Relative, or absolute for numbers that are zero but for rounding."""
    distance = abs(ours - theirs) / max(1e-12, abs(theirs)) if abs(theirs) > 1e-12 else abs(ours - theirs)
    worst[name] = max(worst.get(name, 0.0), distance)
    if not distance <= TOLERANCE:
        sys.exit(f"{name}: {ours!r}, but {theirs!r} by scipy: {json.dumps(case)}")


def same_shift(of: str, ours: list[float], theirs: list[float], case: object) -> None:
    """Ends of intervals may be near zero, so their distances are relative to the largest number."""
    for name, one, other in zip(("difference", "lower", "upper"), ours, theirs, strict=True):
        largest = max(map(abs, theirs))
        same(name + of, 1 + one / largest, 1 + other / largest, case)


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


def residuals(x: np.ndarray, start: int, at: int, end: int) -> np.ndarray:
    return np.concatenate([x[start:at] - x[start:at].mean(), x[at:end] - x[at:end].mean()])


def lag(e: np.ndarray) -> float:
    squares = e @ e
    if 0 < squares < 1e-20:
        raise ValueError("rounding errors, which have any correlation")
    return float(np.correlate(e[1:], e[:-1])[0] / squares) if squares else 0.0


def debiased(e: np.ndarray) -> float:
    r, n = lag(e), len(e)
    return r + 2 * (1 + 2 * r) / n


def careful(e: np.ndarray) -> float:
    phi = debiased(e)
    return float(np.clip(phi + math.sqrt(max(0, 1 - phi * phi) / len(e)), 0, 0.8))


def of_mean(phi: float, m: int) -> float:
    """The variance of the mean of m values with variance 1: the mean of their correlation matrix."""
    return float(linalg.toeplitz(phi ** np.arange(m)).mean())


def factor(e: np.ndarray, n: int, m: int) -> float:
    phi = careful(e)
    v, w = of_mean(phi, n), of_mean(phi, m)
    q = (n + m - n * v - m * w) / (n + m - 2)
    return math.sqrt((v + w) / (1 / n + 1 / m) / max(0.2, q))


def sse(x: np.ndarray, start: int, end: int) -> np.ndarray:
    """By position from start + 1 on, the squares around two means."""
    return np.array([(residuals(x, start, at, end) ** 2).sum() for at in range(start + 1, end)])


def smallest(values: np.ndarray) -> int:
    at = int(np.argmin(values))
    if (np.delete(values, at) <= values[at] + 1e-9 * abs(values[at]) + 1e-18).any():
        raise ValueError("a tie")
    return at


def split_t(x: np.ndarray, at: int) -> float:
    base, new = x[:at], x[at:]
    difference = abs(new.mean() - base.mean())
    if difference <= 1e-12 * max(abs(base.mean()), abs(new.mean())):
        return 0.0
    spread = ((base - base.mean()) ** 2).sum() + ((new - new.mean()) ** 2).sum()
    return math.inf if spread == 0 else difference / math.sqrt(spread / (len(x) - 2) * (1 / at + 1 / (len(x) - at)))


def p_of(x: np.ndarray, at: int) -> float:
    first = max(0, at - LEAST)  # of the positions that are less than five values off
    squares = sse(x, 0, len(x))[first : at + LEAST - 1]
    best = first + 1 + smallest(squares)
    steps, line = residuals(x, 0, best, len(x)), signal.detrend(x)
    if abs(line @ line - steps @ steps) < 1e-9 * (steps @ steps + 1e-12):
        raise ValueError("a tie")
    rest = line if line @ line < steps @ steps else steps
    return p_of_t(split_t(x, at) / factor(rest, at, len(x) - at), len(x))


def p_of_t(t: float, n: int) -> float:
    return min(1.0, bound(t, n) / 0.82)


def without_outliers(x: np.ndarray) -> np.ndarray:
    if len(x) < 3 * LEAST + 1:
        return x
    reach = LEAST - 1
    medians = np.array([np.median(x[max(0, i - reach) : i + LEAST]) for i in range(len(x))])
    for where, end in ((slice(0, reach), np.median(x[:LEAST])), (slice(-reach, None), np.median(x[-LEAST:]))):
        is_nearer = np.abs(x[where] - end) < np.abs(x[where] - medians[where])
        medians[where] = np.where(is_nearer, end, medians[where])
    distances = np.abs(x - medians)
    if not distances.any():
        return x
    most = 4 * np.median(distances[distances > 0]) / stats.norm.ppf(0.75)
    return np.clip(x, medians - most, medians + most)


def is_below(p: float, limit: float) -> bool:
    if abs(p - limit) < 1e-9 * limit:
        raise ValueError("a tie")
    return p < limit


def splits(x: np.ndarray, start: int, end: int, limit: float) -> list[int]:
    at = range(start + LEAST, end - LEAST + 1)
    if not at:
        return []
    ts = np.array([split_t(x[start:end], i - start) for i in at])
    best = at[smallest(-ts)]
    if not is_below(p_of_t(ts.max(), end - start), limit):
        return []
    return splits(x, start, best, limit) + [best] + splits(x, best, end, limit)


def places(found: list[int], n: int) -> list[tuple[int, int, int]]:
    ends = [0, *found, n]
    return list(zip(ends, ends[1:], ends[2:]))


def fit(found: list[int], n: int, least: int, costs: Callable[[int, range, int], np.ndarray]) -> list[int]:
    """Moves each split to its cheapest place between its neighbours."""
    found = list(found)
    for _ in range(5):
        before = list(found)
        for i in range(len(found)):
            start, _, end = places(found, n)[i]
            at = range(start + least, end - least + 1)
            if at:
                found[i] = at[smallest(costs(start, at, end))]
        if found == before:
            break
    return found


def locate(x: np.ndarray, found: list[int]) -> list[int]:
    return fit(found, len(x), 1, lambda start, at, end: sse(x, start, end))


def likeliest(x: np.ndarray, found: list[int]) -> list[int]:
    t = lambda start, at, end: np.array([split_t(x[start:end], i - start) for i in at])
    return fit(found, len(x), LEAST, lambda *place: -t(*place))


def shift(base: np.ndarray, new: np.ndarray) -> list[float]:
    if base.std() + new.std() == 0:
        raise ValueError("no interval")
    interval = stats.ttest_ind(new, base).confidence_interval(0.95)
    both = np.concatenate([base, new])
    wider = factor(residuals(both, 0, len(base), len(both)), len(base), len(new))
    middle, half = (interval.high + interval.low) / 2, (interval.high - interval.low) / 2
    return [middle, middle - wider * half, middle + wider * half]


def plausible(x: np.ndarray, start: int, at: int, end: int) -> list[int]:
    squares, e = sse(x, start, end), residuals(x, start, at, end)
    phi = float(np.clip(debiased(e), 0, 0.8))
    excess = (squares - e @ e) * (end - start - 2)
    limit = 7.35 * (1 + phi) / (1 - phi) * (e @ e)
    if (np.abs(excess - limit) < 1e-9 * (limit + 1e-12)).any():
        raise ValueError("a tie")
    return [start + 1 + int(i) for i in np.flatnonzero(excess <= limit)]


def changes(raw: np.ndarray, alpha: float) -> list[dict]:
    x = without_outliers(raw)
    found = splits(x, 0, len(x), alpha ** (1 / 3))
    while found:
        found = likeliest(x, found)
        ps = np.array([p_of(x[a:c], b - a) for a, b, c in places(found, len(x))])
        worst = smallest(-ps)
        if not is_below(ps[worst], alpha):
            del found[worst]
            continue
        located = places(locate(raw, found), len(raw))
        sizes = np.array([abs(raw[b:c].mean() - raw[a:b].mean()) for a, b, c in located])
        if (np.abs(sizes - 0.5) < 1e-9).any():
            raise ValueError("a tie")
        least = smallest(sizes)
        if sizes[least] < 0.5:
            del found[least]
            continue
        return [
            {"position": b, "p": p, "shift": shift(raw[a:b], raw[b:c]), "plausible": plausible(raw, a, b, c)}
            for (a, b, c), p in zip(located, ps)
        ]
    return []


def ramp(x: np.ndarray, found: list[dict], alpha: float) -> list[float] | None:
    """The slope of a straight line, if it explains the values better than the levels, or than the best split if there are none."""
    n, k = len(x), max(1, len(found))
    if not found and n <= 3 * LEAST:
        return None
    levels = np.split(x, [change["position"] for change in found])
    steps = sum(((level - level.mean()) ** 2).sum() for level in levels) if found else sse(x, 0, n).min()
    line = stats.linregress(np.arange(n), x)
    rest = x - line.intercept - line.slope * np.arange(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = n * np.log(rest @ rest) + 3 * math.log(n) - n * np.log(steps) - (3 * k + 2) * math.log(n)
    if abs(gain) < 1e-9 or rest @ rest < 1e-20:
        raise ValueError("a tie")
    if gain > 0 or math.isnan(gain):
        return None
    phi = careful(rest)
    error = line.stderr * math.sqrt((1 + phi) / (1 - phi))
    p = 2 * stats.t.sf(abs(line.slope) / error, n - 2)
    if not is_below(p, 0.05 if found else alpha / 5) or not (found or is_below(0.5, abs(line.slope) * (n - 1))):
        return None
    half = error * stats.t.ppf(0.975, n - 2)
    return [line.slope, line.slope - half, line.slope + half]


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


def analysis(cells: list, alpha: float) -> tuple[np.ndarray, list[dict], list[float] | None]:
    found: list[dict] = []
    for _ in range(5):
        before = [change["position"] for change in found]
        values = without_blocks(cells, before)
        found = changes(values, alpha)
        if [change["position"] for change in found] == before:
            break
    return values, found, ramp(without_outliers(values), found, alpha)


def check_series(case: dict) -> None:
    def confirmed(answer: tuple) -> int:
        tested, found, _ = answer
        return sum(change["position"] + LEAST <= len(tested) for change in found)

    def lasts(answer: tuple, value: float) -> bool:
        tested, found, _ = answer
        *_, before, after = np.split(tested, [change["position"] for change in found])
        return abs(value - after.mean()) <= abs(value - before.mean())

    best = analysis(case["cells"], case["alpha"])
    values = best[0]
    without = lambda newest: analysis([cell for cell in case["cells"] if cell[0] + newest < len(values)], case["alpha"])
    if len(without(LEAST - 1)[1]) > len(best[1]):
        for earlier in map(without, range(1, LEAST)):
            if confirmed(earlier) > confirmed(best) and lasts(earlier, np.median(values[len(earlier[0]) :])):
                best = earlier
    tested, found, slope = best
    counts["hidden"] += len(tested) < len(values)
    for ours, theirs in zip(case["values"], values, strict=True):
        if abs(ours - theirs) > 1e-9:
            sys.exit(f"values: {ours} {theirs}: {json.dumps(case)}")
    if len(case["changes"]) != len(found) or (case["slope"] is None) != (slope is None):
        sys.exit(f"changes: {found} {slope}: {json.dumps(case)}")
    for ours, theirs in zip(case["changes"], found):
        if ours["position"] != theirs["position"] or ours["plausible"] != theirs["plausible"]:
            sys.exit(f"positions: {theirs}: {json.dumps(case)}")
        same("p", ours["p"], theirs["p"], case)
        same_shift("", ours["shift"], theirs["shift"], case)
    since = None
    if slope:
        counts["ramps"] += 1
        since = [(len(tested) - 1) * number for number in slope]
    elif found:
        counts["changes"] += len(found)
        levels = np.split(tested, [change["position"] for change in found])
        since = shift(levels[0], levels[-1])
    if (case["since"] is None) != (since is None):
        sys.exit(f"since the start: {since}: {json.dumps(case)}")
    if since:
        same_shift(" since the start", case["since"], since, case)


def main() -> None:
    global skipped
    with open(sys.argv[1]) as file:
        answers = json.load(file)
    for case in answers["bounds"]:
        same("bound", case["p"], bound(case["t"], case["values"]), case)
    for case in answers["series"]:
        try:
            check_series(case)
        except ValueError as reason:
            if "zip()" in str(reason):
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
    if min(counts["changes"], counts["ramps"]) < len(answers["series"]) / 100:
        sys.exit(f"too few changes: {counts}")
    print(f"{counts}; {skipped} series skipped; largest distances:", ", ".join(f"{name} {d:.1e}" for name, d in worst.items()))


main()
