#!/usr/bin/env python3
"""Computes the verdicts of the command on invented sides again: compare_command.py COMMAND CASES [FIRST]

Every number of `traceparse compare --format json` comes from the invented runs, by docs/statistics.md, "Comparisons".
"""

import math
import pathlib
import sys
from collections import Counter

import numpy as np
from compare import Effect, exact_test, holm, same, share_bound, van_elteren, worst
from compared_sides import STATED, Case, Run, stack_of
from scipy import stats

seen: Counter = Counter()


def check(where: str, ours: object, theirs: object, seed: int) -> None:
    """Compares all that `theirs` has: numbers, or [number, what rounding may change] in tuples."""
    if isinstance(theirs, dict):
        for name, value in theirs.items():
            check(f"{where}.{name}".lstrip("."), ours[name], value, seed)
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), (seed, where, ours, theirs)
        for mine, other in zip(ours, theirs):
            check(where, mine, other, seed)
    elif isinstance(theirs, tuple):
        same(where, ours, theirs[0], seed, theirs[1])
    elif isinstance(theirs, float) and ours is not None:
        same(where, ours, theirs, seed)
    else:
        assert ours == theirs, (seed, where, ours, theirs)


def sides(pair: list | tuple) -> dict:
    return {"base": pair[0], "new": pair[1]}


def exp(value: float | None) -> float | None:
    return None if value is None else math.exp(value)


class Total:
    """The tests of a quantity."""

    def __init__(self, comparison: "Comparison", quantity: str, ours: dict):
        case, logs = comparison.case, comparison.by_unit(lambda run: run.value(quantity), is_log=True)
        is_sampled = quantity.startswith("cpu")
        effect = comparison.effect(lambda run: run.value(quantity), lambda run: run.samples if is_sampled else run.value(quantity) / 1000)
        idle = [[x for side in block for x in (side.count(None), len(side))] for block in logs]
        self.of_idle = [sum(column) for column in zip(*idle)]
        has_idle = is_sampled and self.of_idle[0] + self.of_idle[2] > 0
        self.tail = tail(logs) if is_sampled and min(comparison.n) >= 1000 else []
        parts = len(comparison.quantities) * (2 if has_idle else 1) * (3 if self.tail else 1)
        self.slower, self.faster = case.alpha / 2 / parts, case.alpha / 10 / parts
        self.idle, self.bound = exact_test(idle) if has_idle else None, None
        self.effect, self.needed = effect if effect.has_error else None, ours["effect"] and ours["effect"]["needed_factor"]
        if self.effect:
            share = share_bound([[m - c, m, n - a, n] for c, m, a, n in idle], case.alpha / 2) if has_idle else 0
            self.bound = None if share is None else effect.interval(case.alpha / (2 if has_idle else 1))[1] + max(0, share)
            effect.check_needed(self.needed, math.log1p(case.min_effect), self.slower, case.seed)
        ranks = van_elteren(effect.blocks) if effect.blocks else None
        self.document = {
            "measure": quantity,
            "mean": sides(comparison.means(lambda run: run.value(quantity))),
            "effect": self.effect and {
                "ratio": math.exp(effect.d),
                **{end: math.exp(value) for end, value in zip(("lower", "upper"), effect.interval(self.slower))},
                "confidence": 1 - 2 * self.slower,
                "p_slower": (effect.p_above(effect.d), effect.rounding),
                "p_faster": (effect.p_above(-effect.d), effect.rounding),
                "level_slower": self.slower,
                "level_faster": self.faster,
                **{test: {"error": math.sqrt(v), "degrees": df} for test, (v, df) in zip(("welch", "pooled"), effect.tests)},
                "upper_bound": exp(self.bound),
                "rank_p": ranks and ranks[1],
            },
            "idle": self.idle and share_document(self.idle, self.of_idle, [None, None]),
            "tail": [share_document(*test) for test in self.tail],
        }

    def reasons(self, is_slower: bool, min_effect: float) -> list[str]:
        sign, level = (1, self.slower) if is_slower else (-1, self.faster)
        change, effect, found = 1 + sign * min_effect, self.effect, []
        if effect and effect.p_above(sign * effect.d) <= level and sign * effect.d >= sign * math.log(change):
            found.append("total")
        if self.idle and is_slower and self.idle[1] <= level:
            (c, m, a, n) = self.of_idle
            found += ["idle"] if 1 - a / n >= (1 - c / m) * change else []
        for name, (ps, _, (base, new)) in zip(("p95", "p99"), self.tail):
            found += [name] if is_slower and ps[0] <= level and new >= base * change else []
        return found


