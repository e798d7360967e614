#!/usr/bin/env python3
"""Compares the demangler with llvm-cxxfilt on the C++ names of published libraries.

    demangle_llvm.py FOLDER [--filt PROGRAM] [--cxxfilt PROGRAM] [--sample COUNT] [--fetch]

Names are kept in FOLDER, one file for each library. With --fetch the wheels are downloaded first. Ends with exit code 1
if a library has less than 99.9 % of equal names.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zipfile

MAC = ["macosx_11_0_arm64", "macosx_12_0_arm64", "macosx_13_0_arm64", "macosx_14_0_arm64", "macosx_11_0_universal2"]
LINUX = ["manylinux2014_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64"]
WHEELS = [
    ("duckdb", "2.0.0", MAC), ("pyarrow", "26.0.1", MAC), ("shapely", "2.2.0", MAC), ("grpcio", "1.85.1", MAC),
    ("opencv-python-headless", "5.0.0.93", MAC), ("scikit-learn", "1.9.1", MAC), ("onnxruntime", "1.32.0", MAC),
    ("llvmlite", "0.50.0", MAC), ("rapidfuzz", "3.14.6", MAC),
    ("duckdb", "2.0.0", LINUX), ("pyarrow", "26.0.1", LINUX), ("onnxruntime", "1.32.0", LINUX),
    ("pyside6-essentials", "6.9.3", LINUX), ("shapely", "2.2.0", LINUX), ("scipy", "1.17.1", LINUX),
    ("h5py", "3.16.0", LINUX), ("pyproj", "3.7.2", LINUX), ("symengine", "0.15.0", LINUX), ("vtk", "9.7.2", LINUX),
    ("casadi", "3.8.2", LINUX), ("torch", "2.15.0", MAC), ("ortools", "9.15.6755", MAC), ("ray", "2.60.0", MAC),
    ("open3d", "0.20.0", MAC), ("coremltools", "9.0", MAC), ("z3-solver", "5.4.1.0", MAC),
]
LEAST_SHARE = 0.999


def fetch(folder):
    """Downloads the wheels, each into the folder of its system."""
    for name, version, platforms in WHEELS:
        system = "mac" if platforms is MAC else "linux"
        tags = [word for tag in platforms for word in ("--platform", tag)]
        subprocess.run(
            ["pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--python-version", "3.11", *tags,
             "-d", folder / "wheels" / system, f"{name}=={version}"], check=True)


def names_of(path, is_mac):
    """The mangled names in one library or program, without the underscore of macOS."""
    names = set()
    # Symbols that are linked at run time have a table of their own.
    for options in (["-P"], ["-P", "-D"]):
        result = subprocess.run(["llvm-nm-19", "--no-demangle", *options, path], capture_output=True, text=True,
                                errors="replace")
        for line in result.stdout.splitlines():
            name = line.split(" ", 1)[0].split("@", 1)[0]
            name = name.removeprefix("_") if is_mac else name
            if name.startswith(("_Z", "___Z")):
                names.add(name)
    return names


def extract(wheel, is_mac):
    """The names in all libraries of a wheel."""
    names = set()
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as scratch:
        for entry in archive.infolist():
            if re.search(r"\.(so|dylib)(\.[\d.]+)?$", entry.filename) or entry.filename.endswith(".a"):
                names |= names_of(archive.extract(entry, scratch), is_mac)
    return names


def write_names(folder):
    """Writes the names of each wheel to a file of its own, unless it is there."""
    for wheel in sorted(folder.glob("wheels/*/*.whl")):
        system = wheel.parent.name
        target = folder / f"{wheel.name.split('-')[0]}-{system}.txt"
        if not target.exists():
            names = extract(wheel, system == "mac")
            if names:
                target.write_text("".join(f"{name}\n" for name in sorted(names)))


def demangled(program, names):
    """What a program makes of names that it reads line by line."""
    text = "".join(f"{name}\n" for name in names)
    return subprocess.run(program, input=text, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


def demangled_by_llvm(program, names):
    """What LLVM makes of names. In a line it ends a name at a letter that is not ASCII, in an argument it does not."""
    spellings = dict(zip(names, demangled(program, names)))
    others = [name for name in names if not name.isascii()]
    for start in range(0, len(others), 1000):
        part = others[start:start + 1000]
        result = subprocess.run([program, *part], capture_output=True, text=True, check=True)
        spellings.update(zip(part, result.stdout.split("\n")))
    return [spellings[name] for name in names]


def kind(ours, theirs, name):
    """Why two spellings differ, in a few words."""
    if ours == name:
        return "refused here"
    if theirs == name:
        return "refused by LLVM"
    words = [word for word in ("requires", "decltype", "'lambda", "operator", "...") if word in theirs]
    return f"differs, with {' '.join(words)}" if words else "differs"


def compare(path, arguments):
    """Prints a line for one library, and what differs. Returns whether enough is equal."""
    names = path.read_text().split("\n")[:-1]
    if arguments.sample and len(names) > arguments.sample:
        names = random.Random(1).sample(names, arguments.sample)
    kinds, examples, equal = {}, {}, 0
    for name, ours, theirs in zip(names, demangled(arguments.filt, names), demangled_by_llvm(arguments.cxxfilt, names)):
        if ours == theirs:
            equal += 1
            continue
        which = kind(ours, theirs, name)
        kinds[which] = kinds.get(which, 0) + 1
        examples.setdefault(which, (name, ours, theirs))
    share = equal / max(len(names), 1)
    print(f"{path.stem:32} {len(names):8} {equal:8} {share:9.4%}")
    for which, count in sorted(kinds.items()):
        print(f"    {count:6} {which}", *examples[which], sep="\n           ")
    return share >= LEAST_SHARE


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--filt", default="target/release/examples/cxxfilt")
    parser.add_argument("--cxxfilt", default="llvm-cxxfilt-19")
    parser.add_argument("--sample", type=int, help="names of each library, all by default")
    parser.add_argument("--fetch", action="store_true")
    arguments = parser.parse_args()
    if arguments.fetch:
        fetch(arguments.folder)
    write_names(arguments.folder)
    are_equal = [compare(path, arguments) for path in sorted(arguments.folder.glob("*-*.txt"))]
    sys.exit(0 if all(are_equal) else 1)


if __name__ == "__main__":
    main()
