"""Reads reports of `sample` and tells the samples of each stack, and what is left out.

    sample.py < REQUESTS > ANSWERS

A request is a line with a number of bytes, and as many bytes of an input. The answer is a line of JSON: {"refused": why}, or "left_out", the
numbers of samples of threads and of images that are left out, and "stacks", the samples by thread and functions, outermost first. A thread is
left out if one of its lines has an unknown form, or callees have more samples than their caller. Nothing of this was taken from the reader that
it is compared with.
"""

import re

from exports import serve

LINE = re.compile(r"([ +!:|]*)([0-9]+)(?: (.*))?")
THREAD = re.compile(r"Thread_([0-9]+|<multiple>)\s*(?:: (.*?))?(?:   DispatchQueue_(?:.*?: (.*))?.*)?")
IMAGE = re.compile(r"\s*\**0x([0-9a-f]+) - +(?:0x[0-9a-f]+|\?\?\?) .*?<(?:[0-9A-Fa-f-]{32,36}|\?*|Unknown)>.*")


def name_of(frame):
    """The symbol of a frame; ??? if it is unknown."""
    before, found, after = frame.rpartition("  (in ")
    is_frame = found and re.match(r".*?\)( \+ |  load address |  \[)|.*\)\s*$", after)
    symbol = before if is_frame else frame
    has_address = is_frame and re.search(r"\[0x[0-9a-f]+[^\]]*\]", after)
    return "???" if has_address and not symbol else symbol


class Thread:
    def __init__(self, samples, key):
        self.samples, self.key, self.is_odd, self.total, self.open, self.nodes = samples, key, False, 0, [], []

    def add(self, depth, count, text):
        if depth == 1:
            self.total += count
        if self.is_odd:
            return
        if depth > len(self.open):
            self.is_odd = True
            return
        del self.open[depth:]
        node = [count, name_of(text), list(self.open), 0]
        if self.open:
            caller = self.open[-1]
            caller[3] += count
            self.is_odd |= caller[3] > caller[0]
        self.open.append(node)
        self.nodes.append(node)


class Report:
    def __init__(self):
        self.part, self.threads, self.images, self.odd_images, self.is_closed = "head", [], 0, 0, False

    def take(self, line):
        text = line.rstrip()
        for start, part in (("Total number in stack", "total"), ("Sort by top of stack", "top"), ("Binary images description not", "behind")):
            if text.startswith(start):
                self.part = part
                return
        if text == "Binary Images:":
            self.part = "images"
        elif text == "Call graph:" and self.part == "head":
            self.part = "graph"
        elif self.part == "graph":
            self.graph(line, text)
        elif self.part == "images":
            if not text:
                self.part = "behind" if self.images else "images"
            elif IMAGE.fullmatch(text):
                self.images += 1
            elif re.match(r"\s*0x", text) or (" - " in text and "<" in text):
                self.odd_images += 1

    def graph(self, line, text):
        if not text:
            self.is_closed = not line and bool(self.threads)
            return
        if self.is_closed and text[0].isalpha():
            self.part = "total"
            return
        self.is_closed = False
        found = LINE.fullmatch(text)
        column = len(found[1]) - 4 if found else -1
        if column < 0 or column % 2 or int(found[2]) >= 1 << 64:
            if " Thread_" in text or not self.threads:
                self.threads.append(Thread(None, None))
            self.threads[-1].is_odd = True
            return
        depth, count, text = column // 2, int(found[2]), found[3] or ""
        if depth == 0:
            thread = THREAD.fullmatch(text)
            tid = thread and (thread[1] if thread[1].isdigit() else thread[2] or thread[1])
            self.threads.append(Thread(count, tid))
            self.threads[-1].is_odd = not thread
            self.threads[-1].open = self.threads[-1].nodes = [[count, None, [], 0]]
            self.threads[-1].open = list(self.threads[-1].nodes)
            return
        if not self.threads:
            self.threads.append(Thread(None, None))
        self.threads[-1].add(depth, count, text)


def answer(content):
    reports = []
    for line in content.decode().split("\n"):
        line = line.removesuffix("\r")
        if line.startswith("Analysis of sampling "):
            reports.append(Report())
        elif reports:
            reports[-1].take(line)
    stacks, left_out = {}, [0, 0]
    if not reports:
        raise ValueError("no report")
    for report in reports:
        if not report.threads or (report.part == "graph" and not report.is_closed):
            raise ValueError("cut")
        left_out[1] += report.odd_images
        for thread in report.threads:
            if thread.is_odd:
                left_out[0] += max(thread.total if thread.samples is None else thread.samples, 1)
                continue
            for count, name, above, of_callees in thread.nodes:
                if count > of_callees:
                    key = ";".join([thread.key] + [node[1] for node in above + [[0, name]] if node[1] is not None])
                    stacks[key] = stacks.get(key, 0) + count - of_callees
    return {"left_out": left_out, "stacks": stacks}


if __name__ == "__main__":
    serve(answer)
