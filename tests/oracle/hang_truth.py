"""Invents recordings and reports of hangs whose truth is known, and judges what `traceparse hangs` says of them.

    hang_truth.py COMMAND SEED COUNT [FOLDER]

A case is a situation, such as a convoy of lock holders or a loop of frames, with random lengths. An answer is wrong if its word, bounds, cause,
holder or busy threads contradict the truth; *unknown* is never wrong, and the function that a hang is "mostly in" must be in its samples. Inputs with wrong
answers are kept in the folder.
"""

import json
import random
import subprocess
import sys
import tempfile
from bisect import bisect
from collections import Counter, defaultdict
from pathlib import Path

MS = 1_000_000
LIBRARIES = {"dyld": "/usr/lib/dyld", "cf": "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"}
LIBRARIES |= {name: f"/usr/lib/system/libsystem_{name}.dylib" for name in ("pthread", "c")}
LIBRARIES |= {"dispatch": "/usr/lib/system/libdispatch.dylib", "sys": "/usr/lib/system/libsystem_kernel.dylib"}
LIBRARIES |= {"App": "/Applications/App.app/Contents/MacOS/App", "xnu": "/System/Library/Kernels/kernel"}
SHOWN = {name: path.rsplit("/", 1)[1] for name, path in LIBRARIES.items()}
LOADS = {name: (1 + at) << 32 for at, name in enumerate(LIBRARIES)} | {"xnu": 0xFFFFFF8000200000}
STATES = {"R": "Running", "Q": "Runnable", "P": "Preempted", "T": "Throttled", "B": "Blocked", "U": "Unknown", "S": "Suspended"}
WORDS = {"R": " (running)", "Q": " (runnable)", "P": " (runnable)", "T": " (runnable)", "S": " (suspended)"}
LOCK = "App:Store.save pthread:_pthread_mutex_lock sys:__psynch_mutexwait"
COND = "App:Pool.next pthread:_pthread_cond_wait sys:__psynch_cvwait"
# What a thread does: its state, its functions, the kernel's function in reports, and what it waits for. Unnamed functions are the app's.
DOES = {
    "run": ("R", "Store.load Store.parse", "", None),
    "render": ("R", "Scene.draw Mesh.build", "", None),
    "flush": ("R", "Store.flush compress", "", None),
    "decode": ("R", "Video.decode idct", "", None),
    "queued": ("Q", "Store.load Store.parse", "", None),
    "preempted": ("P", "Store.flush compress", "", None),
    "throttled": ("T", "Store.load Store.parse", "", None),
    "lost state": ("U", "Store.load Store.parse", "", None),
    "suspended": ("S", LOCK, "", None),
    "lock": ("B", LOCK, "psynch_mtxcontinue", "a lock"),
    "unfair": ("B", "Store.save pthread:os_unfair_lock_lock sys:__ulock_wait2", "ulock_wait_continue", "a lock"),
    "cond": ("B", COND, "psynch_cvcontinue", "a signal or an event"),
    "switched": ("B", COND, "thread_block_reason xnu:machine_switch_context", "a signal or an event"),
    "net": ("B", "Net.fetch dispatch:_dispatch_sema4_wait sys:semaphore_wait_trap", "semaphore_wait_continue", "a signal or an event"),
    "disk": ("B", "Store.read sys:pread", "buf_biowait", "I/O"),
    "xpc": ("B", "Keychain.ask dispatch:_dispatch_mach_send_and_wait_for_reply sys:mach_msg2_trap", "ipc_mqueue_receive_continue", "a message"),
    "sleep": ("B", "Retry.wait c:usleep c:nanosleep sys:__semwait_signal", "semaphore_wait_continue", "the end of a sleep"),
    "idle": ("B", "cf:__CFRunLoopServiceMachPort sys:mach_msg sys:mach_msg2_trap", "ipc_mqueue_receive_continue", "events of its run loop"),
    "pool": ("B", "pthread:start_wqthread sys:__workq_kernreturn", "workq_unpark_continue", "work"),
    # Nothing holds what these wait for, although some use the call of locks.
    "group": ("B", "Store.sync dispatch:_dispatch_group_wait_slow sys:__ulock_wait", "ulock_wait_continue", "a signal or an event"),
    "join": ("B", "Store.stop pthread:_pthread_join sys:__ulock_wait", "ulock_wait_continue", "the end of a thread"),
    "until": ("B", "Retry.wait sys:mach_wait_until", "thread_block_reason", "the end of a sleep"),
    "socket": ("B", "Net.send sys:__sendto", "sbwait", "I/O"),
    # These are on the CPU in a system call.
    "cached": ("R", "Store.read sys:pread", "copyio", None),
    "scan": ("R", "Store.scan sys:stat64", "unix_syscall64", None),
}


