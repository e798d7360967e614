"""The third-party code in a binary: its licence texts, and its SBOM (CycloneDX)."""

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

LICENCE_FILE = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)
# Crates that also offer MIT are used under MIT.
OTHER_OFFER = re.compile(r"apache|unlicense|zlib|bsl|boost", re.IGNORECASE)
# What the linker adds: on every system, on Linux, and on Windows.
RUNTIMES = [
    *("LICENSE", "lib/libcxx/LICENSE.TXT", "lib/libcxxabi/LICENSE.TXT", "lib/libunwind/LICENSE.TXT"),
    *("lib/libc/musl/COPYRIGHT", "lib/libc/mingw/COPYING"),
]
COMMAND = "traceparse-cli"
HEAD = """\
The commands for all systems contain code from these projects, under these licences. The licences of Rust's standard library are in
LICENSE-RUST-LIBRARY.html.
"""


def sbom(target: str) -> str:
    """The SBOM. Unlike maturin's, it has no time and no path of this machine, so two builds have the same."""
    lock = re.findall(r'name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"', Path("Cargo.lock").read_text())
    checksums = {(name, version): checksum for name, version, checksum in lock}
    root, packages, edges = graph(target)
    references = {package["id"]: f"pkg:cargo/{package['name']}@{package['version']}" for package in [root, *packages]}

    def component(package: dict, kind: str) -> dict:
        reference = references[package["id"]]
        names = {key: package[key] for key in ["name", "version", "description"]}
        licences = [{"expression": package["license"].replace("/", " OR ")}]
        checksum = checksums.get((package["name"], package["version"]))
        hashes = {"hashes": [{"alg": "SHA-256", "content": checksum}]} if checksum else {}
        return {"type": kind, "bom-ref": reference} | names | hashes | {"licenses": licences, "purl": reference}

    target_property = {"name": "cdx:rustc:sbom:target:triple", "value": target}
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(root, "application"), "properties": [target_property]},
        "components": [component(package, "library") for package in packages],
        "dependencies": [
            {"ref": reference, "dependsOn": sorted({references[other] for other in edges[package] if other in references})}
            for package, reference in references.items()
        ],
    }
    return json.dumps(bom, indent=1) + "\n"


def notices(targets: Iterable[str], zig: Path) -> str:
    """Each text once, after the names of the crates that have it, for all targets. `zig` is the folder of zig, whose libraries are linked."""
    holders: dict[str, list[str]] = {}
    for crate in {crate["id"]: crate for target in targets for crate in graph(target)[1] if crate["source"]}.values():
        for text in crate_texts(crate):
            holders.setdefault(text, []).append(f"{crate['name']} {crate['version']} ({crate['license']})")
    for path in RUNTIMES:
        holders.setdefault(tidy(zig / path), []).append(f"zig: {path}")
    rule = "=" * 80 + "\n"
    return HEAD + "".join("\n" + rule + "\n".join(names) + "\n" + rule + "\n" + text for text, names in holders.items())


def graph(target: str) -> tuple[dict, list[dict], dict[str, list[str]]]:
    """The command, the crates in it (without build scripts and macros), and the dependencies of each."""
    options = ["--package", COMMAND, "--locked", "--target", target, "-e", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]
    names = {tuple(line.split()[:2]) for line in output("cargo", "tree", *options).splitlines()}
    metadata = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    packages = [package for package in metadata["packages"] if (package["name"], "v" + package["version"]) in names]
    assert len(packages) == len(names), "cargo tree and cargo metadata disagree"
    packages.sort(key=lambda package: (package["name"] != COMMAND, package["name"], package["version"]))
    return packages[0], packages[1:], {node["id"]: node["dependencies"] for node in metadata["resolve"]["nodes"]}


def crate_texts(crate: dict) -> list[str]:
    """The texts in a crate, and in the folders of foreign code in it."""
    root = Path(crate["manifest_path"]).parent
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and LICENCE_FILE.match(path.name) and path.suffix != ".rs"]
    # `COPYING` next to `LICENSE` is the other offer (zstd's GPL), or a list of the offers.
    folders = {path.parent for path in files if path.name.upper().startswith("LICENSE")}
    files = [path for path in files if path.name != "COPYING" or path.parent not in folders]
    if re.search(r"\bMIT\b", crate["license"]):
        files = [path for path in files if path.parent != root or not OTHER_OFFER.search(path.name)]
    texts = list(dict.fromkeys(map(tidy, files)))
    if not any(path.parent == root for path in files):
        texts.append(f"The crate has no licence text. Its licence is {crate['license']}. Its authors are {', '.join(crate['authors'])}.\n")
    return texts


def tidy(path: Path) -> str:
    lines = path.read_text(errors="replace").splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
