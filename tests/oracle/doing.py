"""Counts in reports of spindump and `sample` what each thread did: it waited, ran, was ready to run without a core, or was that of an idle core.

    doing.py < REQUESTS > ANSWERS

A request is a line with a number of bytes, and as many bytes of a report. The answer is a line of JSON: for each thread [waits, runs, queued, idle],
sorted. The states that a report has decide. In reports without states, the last frame decides.
"""

import re

from exports import serve

NODE = re.compile(r"([ +!:|]*)(\*?)([0-9]+) +(\S.*)")
QUEUED = ("runnable", "preempted", "throttled")
TRAP = re.compile(
    r"__psynch_(mutexwait|cvwait|rw_\w+)|__ulock_wait2?|semaphore_(timed)?wait(_signal)?_trap|mach_msg(2|_overwrite)?_trap|kevent(64|_id|_qos)?"
    r"|__workq_kernreturn|__semwait_signal(_nocancel)?|__p?select(_nocancel)?|select\$DARWIN_EXTSN|(__)?poll(_nocancel)?|__sig(suspend|wait)"
    r"|__accept(_nocancel)?|(__)?msgrcv|__wait4(_nocancel)?|(__)?waitid|sem_wait|__sem_wait(_nocancel)?"
)
FILES = re.compile(
    r"(__)?(p?read|p?write|readv|writev|fsync|open|openat|fcntl)(_nocancel)?|[lf]?stat(64)?|getattrlist(bulk)?|__getdirentries64"
    r"|__aio_suspend|(recv|send)(from|to|msg)|__(recv|send)(from|to|msg)(_nocancel)?|connect|__connect(_nocancel)?|close|__close(_nocancel)?"
    r"|guarded_(close|open|pwrite|write)_np|flock|(__)?ioctl|(__)?rename|renameatx_np|(__)?unlink|__unlinkat|iokit_user_client_trap"
    r"|(__)?posix_spawn"
)
BLOCKED = re.compile(
    r"psynch_(mtx|rw_rd|rw_wr|cv)continue|ulock_wait_continue|kqueue_scan_continue|buf_biowait|ipc_mqueue_receive_continue"
    r"|workq_unpark_continue|semaphore_wait_continue|machine_idle|thread_block(_reason|_parameter)?|machine_switch_context"
)


def name_of(text):
    return re.split(r" \+ [0-9]|  ?\(|  \[", text)[0].strip()


def waits_by_its_frames(path, is_kernel):
    names = [name_of(text) for text in path]
    in_kernel = [kernel or bool(BLOCKED.fullmatch(name)) for kernel, name in zip(is_kernel, names)]
    of_user = [name for name, kernel in zip(names, in_kernel) if not kernel]
    call = of_user[-1] if of_user else ""
    if not in_kernel[-1]:
        return bool(TRAP.fullmatch(call) or FILES.fullmatch(call))
    is_named = names[-1] not in ("", "???")
    return bool(BLOCKED.fullmatch(names[-1]) or not is_named and TRAP.fullmatch(call))


def doing(state, has_states, is_idle, path, is_kernel):
    word = state.split(" ")[0] if state else None
    if has_states and is_idle:
        return 3
    if has_states and word is None:
        return 0
    if has_states:
        return 1 if word == "running" else 2 if word in QUEUED else 0
    return 0 if path and waits_by_its_frames(path, is_kernel) else 1


def answer(content):
    lines = content.decode("utf-8-sig", "replace").split("\n")
    version = next((int(found[1]) for line in lines if (found := re.match(r"Report Version: *([0-9]+)", line))), 0)
    is_sample = any(line.startswith("Analysis of sampling") for line in lines)
    has_states = not is_sample and version >= 25
    threads, nodes, process, key, is_idle = {}, [], "", None, False

    def close(depth):
        while nodes and nodes[-1]["depth"] >= depth:
            node = nodes.pop()
            if node["left"]:
                path, kernel, state = [], [], None
                for above in [*nodes, node]:
                    text, note = above["text"], above["note"]
                    state = above["state"] if not note or above["state"] else state
                    if not note:
                        path.append(text)
                        kernel.append(above["kernel"])
                sums = threads.setdefault(key, [0, 0, 0, 0])
                sums[doing(state, has_states, is_idle and state in ("running", "runnable"), path, kernel)] += node["left"]

    in_tree = not is_sample
    for line in lines:
        if is_sample and line.startswith("Call graph:"):
            in_tree = True
        elif is_sample and line.startswith("Total number in stack"):
            break
        elif line.startswith(("Process:", "Powerstats for:")):
            close(0)
            process = line
        elif re.match(r"Date/Time:|\s+Binary Images:", line):
            close(0)
        elif not is_sample and line.startswith("  Thread "):
            close(0)
            tid = re.match(r"  Thread (0x[0-9a-f]+)", line)
            key, is_idle = (process, tid[1] if tid else line), bool(re.search(r"\s\sidle time |\tidle time ", line))
        elif in_tree and (found := NODE.fullmatch(line.rstrip())):
            depth = len(found[1] + found[2]) - (4 if is_sample else 2)
            if depth < 0 or (is_sample and len(found[1]) < 4):
                continue
            close(depth)
            if is_sample and depth == 0:
                key = (process, re.match(r"[^\s:]+", found[4])[0])
                nodes.append({"depth": 0, "left": int(found[3]), "text": "", "note": True, "kernel": False, "state": None})
                continue
            text = re.sub(r" [0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$", "", found[4]) if found[4].rstrip()[-1].isdigit() else found[4]
            state = re.search(r"(?:\]|>) \(([^()]*(?:\([^()]*\)[^()]*)*)\)$", text)
            note = bool(re.match(r"<[^>]*>( \(.*\))?$", text)) and not text.startswith("<truncated backtrace>")
            if nodes:
                nodes[-1]["left"] -= int(found[3])
            entry = {"depth": depth, "left": int(found[3]), "text": text, "note": note, "kernel": bool(found[2])}
            nodes.append({**entry, "state": state[1] if state else None})
    close(0)
    return sorted(threads.values())


if __name__ == "__main__":
    serve(answer)