def share(shares, states):
    return sum(part for does, part in shares.items() if DOES[does][0] in states)


def functions(does, is_main, deep=0, kernel=False):
    path = ["dyld:start", "main"] if is_main else ["pthread:thread_start"]
    path += ["Tree.visit"] * deep + DOES[does][1].split() + ([f"xnu:{DOES[does][2]}"] if kernel and DOES[does][2] else [])
    return tuple(name if ":" in name else f"App:{name}" for name in " ".join(path).split())


def address(name):
    return LOADS[name.split(":")[0]] + 4096 + 64 * (sum(ord(letter) * (at + 7) for at, letter in enumerate(name)) % 9973)


def turns(rng, start, end, text, jitter=0.3):
    """Parts (start, end, does) by a text such as `run 3 lock 7`, in milliseconds; one without a number is the whole."""
    words, found = text.rsplit(maxsplit=1), []
    if not words[-1].replace(".", "").isdigit():
        return [(start, end, text)]
    words = text.split()
    while start < end:
        for does, length in zip(words[::2], words[1::2]):
            stop = min(end, start + float(length) * MS * rng.uniform(1 - jitter, 1 + jitter))
            found += [(start, stop, does)] if stop > start else []
            start = stop
    return found


class Thread:
    def __init__(self, tid, parts, pid=100, name=None):
        self.tid, self.parts, self.pid, self.deep, self.is_main = tid, parts, pid, 0, tid % 10 == 1
        self.name, self.core = name or ("Main Thread" if self.is_main else f"worker {tid}"), lambda time: tid % 8

    def does(self, time):
        at = bisect(self.parts, time, key=lambda part: part[0]) - 1
        return self.parts[at][2] if at >= 0 and time < self.parts[at][1] else None

    def shares(self, start, end):
        shares = Counter()
        for begin, stop, does in self.parts:
            shares[does] += max(0, min(stop, end) - max(begin, start)) / (end - start)
        return +shares


class Recording:
    """Threads, their samples by the table of a run, and hangs as (start, end or None, thread)."""

    def __init__(self, rng, threads, hangs, **options):
        self.rng, self.threads, self.hangs, self.end = rng, threads, hangs, max(part[1] for thread in threads for part in thread.parts)
        self.interval, self.cycles, self.states, self.both, self.row_has_thread, self.holders, self.run = MS, None, False, False, True, set(), 1
        self.keeps, self.clock = lambda time, tid, is_cycles: True, lambda core, time: 2.0 if core >= 10 else 3.2
        self.__dict__.update(options)

    def timed(self):
        for number in range(int(self.end / self.interval)):
            time = int((number + self.rng.uniform(0.4, 0.6)) * self.interval)
            for thread in self.threads:
                does = thread.does(time)
                if does and (self.states or DOES[does][0] == "R") and self.keeps(time, thread.tid, False):
                    yield time, thread, self.interval, does

    def counted(self):
        """Each core counts cycles, whichever thread uses it."""
        step, left = MS // 20, defaultdict(lambda: self.rng.random() * self.cycles)
        for time in range(0, int(self.end), step):
            cores = defaultdict(list)
            for thread in self.threads:
                if DOES[thread.does(time) or "pool"][0] == "R":
                    cores[thread.core(time)].append(thread)
            for core, running in cores.items():
                left[core] += step * self.clock(core, time)
                if left[core] >= self.cycles:
                    left[core] -= self.cycles
                    thread = self.rng.choice(running)
                    if self.keeps(time, thread.tid, True):
                        yield time, thread, self.cycles, thread.does(time)

    def truths(self):
        for start, end, thread in self.hangs:
            process = [other for other in self.threads if other.pid == thread.pid]
            yield start, thread.tid, {other.tid: other.shares(start, end or self.end) for other in process}


