#!/usr/bin/env python3
"""How often `traceparse diff --alert` fires on pairs of recordings of one program, and of one that grew.

    diff_noise.py [--traceparse PROGRAM] [--pairs 2000] [--samples 2000]

Recordings are invented: a Poisson number of samples of 40 functions, whose weights are equal, or as unequal as the cycles of real recordings
(log-normal, of which three count for one). Ends with exit code 1 where more than 3 % of like pairs fire, or less than 80 % of those that grew by
10 % and have enough samples.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FUNCTIONS = 40
SHARES = [1 / (1 + index) for index in range(FUNCTIONS)]
HEAD = """<?xml version="1.0"?>
<trace-query-result>
<node xpath='//trace-toc[1]/run[1]/data[1]/table[5]'><schema name="cpu-profile">\
<col><mnemonic>time</mnemonic><name>Sample Time</name><engineering-type>sample-time</engineering-type></col>\
<col><mnemonic>thread</mnemonic><name>Thread</name><engineering-type>thread</engineering-type></col>\
<col><mnemonic>process</mnemonic><name>Process</name><engineering-type>process</engineering-type></col>\
<col><mnemonic>core</mnemonic><name>Core</name><engineering-type>core</engineering-type></col>\
<col><mnemonic>thread-state</mnemonic><name>State</name><engineering-type>thread-state</engineering-type></col>\
<col><mnemonic>weight</mnemonic><name>Cycles</name><engineering-type>cycle-weight</engineering-type></col>\
<col><mnemonic>stack</mnemonic><name>Backtrace</name><engineering-type>backtrace</engineering-type></col></schema>
"""
FIRST = """<thread id="1" fmt="Main Thread 0x1 (app, pid: 7)"><tid id="2" fmt="0x1">1</tid><process id="3" fmt="app (7)">\
<pid id="4" fmt="7">7</pid></process></thread><process ref="3"/><core id="5" fmt="CPU 0 (P Core)">0</core>\
<thread-state id="6" fmt="Running">Running</thread-state>"""
OTHERS = """<thread ref="1"/><process ref="3"/><core ref="5"/><thread-state ref="6"/>"""


def poisson(rng, mean):
    """A Poisson number: arrivals in an interval."""
    count, time = 0, rng.expovariate(1)
    while time < mean:
        count, time = count + 1, time + rng.expovariate(1)
    return count


def write_recording(path, rng, samples, is_equal):
    """Writes an export with that many samples on average."""
    stacks, rows, next_id = {}, [], 100
    for index in range(poisson(rng, samples)):
        function = rng.choices(range(FUNCTIONS), SHARES)[0]
        weight = 1_000_000 if is_equal else round(1_000_000 * rng.lognormvariate(0, 1.04))
        if function in stacks:
            stack = f'<backtrace ref="{stacks[function]}"/>'
        else:
            stacks[function], next_id = next_id, next_id + 2
            stack = (f'<backtrace id="{stacks[function]}"><frame id="{stacks[function] + 1}" name="function_{function}" '
                     f'addr="{4096 * (function + 1):#x}"/></backtrace>')
        cells = OTHERS if rows else FIRST
        rows.append(f'<row><sample-time id="{next_id}">{index * 1_000_000}</sample-time>{cells}'
                    f'<cycle-weight id="{next_id + 1}">{weight}</cycle-weight>{stack}</row>\n')
        next_id += 2
    path.write_text(HEAD + "".join(rows) + "</node>\n</trace-query-result>\n")


def fires(arguments, seed, samples, growth, is_equal, rules):
    """Which rules fire on a pair, as a list of truth values."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder, "a.xml"), pathlib.Path(folder, "b.xml")
        write_recording(before, rng, samples, is_equal)
        write_recording(after, rng, samples * growth, is_equal)
        found = []
        for rule in rules:
            result = subprocess.run([arguments.traceparse, "diff", before, after, "--alert", rule, "-o", "/dev/null"],
                                    capture_output=True, text=True)
            if result.returncode not in (0, 3, 4):
                sys.exit(result.stderr)
            found.append(result.returncode == 3)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--traceparse", default="target/release/traceparse")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=2000)
    arguments = parser.parse_args()
    rules = ["total > 5%", "function(*).self > 0%"]
    is_right = True
    with ThreadPoolExecutor(2) as pool:
        for is_equal in (True, False):
            # As many effective samples.
            samples = arguments.samples if is_equal else 3 * arguments.samples
            for growth in (1.0, 1.1):
                some = pool.map(lambda seed: fires(arguments, seed, samples, growth, is_equal, rules), range(arguments.pairs))
                shares = [sum(column) / arguments.pairs for column in zip(*some)]
                weights = "equal weights" if is_equal else "unequal weights"
                print(f"{samples} samples, {weights}, growth {growth - 1:.0%}: "
                      + ", ".join(f"{rule} fires in {share:.1%}" for rule, share in zip(rules, shares)), flush=True)
                is_right &= max(shares) <= 0.03 if growth == 1 else shares[0] >= 0.8
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