def share_document(ps: tuple, counts: list, values: list) -> dict:
    of = [{"count": counts[i], "of": counts[i + 1], "value": value} for i, value in zip((0, 2), values)]
    return dict(zip(("p_more", "p_fewer", "p"), ps)) | sides(of)


def tail(logs: list) -> list:
    """Beyond P95 and P99: the probabilities, the counts of units, and the means of units beyond their own percentile."""
    units = [[np.array([-math.inf if y is None else y for y in side]) for side in block] for block in logs]
    busy = lambda side: side[np.isfinite(side)]  # noqa: E731
    places = [[side - np.median(busy(side)) if len(busy(side)) else side for side in block] for block in units]
    for side in (0, 1):
        low, high = np.percentile(np.concatenate([busy(block[side]) for block in places]), [25, 75])
        places = [[x / ((high - low) or 1) if i == side else x for i, x in enumerate(block)] for block in places]
    rank = lambda values, q: math.ceil(round(q * len(values), 6))  # noqa: E731

    def beyond(values: list, q: float) -> list:
        every = np.sort(np.concatenate([side for block in values for side in block]))
        limit = every[rank(every, q) - 1]
        return [[x for side in block for x in (int((side > limit).sum()), len(side))] for block in values]

    found = []
    for q in (0.95, 0.99):
        of_sides = [np.sort(np.concatenate([block[side] for block in units])) for side in (0, 1)]
        values = [float(np.exp(side[rank(side, q) :]).mean()) for side in of_sides]
        ps = tuple(max(pair) for pair in zip(exact_test(beyond(units, q)), exact_test(beyond(places, q))))
        found.append((ps, [sum(x) for x in zip(*beyond(units, q))], values))
    return found


def log_of(quantity: str):
    return lambda run: math.log(run.value(quantity)) if run.value(quantity) else None