class Export:
    """What xctrace exports: the first element with a content has an id, and later ones refer to it."""

    def __init__(self, recordings):
        self.ids, self.text, self.tables = {}, '<?xml version="1.0"?>\n<trace-query-result>\n', 0
        for recording in recordings:
            for is_cycles in [False, True] if recording.both else [recording.cycles is not None]:
                weight = "cycle-weight" if is_cycles else "weight"
                types = ["sample-time", "thread", "process", "core", "thread-state", weight, "tagged-backtrace"]
                rows = (self.sample(weight, *row) for row in (recording.counted() if is_cycles else recording.timed()))
                names = ["time", "thread", "process", "core", "thread-state", "weight", "stack"]
                self.table(recording.run, "cpu-profile" if is_cycles else "time-profile", zip(names, types), rows)
            types = ["start-time", "duration", "hang-type", "thread", "process"]
            rows = (self.hang(*hang, recording.row_has_thread) for hang in recording.hangs)
            if recording.hangs:
                self.table(recording.run, "potential-hangs", zip(["start", *types[1:]], types), rows)
        self.text += "</trace-query-result>\n"

    def table(self, run, schema, columns, rows):
        self.tables += 1
        head = "".join(f"<col><mnemonic>{name}</mnemonic><engineering-type>{kind}</engineering-type></col>" for name, kind in columns)
        self.text += f"<node xpath='//trace-toc[1]/run[{run}]/data[1]/table[{self.tables}]'><schema name=\"{schema}\">{head}</schema>"
        self.text += "".join(f"<row>{''.join(row)}</row>\n" for row in rows) + "</node>\n"

    def one(self, kind, key, content=None, fmt=None, attributes=""):
        if (kind, key) in self.ids:
            return f'<{kind} ref="{self.ids[kind, key]}"/>'
        own = self.ids[kind, key] = len(self.ids) + 1
        label = attributes or f' fmt="{fmt or key}"'
        return f'<{kind} id="{own}"{label}>{key if content is None else content()}</{kind}>'

    def process(self, pid):
        return self.one("process", pid, lambda: self.one("pid", pid), f"App ({pid})")

    def thread(self, thread):
        label = f"{thread.name} {thread.tid:#x} (App, pid: {thread.pid})"
        return self.one("thread", label, lambda: self.one("tid", thread.tid) + self.process(thread.pid))

    def frame(self, name):
        library, function = name.split(":")
        place = f' name="{SHOWN[library]}" UUID="00000000-0000-0000-0000-00000000000{list(LOADS).index(library)}" arch="arm64" load-addr="{LOADS[library]:#x}" path="{LIBRARIES[library]}"'
        binary = lambda: self.one("binary", library, str, attributes=place)  # noqa: E731
        return self.one("frame", name, binary, attributes=f' name="{function}" addr="{address(name):#x}"')

    def sample(self, weight, time, thread, amount, does):
        core = thread.core(time)
        yield self.one("sample-time", time) + self.thread(thread) + self.process(thread.pid)
        yield self.one("core", core, fmt=f"CPU {core} ({'E' if core >= 10 else 'P'} Core)") + self.one("thread-state", STATES[DOES[does][0]])
        path = functions(does, thread.is_main, thread.deep)
        whole = lambda: "".join(map(self.frame, reversed(path)))  # noqa: E731
        yield self.one(weight, amount) + self.one("tagged-backtrace", path, lambda: self.one("backtrace", path, whole, attributes=" "), "x")

    def hang(self, start, end, thread, has_thread):
        yield self.one("start-time", int(start)) + ("<sentinel/>" if end is None else self.one("duration", int(end - start)))
        yield self.one("hang-type", "Hang") + (self.thread(thread) if has_thread else "<sentinel/>") + self.process(thread.pid)


