#!/usr/bin/env python3
"""Runs the questions of `questions.json` with an agent, and records its answers, calls and bytes.

    TRACEPARSE_CORPUS=… python3 benches/agents/run.py --agent 'my-agent --prompt-file {prompt}' --arm skill -o skill.json
    python3 benches/agents/grade.py skill.json

Each question starts the agent once, without context, in a new folder that contains only the inputs of the question. `{prompt}` is
replaced by the path of a file with the question. The agent prints its answer in a line that starts with `ANSWER:`; the last one is used.

The arms differ in the first paragraph of the prompt: `help` names the command, `skill` contains the text of the skill, and `server` names
the tools of `traceparse mcp`, which the agent's configuration must start.

Inputs below `corpus/` are in the folder of TRACEPARSE_CORPUS, which is not part of the project. Archives are unpacked without their top
folder, and inputs have neutral names, because the names of some contain the answer.

A wrapper named `traceparse`, first on PATH, logs each call and the bytes that the command wrote to standard output and standard error.
With `mcp`, a request `tools/call` is a call. Bytes of files that the command writes are not counted. Every answer can be computed without
traceparse: `verify.py` does it.
"""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
ARMS = {
    "help": "The command `traceparse` reads recordings of Instruments. `traceparse -h` and `traceparse COMMAND -h` describe it.",
    "skill": (REPOSITORY / "SKILL.md").read_text(encoding="utf-8"),
    "server": "The tools of the server traceparse read recordings of Instruments.",
}
TASK = """
Answer the question about the files in the current folder. Read them only with {reader}, never directly.
Question: {question}
If the files cannot answer the question, the answer is: cannot be told.
Print the answer alone in the last line, as short as possible, in the form
ANSWER: a name, a number in the unit of the question, or: cannot be told
"""
WRAPPER = '''#!{python}
import json, os, subprocess, sys, threading
counts = {{"calls": 0 if sys.argv[1:2] == ["mcp"] else 1, "bytes": 0}}
is_server = not counts["calls"]
child = subprocess.Popen([{command!r}, *sys.argv[1:]], stdin=subprocess.PIPE if is_server else None,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
def copy(source, target, is_output):
    try:
        for line in iter(lambda: source.read1(1 << 16) if is_output else source.readline(), b""):
            counts["bytes"] += len(line) * is_output
            counts["calls"] += not is_output and b'"tools/call"' in line
            target.write(line)
            target.flush()
    except BrokenPipeError:
        pass
    (source if is_output else target).close()
if is_server:
    threading.Thread(target=copy, args=(sys.stdin.buffer, child.stdin, False), daemon=True).start()
outputs = [threading.Thread(target=copy, args=(pipe, to.buffer, True))
           for pipe, to in [(child.stdout, sys.stdout), (child.stderr, sys.stderr)]]
for thread in outputs: thread.start()
for thread in outputs: thread.join()
code = child.wait()
with open({log!r}, "a") as log:
    log.write(json.dumps({{**counts, "arguments": sys.argv[1:], "code": code}}) + "\\n")
os._exit(code if code >= 0 else 128 - code)
'''


def place(source: str, target: Path) -> None:
    """Copies or unpacks an input; `archive.tar.xz:path` selects one file of an archive."""
    source, _, member = source.partition(":")
    if source.startswith("corpus/"):
        path = Path(os.environ["TRACEPARSE_CORPUS"]) / source.removeprefix("corpus/")
    else:
        path = REPOSITORY / source
    if path.is_dir():
        shutil.copytree(path, target)
    elif path.name.endswith(".tar.xz"):
        with tempfile.TemporaryDirectory() as folder, tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
            tops = list(Path(folder).iterdir())
            top = tops[0] if len(tops) == 1 else Path(folder)
            place_file = shutil.copyfile if member else shutil.copytree
            place_file(top / member, target)
    else:
        shutil.copyfile(path, target)


def ask(question: dict, arguments: argparse.Namespace) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        work, tools, log, prompt = (Path(folder) / name for name in ("work", "bin", "log", "prompt.txt"))
        for new in (work, tools):
            new.mkdir()
        for name, source in question["inputs"].items():
            place(source, work / name)
        wrapper = tools / "traceparse"
        wrapper.write_text(WRAPPER.format(python=sys.executable, command=str(arguments.traceparse), log=str(log)))
        wrapper.chmod(0o755)
        reader = "the tools of traceparse" if arguments.arm == "server" else "the command traceparse"
        text = ARMS[arguments.arm] + TASK.format(reader=reader, question=question["question"])
        prompt.write_text(text, encoding="utf-8")
        started = time.monotonic()
        agent = subprocess.Popen(arguments.agent.replace("{prompt}", shlex.quote(str(prompt))), shell=True, cwd=work, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
                                 env={**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"})
        try:
            said, _ = agent.communicate(timeout=arguments.timeout)
        except subprocess.TimeoutExpired:
            os.killpg(agent.pid, signal.SIGTERM)
            said, _ = agent.communicate()
        calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        answers = [line.partition(":")[2].strip() for line in said.splitlines() if line.strip().startswith("ANSWER:")]
        return {"id": question["id"], "arm": arguments.arm, "answer": answers[-1] if answers else "",
                "calls": sum(call["calls"] for call in calls), "bytes": sum(call["bytes"] for call in calls),
                "prompt_bytes": len(text.encode()), "seconds": round(time.monotonic() - started, 1), "log": calls}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", required=True, help="shell command that starts an agent; {prompt} is the path of its prompt")
    parser.add_argument("--arm", choices=ARMS, required=True)
    parser.add_argument("--traceparse", type=Path, default=shutil.which("traceparse"), help="the command [default: the one on PATH]")
    parser.add_argument("--only", action="append", help="id of a question (repeatable)")
    parser.add_argument("--timeout", type=float, default=900, help="seconds per question")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.traceparse = Path(arguments.traceparse).resolve()
    results = []
    for question in json.loads((HERE / "questions.json").read_text(encoding="utf-8")):
        if not arguments.only or question["id"] in arguments.only:
            results.append(ask(question, arguments))
            arguments.output.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print({name: results[-1][name] for name in ("id", "answer", "calls", "bytes")})


if __name__ == "__main__":
    main()
