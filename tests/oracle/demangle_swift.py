#!/usr/bin/env python3
"""Compares names of Swift with what Swift's own demangler makes of them, with the options of `swift demangle -simplified`.

    demangle_swift.py PROGRAM... [--traceparse PROGRAM] [--old OldDemangler.cpp] [--write TABLE]

Takes the names of programs and libraries (llvm-nm-19), and the lines of text files. The demangler is built from the sources of Swift in the
crate symbolic-demangle, without its patch that leaves labels out. Names of types with the mangling from before Swift 4 are compared if `--old` says where the part
of Swift's demangler is that reads them, lib/Demangling/OldDemangler.cpp. The crate had it up to version 8 (that one does not read
specialisations with `r_`, and has another word for vectors of floats).
Ends with exit code 1 if a name is spelled otherwise; names that stay mangled are counted, and so are those at which Swift's demangler fails an
assertion.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

MAIN = """
#include "swift/Demangling/Demangle.h"
#include <iostream>
int main() {
  std::string name;
  auto options = swift::Demangle::DemangleOptions::SimplifiedUIDemangleOptions();
  while (std::getline(std::cin, name))
    std::cout << swift::Demangle::demangleSymbolAsString(llvm::StringRef(name), options) << std::endl;
}
"""
# What the patch wrote, and what Swift has.
PATCHED = [
    ("""  if (Options.ShowFunctionArgumentTypes) {
    printFunctionParameters(LabelList, node->getChild(argIndex), depth, true);
  }
""", """  printFunctionParameters(LabelList, node->getChild(argIndex), depth, Options.ShowFunctionArgumentTypes);
"""),
    ("  if (!Options.ShowFunctionReturnType)\n", "  if (!Options.ShowFunctionArgumentTypes)\n"),
]


def sources():
    """The folder of Swift's sources."""
    found = pathlib.Path.home().glob(".cargo/registry/src/*/symbolic-demangle-*/vendor/swift")
    newest = max(found, key=lambda path: [int(part) for part in re.findall(r"\d+", path.parent.parent.name)], default=None)
    return newest or sys.exit("symbolic-demangle is not there: cargo fetch")


def old_source(path):
    """The demangler of old names, with what C++ and LLVM call a few things today."""
    text = re.sub(r'#include "llvm/ADT/(None|Optional)\.h"', "#include <optional>", path.read_text())
    for before, after in [("llvm::Optional", "std::optional"), ("llvm::None", "std::nullopt"), (".startswith(", ".starts_with("),
                          (".hasValue()", ".has_value()"), (".getValue()", ".value()")]:
        text = text.replace(before, after)
    return text


def build(folder, old):
    """Builds Swift's demangler as it is without the patch, with the part for old names if there is a file of it."""
    swift = sources()
    library = swift / "lib/Demangling"
    printer = (library / "NodePrinter.cpp").read_text()
    for patched, original in PATCHED:
        if patched not in printer:
            sys.exit("the patch of symbolic-demangle is another one")
        printer = printer.replace(patched, original, 1)
    (folder / "NodePrinter.cpp").write_text(printer)
    (folder / "main.cpp").write_text(MAIN)
    others = [path for path in library.glob("*.cpp") if path.name != "NodePrinter.cpp"]
    if old:
        (folder / "OldDemangler.cpp").write_text(old_source(old))
        others += [folder / "OldDemangler.cpp", "-DSWIFT_SUPPORT_OLD_MANGLING=1"]
    subprocess.run(
        ["c++", "-std=c++17", "-O1", "-w", "-fpermissive", "-DLLVM_DISABLE_ABI_BREAKING_CHECKS_ENFORCING=1",
         "-DSWIFT_STDLIB_HAS_TYPE_PRINTING=1", f"-I{swift / 'include'}", f"-I{library}", "-o", folder / "simplified",
         folder / "main.cpp", folder / "NodePrinter.cpp", *others], check=True)
    return folder / "simplified"


def is_old(name):
    """Whether a name is one of a type in the Objective-C runtime, which Swift mangles as before version 4."""
    return re.match(r"__?Tt", name) is not None


def names_of(path, has_old):
    """The names of Swift in a program, or in a text."""
    if path.endswith((".txt", ".tsv")):
        lines = [line.split("\t")[0] for line in pathlib.Path(path).read_text().split("\n")]
    else:
        command = ["llvm-nm-19", "--just-symbol-name", path]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    return {line for line in lines if line.lstrip("_").startswith("$s") or has_old and is_old(line)}


def swift_demangled(program, names):
    """What Swift's demangler makes of names: None for those that end it."""
    spelled = []
    while len(spelled) < len(names):
        # It knows names of Mach-O by `_$`, but not by `__T`.
        text = "".join(f"{name.removeprefix('_') if name.startswith('__T') else name}\n" for name in names[len(spelled):])
        run = subprocess.run(program, input=text, capture_output=True, text=True)
        lines = run.stdout.split("\n")[:-1]
        rest = names[len(spelled):]
        spelled += [name if line == name.removeprefix("_") else line for name, line in zip(rest, lines)]
        if run.returncode != 0:
            spelled.append(None)
    return spelled


def our_demangled(program, names):
    """What traceparse makes of names. They are arguments, since some have characters that end a name in a text."""
    spelled = []
    for start in range(0, len(names), 500):
        command = [program, "demangle", "--", *names[start:start + 500]]
        spelled += subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    return spelled


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--traceparse", default="target/release/traceparse")
    parser.add_argument("--old", type=pathlib.Path, help="OldDemangler.cpp of Swift, for types in the Objective-C runtime")
    parser.add_argument("--write", type=pathlib.Path, help="where names and Swift's spelling are written, a line each")
    arguments = parser.parse_args()
    names = sorted(set().union(*(names_of(path, arguments.old is not None) for path in arguments.programs)))
    with tempfile.TemporaryDirectory() as folder:
        theirs = swift_demangled([build(pathlib.Path(folder), arguments.old)], names)
    ours = our_demangled(arguments.traceparse, names)
    ended = theirs.count(None)
    rows = [row for row in zip(names, ours, theirs, strict=True) if row[2] is not None]
    if arguments.write:
        arguments.write.write_text("".join(f"{name}\t{swift}\n" for name, _, swift in rows))
    mangled = [row for row in rows if row[1] == row[0] != row[2]]
    differing = [row for row in rows if row[1] not in (row[0], row[2])]
    equal = len(rows) - len(mangled) - len(differing)
    print(f"{len(rows)} names: {equal} equal, {len(mangled)} stay mangled, {len(differing)} differ; Swift's demangler fails at {ended} more")
    for row in differing[:20]:
        print(*row, sep="\n  ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