class Report:
    """A report of `sample` or spindump of threads (tid, name or None for the main thread, `does samples …`)."""

    def __init__(self, rng, *threads, kind=None, states=True, version=40, seconds=None, others=(), owner=None, holders=()):
        self.is_sample, self.states, self.owner, self.holders = (kind or rng.choice(["sample", "spindump"])) == "sample", states, owner, set(holders)
        own = [(tid, name, text.split()) for tid, name, text in threads]
        self.threads = [(tid, name, list(zip(words[::2], map(int, words[1::2])))) for tid, name, words in own]
        steps = sum(count for _, count in self.threads[0][2])
        date = "Date/Time:        2026-01-07 19:00:41.615 +0100\nOS Version:       macOS 14.5 (23F79)\n"
        images = [f"{load:#x} - {load + 0xFFFFFF:#x} {SHOWN[name]} (1.0) <00000000-0000-0000-0000-00000000000{at}> {LIBRARIES[name]}\n" for at, (name, load) in enumerate(LOADS.items())]
        if self.is_sample:
            self.text = f"Analysis of sampling App (pid 100) every 1 millisecond\nProcess:         App [100]\nPath:            {LIBRARIES['App']}\n"
            self.text += f"{date}Report Version:  7\nAnalysis Tool:   /usr/bin/sample\n----\n\nCall graph:\n{''.join(map(self.of_thread, self.threads))}\n"
            self.text += "Total number in stack (recursive counted multiple, when >=5):\n\n"
            self.text += "Sort by top of stack, same collapsed (when >= 5):\n\nBinary Images:\n" + "".join("       " + image for image in images[:-1])
            return
        self.text = f"{date}Report Version:   {version}\nData Source:      Stackshots\n\nCommand:          App\nPID:              100\n\nEvent:            hang\n"
        self.text += f"Duration:         {seconds or steps / 10:.2f}s\nSteps:            {steps} (100ms sampling interval)\n\n"
        for pid, threads in [(100, self.threads), *([(200, others)] if others else [])]:
            self.text += f"Process:          App{pid} [{pid}]\nPath:             {LIBRARIES['App']}\nNum samples:      {steps} (1-{steps})\n\n"
            self.text += "".join(map(self.of_thread, threads)) + "  Binary Images:\n" + "".join(f"  {'*' if 'f8' in image else ' '}{image}" for image in images) + "\n"

    def of_thread(self, thread):
        tid, name, parts = thread
        count = sum(samples for _, samples in parts)
        title = f": {name}" if name else "   DispatchQueue_1: com.apple.main-thread  (serial)"
        text = f"    {count} Thread_{tid}{title}\n"
        if not self.is_sample:
            title = f'Thread name "{name}"' if name else 'DispatchQueue "com.apple.main-thread"(1)'
            text = f"  Thread {tid:#x}    {title}    {count} samples (1-{count})    priority 46 (base 46)\n"
        for does, samples in parts:
            path = functions(does, name is None, kernel=not self.is_sample)
            for depth, frame in enumerate(path):
                (library, function), indent, at = frame.split(":"), "  " * depth, address(frame)
                if self.is_sample:
                    text += f"      {indent}{samples} {function}  (in {SHOWN[library]}) + 8  [{at:#x}]\n"
                    continue
                word = WORDS.get(DOES[does][0], "") if self.states and depth == len(path) - 1 else ""
                word = f" (blocked by turnstile waiting for App [100] thread {self.owner:#x})" if library == "xnu" and name is None and self.owner else word
                text += f"{indent} {'*' if library == 'xnu' else ' '}{samples}  {function} + 8 ({SHOWN[library]} + {at - LOADS[library]}) [{at:#x}]{word}\n"
        return text + ("" if self.is_sample else "\n")

    def truths(self):
        yield None, 1, {tid: Counter({does: count / sum(n for _, n in parts) for does, count in parts}) for tid, _, parts in self.threads}