class Comparison:
    def __init__(self, case: Case, answer: dict):
        self.case, self.answer = case, answer
        self.sides = [[run for run in case.runs if run.side == side] for side in (0, 1)]
        self.block_of = lambda run: run.labels["device"] if case.block else ""
        measured = [[r for r in side if None not in map(r.value, case.measures)] for side in self.sides]
        self.blocks = sorted(set(map(self.block_of, measured[0])) & set(map(self.block_of, measured[1])))
        # By block and side: the runs, and the runs of each unit.
        self.runs = [[[r for r in runs if self.block_of(r) == block] for runs in measured] for block in self.blocks]
        self.units = [[self.units_of(runs) for runs in block] for block in self.runs]
        self.counted = [run for block in self.runs for runs in block for run in runs]
        self.n = [sum(len(block[side]) for block in self.units) for side in (0, 1)]
        w = [len(base) * len(new) / (len(base) + len(new)) for base, new in self.units]
        self.weights = [weight / sum(w) for weight in w]
        self.rule, self.quantities = self.choose()

    def units_of(self, runs: list[Run]) -> list[list[Run]]:
        units: dict = {}
        for run in runs:
            units.setdefault(run.labels[self.case.unit] if self.case.unit else run.source, []).append(run)
        return list(units.values())

    def by_unit(self, value, is_log: bool = False) -> list:
        """By block and side: the mean of the runs of each unit that have a value, or its logarithm, or None."""

        def mean(unit: list) -> float | None:
            values = [v for v in map(value, unit) if v is not None]
            mean = sum(values) / len(values) if values else None
            return (math.log(mean) if mean else None) if is_log else mean

        return [[list(map(mean, units)) for units in block] for block in self.units]

    def effect(self, value, samples) -> Effect:
        """Of the logarithms of the means of units; `samples` limit how exactly they are known."""
        flat = lambda blocks: [[[v for v in side if v is not None] for side in block] for block in blocks]  # noqa: E731
        parts = flat(self.by_unit(lambda run: samples(run) if value(run) else None))
        floors = [[1 / (6 * max(np.mean(side) if side else 0, 0.5) ** 2) for side in block] for block in parts]
        return Effect(flat(self.by_unit(value, is_log=True)), floors)

    def cells(self, value) -> list:
        """By block and side: the values of runs."""
        return [[np.array([v for v in map(value, runs) if v is not None]) for runs in block] for block in self.runs]

    def means(self, value) -> list[float]:
        """The mean of the runs of each side, over blocks."""
        cells = self.cells(value)
        of = lambda cell: cell.mean() if len(cell) else 0  # noqa: E731
        return [float(sum(w * of(block[side]) for w, block in zip(self.weights, cells))) for side in (0, 1)]

    def deviation(self, value) -> float:
        cells = [cell for block in self.cells(value) for cell in block if len(cell)]
        free = sum(len(cell) - 1 for cell in cells)
        deviation = math.sqrt(sum(((cell - cell.mean()) ** 2).sum() for cell in cells) / free) if free else 0.0
        return deviation if deviation >= 1e-12 else 0.0

    def choose(self) -> tuple[str, list[str]]:
        """The name of the rule, and the quantities."""
        lengths = sorted(run.length for run in self.counted)
        self.are_equal = all(abs(length / lengths[len(lengths) // 2] - 1) <= 0.005 for length in lengths)
        self.s_l, s_c = self.deviation(log_of("elapsed")), self.deviation(log_of("cpu-time"))
        if self.case.measures:
            return "requested", self.case.measures
        ends = [[run.labels["end_reason"] for run in side] for side in self.sides]
        rules = [(name, all(side.count(text) >= 0.9 * len(side) for side in ends)) for name, text in STATED.items()]
        rules += [("one-length", self.are_equal), ("free-lengths", self.s_l > 0.25), ("window", self.s_l < 0.2 * s_c)]
        rule = next((name for name, applies in rules if applies), "work")
        return rule, ["cpu-time" if rule in ("exited", "work") else "cpu-use"]

    def is_invalid(self) -> bool:
        case, devices = self.case, [{run.labels["device"] for run in side} for side in self.sides]
        if not self.blocks or not devices[0] & devices[1] or case.copied:
            return True
        if any(all(run.weight == 0 for block in self.runs for run in block[side]) for side in (0, 1)):
            return True
        for quantity in self.quantities:
            failed = [sum(run.value(quantity) is None for run in side) + case.broken[i] for i, side in enumerate(self.sides)]
            if any(failed[i] > 0.1 * (len(side) + case.broken[i]) for i, side in enumerate(self.sides)):
                return True
        return False

    def check(self, code: int) -> None:
        ours, case = self.answer, self.case
        is_invalid = self.is_invalid()
        assert (ours["verdict"] == "invalid") == is_invalid, (case.seed, ours["verdict"], ours["because"])
        assert code == {"slower": 3, "invalid": 1}.get(ours["verdict"], 0), (case.seed, ours["verdict"], code)
        seen["invalid"] += is_invalid
        if is_invalid:
            return
        length = log_of("elapsed")
        lengths, means = self.effect(lambda run: run.length, lambda run: run.length / 1000), self.means(length)
        p = 2 * lengths.p_above(abs(lengths.d)) if lengths.has_error else None
        self.differ, ratio = not self.are_equal and p is not None and p <= 0.01, math.exp(means[1] - means[0])
        can_be_shorter = self.rule in ("exited", "free-lengths", "window", "work")
        self.are_shorter = can_be_shorter and ratio < (1 if self.differ else 0.8)
        self.totals = [Total(self, quantity, of) for quantity, of in zip(self.quantities, ours["measures"])]
        self.guards = [self.guard(quantity, of["guard"]) for quantity, of in zip(self.quantities, ours["measures"])]
        functions = self.functions()
        theirs = self.verdict(any(row["fails"] for row in functions)) | {
            "choice": self.rule,
            "n": sides(self.n),
            "lengths": {"ratio": ratio, "p": (p, lengths.rounding), "differ": self.differ,
                        "are_equal": self.are_equal, "deviation": self.s_l},
            "measures": [total.document | {"guard": guard and guard[0].document | {"confirms_claims": guard[1]}}
                         for total, guard in zip(self.totals, self.guards)],
            "blocks": [{side: sorted(self.row(run) for run in runs if run.value(self.quantities[0]) is not None)
                        for side, runs in sides(block).items()} for block in self.runs],
            "family": {"size": len(functions), "common_growth": self.common_growth},
            "functions": sorted(functions, key=lambda row: row["function"]),
            "noise_factor": self.noise_factor(),
        }
        names = ("value", "cpu_time", "recorded_ns", "cpu_use")
        ours["blocks"] = [{side: sorted([pathlib.Path(run["source"]).name, *map(run.get, names)] for run in runs)
                           for side, runs in block["runs"].items()} for block in ours["blocks"]]
        ours["functions"].sort(key=lambda row: row["function"])
        for row in ours["functions"]:
            row["moved_from"] = [relative["function"] for relative in row["moved_from"]]
        check("", ours, theirs, case.seed)

    def row(self, run: Run) -> list:
        return [run.source, run.value(self.quantities[0]), run.weight, run.length, run.rate(run.weight)]

    def noise_factor(self) -> float:
        chi = free = 0.0
        for runs in (runs for block in self.runs for runs in block if any(run.weight for run in runs)):
            weight, time, samples = (sum(x) for x in zip(*((run.weight, run.length, run.samples) for run in runs)))
            expected = [run.length * weight / time for run in runs]
            chi += sum((run.weight - mu) ** 2 / (mu * weight / samples) for run, mu in zip(runs, expected))
            free += len(runs) - 1
        return math.sqrt(max(1, chi / free if free else 1))

    def guard(self, quantity: str, ours: dict | None) -> tuple[Total, bool] | None:
        """The other quantity that must agree, and whether claims need it too."""
        is_requested = self.rule == "requested"
        other = "cpu-use" if quantity == "cpu-time" and not is_requested else "cpu-time"
        if other == quantity or not (self.differ or self.rule == "free-lengths"):
            return None
        return Total(self, other, ours), self.differ and not is_requested and quantity == "cpu-use"

    def functions(self) -> list[dict]:
        case, runs, total = self.case, self.counted, self.totals[0]
        self.is_use, level = self.quantities[0] == "cpu-use", 0.4 * case.alpha
        self.half = 0.5 * sum(run.weight for run in runs) / max(1, sum(run.samples for run in runs))
        is_slower = "total" in total.reasons(True, case.min_effect)
        samples: Counter = Counter()
        for run in runs:
            samples.update({name: count for name, count in run.counts.items() if name not in ("?", "")})
        self.lost = {name for name in ("?", "") if any(name in run.counts for run in runs)}
        has_family = not self.has_other_unnamed() and min(self.n) >= 5
        family = sorted(name for name, count in samples.items() if has_family and count >= 5 * len(runs))
        tests = {name: self.function([name]) for name in family}
        alone, p, d = {}, {}, {}
        for name, (effect, share, _) in tests.items():
            p[name] = alone[name] = effect.p_above(effect.d)
            d[name] = effect.d
            if is_slower:
                p[name], d[name] = max(alone[name], share.p_above(share.d)), min(effect.d, share.d)
        growth = {name: means[1] - means[0] for name, (_, _, means) in tests.items()}
        adjusted, adjusted_alone = (dict(zip(family, holm(np.array(list(of.values()))))) for of in (p, alone))
        two_sided = [2 * effect.p_above(abs(effect.d)) for effect, *_ in tests.values()]
        q = dict(zip(family, stats.false_discovery_control(two_sided))) if family else {}
        least = math.log1p(case.min_effect)
        named = [name for name in family if adjusted[name] <= level and d[name] >= least and growth[name] > 0]
        grew = sum(adjusted_alone[name] <= level and tests[name][0].d >= least for name in family) > 1
        of_base = self.means(lambda run: run.value("cpu-use" if self.is_use else "cpu-time"))[0]
        fell_behind = holm(np.array([share.p_above(-share.d) for _, share, _ in tests.values()]))
        is_common = is_slower and grew and not named
        self.common_growth = ("most" if (fell_behind <= level).any() else "all") if is_common else None
        # What the total surely did not grow by came from somewhere.
        is_cpu = self.quantities[0].startswith("cpu")
        most = of_base * math.expm1(total.effect.interval(0.005)[1]) if total.effect and is_cpu else math.inf
        moved = self.moved(named, family, growth, most)
        rows = []
        for name, (effect, _, means) in tests.items():
            is_named, (lower, upper) = name in named and not moved[name], effect.interval(level)
            rows.append({
                "function": name, "is_slower": is_named, "moved_from": moved.get(name, []),
                "fails": is_named and growth[name] >= case.min_effect * of_base, "mean": sides(means),
                "ratio": math.exp(effect.d), "lower": math.exp(lower), "upper": exp(upper),
                "p": p[name], "p_holm": float(adjusted[name]), "q": float(q[name]),
            })
        seen.update(f"function {kind}" for row in rows for kind in ("is_slower", "fails", "moved_from") if row[kind])
        seen[f"grew: {self.common_growth}"] += 1
        return rows

    def has_other_unnamed(self) -> bool:
        """True if the weight of unnamed code changed, in relation to that of the binary."""
        if "?" not in self.lost:
            return False
        few, of = [0.0, 0.0], [0.0, 0.0]
        for run in self.counted:
            few[run.side] += run.sample * run.counts.get("?", 0)
            of[run.side] += run.sample * (run.samples - run.counts.get("", 0))
        runs = [sum(run.side == side for run in self.counted) or 1 for side in (0, 1)]
        means, most = [x / n for x, n in zip(few, runs)], max(x / n for x, n in zip(of, runs))
        if min(of) == 0 or abs(means[0] - means[1]) <= 0.05 * most:
            return False
        effect = self.function(["?"])[0]
        return not effect.has_error or 2 * effect.p_above(abs(effect.d)) <= 0.01 / len(self.lost)

    def function(self, names: list) -> tuple[Effect, Effect, list[float]]:
        """Of functions taken as one: the effect, that on its share, and the means."""
        samples = lambda run: sum(run.counts.get(name, 0) for name in names)  # noqa: E731
        weight = lambda run: run.sample * samples(run)  # noqa: E731
        more = lambda run: weight(run) + self.half if run.weight else None  # noqa: E731
        effect = self.effect(lambda run: more(run) and more(run) / (run.length if self.is_use else 1), samples)
        share = self.effect(lambda run: more(run) and more(run) / (run.weight - weight(run) + self.half), samples)
        return effect, share, self.means(lambda run: run.rate(weight(run)) if self.is_use else weight(run))

    def moved(self, named: list, family: list, growth: dict, most: float) -> dict[str, list]:
        """For each named function, the partners that explain its growth."""
        stacks = {tuple(stack_of(name)) for run in self.case.runs for name in run.counts if name}
        calls = {(caller, callee) for s in stacks for callee, caller in zip(s, [*s[1:], None])}
        unused, found = {}, {}
        for name in sorted(named, key=lambda name: -growth[name]):
            callers = {caller for caller, callee in calls if callee == name}
            relatives = {callee for caller, callee in calls if caller == name or caller in callers} | callers
            # A dataset has no call trees.
            is_anywhere = self.case.is_dataset or growth[name] > most
            relatives = ((set(family) if is_anywhere else relatives) | self.lost) - {name, None}
            fell = []
            for relative in relatives:
                effect, _, (base, new) = self.function([relative])
                if effect.p_above(-effect.d) <= 0.05 / len(relatives) and unused.setdefault(relative, base - new) > 0:
                    fell.append(relative)
            partners, falls = [], 0.0
            for relative in sorted(fell, key=lambda relative: -unused[relative]):
                if falls < growth[name]:
                    partners.append(relative)
                    falls += unused[relative]
            effect = self.function([name, *partners])[0]
            is_moved = falls >= growth[name] / 2 and effect.p_above(effect.d) > 0.005
            left, found[name] = growth[name], partners if is_moved else []
            for relative in found[name]:
                used = min(unused[relative], left)
                unused[relative], left = unused[relative] - used, left - used
        return found

    def claims(self, is_slower: bool) -> list[str]:
        found = []
        for total, guard in zip(self.totals, self.guards):
            if not guard or not guard[1] or guard[0].reasons(is_slower, self.case.min_effect):
                found += total.reasons(is_slower, self.case.min_effect)
        return found if min(self.n) >= 3 else []

    def verdict(self, function_fails: bool) -> dict:
        totals = self.totals + [guard[0] for guard in self.guards if guard]
        os = [{run.labels["os"] for run in side} - {""} for side in self.sides]
        has_more_idle = any(total.idle and total.idle[0] <= total.slower for total in totals)
        obstacles = ["confounded"] if all(os) and not os[0] & os[1] else []
        cores = np.array([run.rate(run.weight) / 100 for run in self.counted])
        is_near = (cores.round() >= 1) & (abs(cores - cores.round()) <= 0.03)
        obstacles += ["saturated"] if self.quantities[0] == "cpu-use" and is_near.sum() >= 0.9 * len(cores) else []
        bounds, needed = [total.bound for total in totals], [total.needed for total in totals]
        could_hide = None if None in bounds else max(0.0, *map(math.expm1, bounds))
        units = None if None in needed else sides([math.ceil(max(needed) * n) for n in self.n])
        # There are enough units that are not idle, so what could hide is in the share of idle ones.
        if units and any(total.idle for total in totals) and all(units[side] <= n for side, n in zip(("base", "new"), self.n)):
            units = None
        slower, faster, because = self.claims(True) + ["function"] * function_fails, self.claims(False), None
        if slower:
            verdict = "slower"
        elif min(self.n) < 3 or self.are_shorter or has_more_idle:
            verdict = "unknown"
            because = "few-units" if min(self.n) < 3 else "shorter" if self.are_shorter else "more-idle"
        elif faster:
            verdict = "faster"
        elif could_hide is not None and could_hide < self.case.min_effect and not obstacles:
            verdict = "no-slowdown"
        else:
            verdict, because = "unknown", next(iter(obstacles), None)
        reasons = {"slower": slower, "faster": faster}.get(verdict, [])
        seen.update([verdict, self.rule, *reasons, because])
        is_unknown = verdict == "unknown"
        return {"verdict": verdict, "reasons": reasons, "because": because,
                "could_hide": could_hide and (could_hide, 1e-12) if is_unknown else None, "needed_runs": units if is_unknown else None}


def main() -> None:
    command, cases, *first = sys.argv[1:]
    for seed in range(*map(int, first), int(cases)):
        case = Case(seed)
        answer, code = case.answer(command)
        with np.errstate(all="ignore"):
            Comparison(case, answer).check(code)
    print(dict(seen.most_common()), "largest distances:", ", ".join(f"{name} {d:.1e}" for name, d in worst.items()))


if __name__ == "__main__":
    main()
