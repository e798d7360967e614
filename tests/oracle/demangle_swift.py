#!/usr/bin/env python3
"""Compares names of Swift with what Swift's own demangler makes of them, with the options of `swift demangle -simplified`.

    demangle_swift.py PROGRAM... [--traceparse PROGRAM] [--write TABLE]

Takes the names of programs and libraries (llvm-nm-19). The demangler is built from the sources of Swift in the crate symbolic-demangle, without
its patch that leaves labels out. Ends with exit code 1 if a name is spelled otherwise; names that stay mangled are counted.
"""

import argparse
import pathlib
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
    std::cout << swift::Demangle::demangleSymbolAsString(llvm::StringRef(name), options) << "\\n";
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
    found = sorted(pathlib.Path.home().glob(".cargo/registry/src/*/symbolic-demangle-*/vendor/swift"))
    if not found:
        sys.exit("symbolic-demangle is not there: cargo fetch")
    return found[-1]


def build(folder):
    """Builds Swift's demangler as it is without the patch."""
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
    subprocess.run(
        ["c++", "-std=c++17", "-O1", "-w", "-fpermissive", "-DLLVM_DISABLE_ABI_BREAKING_CHECKS_ENFORCING=1",
         "-DSWIFT_STDLIB_HAS_TYPE_PRINTING=1", f"-I{swift / 'include'}", f"-I{library}", "-o", folder / "simplified",
         folder / "main.cpp", folder / "NodePrinter.cpp", *others], check=True)
    return folder / "simplified"


def names_of(path):
    """The names of Swift in a program."""
    text = subprocess.run(["llvm-nm-19", "--just-symbol-name", path], capture_output=True, text=True, check=True).stdout
    return {line for line in text.split("\n") if line.lstrip("_").startswith("$s")}


def demangled(program, names):
    """What a program makes of names that it reads line by line."""
    text = "".join(f"{name}\n" for name in names)
    return subprocess.run(program, input=text, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--traceparse", default="target/release/traceparse")
    parser.add_argument("--write", type=pathlib.Path, help="where names and Swift's spelling are written, a line each")
    arguments = parser.parse_args()
    names = sorted(set().union(*map(names_of, arguments.programs)))
    with tempfile.TemporaryDirectory() as folder:
        theirs = demangled([build(pathlib.Path(folder))], names)
    ours = demangled([arguments.traceparse, "demangle"], names)
    rows = list(zip(names, ours, theirs, strict=True))
    if arguments.write:
        arguments.write.write_text("".join(f"{name}\t{swift}\n" for name, _, swift in rows))
    mangled = [row for row in rows if row[1] == row[0] != row[2]]
    differing = [row for row in rows if row[1] not in (row[0], row[2])]
    equal = len(rows) - len(mangled) - len(differing)
    print(f"{len(rows)} names: {equal} equal, {len(mangled)} stay mangled, {len(differing)} differ")
    for row in differing[:20]:
        print(*row, sep="\n  ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