def hang(rng, text, *others, deep=0, name=None, core=None, is_open=False, keeps=None, **options):
    """A hang in which the main thread does one of `text`; the others are `TID does`, or `TID before/in the hang/after`."""
    start = rng.randint(150, 400) * MS
    end = start + rng.randint(250, 1500) * MS
    last = end if is_open else end + 300 * MS
    main = Thread(1, turns(rng, 0, start, rng.choice(["run", "run 4 idle 12"])) + turns(rng, start, end, rng.choice(text.split("|"))), name=name)
    main.parts += [] if is_open else [(end, last, "idle")]
    main.deep, main.core, threads = deep, (lambda time: 1 if time < (start + end) / 2 else 11) if core else main.core, [main]
    for tid, parts in (other.split(" ", 1) for other in others):
        parts = parts.split("/") if "/" in parts else [parts] * 3
        ranges = zip([0, start - 8 * MS, end], [start - 8 * MS, end, last], parts)
        threads.append(Thread(int(tid), [part for begin, stop, does in ranges for part in turns(rng, begin, stop, does)]))
    options |= {"keeps": keeps(start, end)} if keeps else {}
    return Recording(rng, threads, [(start, None if is_open else end, main)], **options)


def table(rng, **others):
    kinds = [{"cycles": MS}, {"cycles": 10 * MS}, {"interval": MS}, {"interval": 10 * MS}, {"states": True}, {"states": True, "interval": 10 * MS}]
    return rng.choice(kinds) | others


def several(rng):
    """Hangs of two runs, or of two processes with equal names, two of which touch."""
    first, second = hang(rng, "run|lock|net", "3 decode"), hang(rng, "run|lock|disk", "3 decode", **table(rng))
    if rng.random() < 0.5:
        second.run = 2
        return [first, second]
    (start, end, main), other = second.hangs[0], Thread(21, turns(rng, 0, second.end, "run"), 200)
    second.threads += [other, Thread(23, [(0, second.end, "pool")], 200)]
    second.hangs = [(start, (start + end) // 2, main), ((start + end) // 2, end, main), (start + 1, end, other)]
    return [second]


def frames(rng):
    """A loop that draws 60, 90 or 120 times a second; no hang is recorded."""
    frame, part = 1e3 / rng.choice([60, 90, 120]), rng.choice([0.2, 0.5, 0.6])
    main = Thread(1, turns(rng, 0, 2000 * MS, f"run {frame * part} idle {frame * (1 - part)}", jitter=0.02))
    return Recording(rng, [main, Thread(3, [(0, 600 * MS, "decode")])], [], **table(rng))


def spans(least, most):
    """Loses the samples of a part of a hang."""
    return lambda start, end: lambda time, *_: not start + least * (end - start) <= time < start + most * (end - start)


def bursts(lost, period):
    return lambda *_: lambda time, *_: time % (period * MS) >= lost * MS


TURNS = "run 2 lock 8|run 5 disk 5|run 9 lock 1|run 30 xpc 70|run 70 disk 30|run 1 lock 40|run 8 idle 8.6|run 1 idle 7.3|run 7 idle 1.3"
OTHERS = ("3 decode", "4 pool")
SITUATIONS = [
    lambda rng: hang(rng, "net|xpc|disk|sleep|cond|unfair|idle", *OTHERS, **table(rng)),
    lambda rng: hang(rng, "lock", "2 pool/flush 90 lock 180/pool", "3 pool/lock 90 flush 90 lock 90/pool", "4 pool/lock 180 flush 90/pool", states=True),
    lambda rng: hang(rng, TURNS, *OTHERS, **table(rng)),
    lambda rng: hang(rng, "run 1 lock 4|run 3 lock 2|run 0.4 lock 0.4", "4 pool", interval=MS // 10, states=rng.random() < 0.5),
    lambda rng: hang(rng, "throttled 20 run 1|queued 3 run 8|queued 5 run 5|throttled 12 run 3", "3 decode", states=True),
    lambda rng: hang(rng, "run|run 3 xpc 7", "3 decode", core=True, cycles=rng.choice([1, 5]) * MS),
    lambda rng: hang(rng, "run|run 20 lock 20|run 3 lock 12", "3 decode", cycles=MS, clock=lambda core, time: 0.6 + 3.8 * min(1, time % (300 * MS) / (50 * MS))),
    lambda rng: hang(rng, "run", "3 decode", cycles=MS, clock=lambda core, time: 3.2 if core == 3 else 0.45),
    lambda rng: hang(rng, "run|xpc|lock", *OTHERS, is_open=True, **table(rng)),
    several,
    lambda rng: hang(rng, "run|lock", *OTHERS, name=rng.choice([None, "Renderer"]), row_has_thread=False, **table(rng)),
    lambda rng: hang(rng, "run|unfair|sleep|idle", *OTHERS, deep=rng.choice([30, 300]), **table(rng)),
    lambda rng: hang(rng, "run|run 5 lock 20|run 10 lock 10", *OTHERS, both=True, cycles=MS, states=rng.random() < 0.5),
    lambda rng: hang(rng, "run|lock", *OTHERS, both=True, cycles=MS, keeps=lambda *_: lambda time, tid, is_cycles: is_cycles or time < 50 * MS),
    lambda rng: hang(rng, "lock|unfair", "2 pool/flush/pool", "4 pool", states=True, holders={2}),
    lambda rng: hang(rng, "run|lock", "3 decode", keeps=spans(*rng.choice([(-9, 0.05), (-9, 0.5), (-9, 1), (0.5, 9), (0.97, 9), (-0.1, 1.1)])), **table(rng)),
    lambda rng: hang(rng, "run|lock", *OTHERS, keeps=lambda *_: lambda time, tid, _: tid != 1, **table(rng)),
    lambda rng: hang(rng, "run|lock", *OTHERS, keeps=bursts(*rng.choice([(5, 30), (60, 200)])), states=True),
    frames,
    lambda rng: Report(rng, (1, None, rng.choice(["lock", "unfair", "cond", "net", "xpc", "sleep", "disk"]) + " 60"), (4, "pool", "pool 60")),
    lambda rng: Report(rng, (1, None, rng.choice(["run 60", "render 60", "run 40 lock 20", "run 10 lock 50"])), (2, "saver", "lock 60")),
    lambda rng: Report(rng, (1, None, "lock 60"), (2, "saver", "flush 60"), (4, "pool", "pool 60"), holders={2}),
    lambda rng: Report(rng, (1, None, "lock 60"), (4, "pool", "pool 60"), kind="spindump", seconds=rng.choice([9.0, 20.0])),
    lambda rng: Report(rng, (1, None, rng.choice(["lock 6", "run 6"])), (4, "pool", "pool 6")),
    # Once, the answers to these were wrong.
    lambda rng: hang(rng, "lock", "2 pool/preempted 20 flush 3/pool", "4 pool", "5 decode", states=True, holders={2}),
    lambda rng: hang(rng, "run|lock", "4 pool", keeps=bursts(*rng.choice([(14, 20), (16, 19), (12, 60)])), **table(rng)),
    lambda rng: hang(rng, "run 35 queued 45 lock 20", "3 decode", states=True),
    lambda rng: hang(rng, "queued 80 xpc 10 run 10", "3 decode", states=True),
    lambda rng: hang(rng, "group|join", "2 pool/flush/pool", "4 pool", states=True),
    lambda rng: hang(rng, "lock", "2 flush/flush/pool", "3 pool/net/pool", states=True, holders={3}),
    lambda rng: hang(rng, "lost state", "3 decode", states=True),
    lambda rng: Report(rng, (1, None, "lock 60"), (2, "saver", "flush 60"), (3, "draws", "render 40 disk 20"), holders={3}),
    lambda rng: Report(rng, (1, None, rng.choice(["group 60", "join 60"])), (2, "saver", "flush 60")),
    lambda rng: Report(rng, (1, None, rng.choice(["until 60", "socket 60"])), (2, "saver", "flush 60"), kind="sample"),
    lambda rng: Report(rng, (1, None, rng.choice(["cached 60", "scan 60"])), (4, "pool", "pool 60"), kind="sample"),
    lambda rng: Report(rng, (1, None, "switched 60"), (4, "pool", "pool 60"), kind="spindump", version=18, states=False),
    lambda rng: Report(rng, (1, None, "suspended 60"), (4, "pool", "pool 60"), kind="spindump"),
    lambda rng: Report(rng, (1, None, "lock 60"), (4, "pool", "pool 60"), kind="spindump", others=[(21, None, [("idle", 60)])]),
    lambda rng: Report(rng, (1, None, "lock 60"), (2, "saver", "flush 60"), (9, "o", "net 60"), kind="spindump", owner=9, holders={9}),
    lambda rng: Report(rng, (1, None, "lock 60"), (2, "saver", "flush 60"), kind="spindump", owner=rng.choice([1, 99])),
]


def judge(found, text, tid, threads, holders):
    """What is wrong with the answer on a hang, and with its text, if it is the only one."""
    own, it, wrong = threads[tid], found["activity"], []
    on, queued = share(own, "R"), share(own, "QPT")
    word, low, high, cause, holder = (it[key] for key in ["verdict", "least_cpu_percent", "most_cpu_percent", "waits_for", "holder"])
    allowed = {"busy": on >= 0.69, "starved": queued >= 0.48, "waiting": on <= 0.21 and queued <= 0.22 and share(own, "BS") >= 0.6, "unknown": True}
    allowed |= {"off-cpu": on <= 0.21, "partly-busy": 0.19 <= on <= 0.71, "not-busy": on <= 0.51, "in-code": on + queued >= 0.79}
    if found["tid"] not in (tid, None) or not allowed[word] or (low is not None and not low - 2 <= 100 * on <= high + 2):
        wrong.append(f"thread {found['tid']} {word}, {low} to {high} %, but {on:.1%} running and {queued:.1%} ready")
    causes = Counter()
    for does, part in own.items():
        causes["a core" if DOES[does][0] in "QPT" else DOES[does][3]] += part if DOES[does][0] != "R" else 0
    wrong += [f"waits for {cause}, but {dict(causes)}"] if cause and max(causes, key=causes.get) != cause else []
    wrong += [f"held by {holder}, but {holders or 'nothing'}"] if holder and holder["tid"] not in holders else []
    wrong += [f"{busy['tid']} was not busy" for busy in it["also_busy"] if share(threads.get(busy["tid"], {}), "R") < 0.65]
    head, row = next((pair for pair in zip(text, text[1:]) if pair[0].endswith("mostly in")), ("", ""))
    place = row[len(head) - len("mostly in") :].split("  ")[0].strip()
    there = sum(part for does, part in own.items() if f":{place}" in " ".join(functions(does, True, 1)))
    wrong += [f"mostly in {place}, but for {there:.0%}"] if place and there < 0.45 else []
    return wrong


def check(command, case, path):
    """The words of the answer, and what is wrong."""
    cases = case if isinstance(case, list) else [case]
    path.write_text(case.text if isinstance(case, Report) else Export(cases).text)
    run = lambda *more: subprocess.run([command, "hangs", *more, path], capture_output=True, text=True, check=True, timeout=100).stdout  # noqa: E731
    hangs, text, wrong = json.loads(run("--format", "json"))["hangs"], run().split("\n"), []
    truths = [(getattr(one, "run", 1), truth, one.holders) for one in cases for truth in one.truths()]
    for run, (start, tid, threads), holders in truths:
        own = [found for found in hangs if found["run"] == run and found["start_ns"] == start and found["tid"] in (None, tid)]
        wrong += judge(own[0], text if len(truths) == 1 else [], tid, threads, holders) if len(own) == 1 else [f"{len(own)} hangs of {tid} at {start}"]
    return [found["activity"]["verdict"] for found in hangs], wrong if truths or not hangs else ["a healthy loop hangs"]


def main():
    command, seed, count, *folder = sys.argv[1:]
    words, failures, count = Counter(), [], int(count)
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(count):
            name = number % len(SITUATIONS)
            case = SITUATIONS[name](random.Random(f"{seed} {number}"))
            path = Path(folder[0] if folder else scratch, f"{name}-{seed}-{number}.{'txt' if isinstance(case, Report) else 'xml'}")
            found, wrong = check(command, case, path)
            words.update(found)
            failures += [f"{path.name}: {'; '.join(wrong)}"] if wrong else []
            path.unlink() if not wrong else None
    print(f"{count} cases, {len(failures)} wrong: {dict(words)}", *failures, sep="\n")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
