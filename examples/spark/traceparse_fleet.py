#!/usr/bin/env python3
"""Measures recordings of Apple Instruments on a Spark cluster, and reports on them: `traceparse fleet extract` in every task,
`fleet merge` and `fleet report` on the driver.

    spark-submit --files traceparse examples/spark/traceparse_fleet.py \\
        --input s3a://lab/recordings --output s3a://lab/fleet --report '--by app_version --scope function'

The output is a folder:

    OUTPUT/shards/of-16/3/a71f…/      the dataset of a shard, by one attempt at it
    OUTPUT/shards/of-16/3/shard.json  names the attempt that counts, and what it was made of
    OUTPUT/dataset/                   the dataset of all shards: for reports, for SQL
    OUTPUT/report-1.csv               the first --report

A shard counts once `shard.json` is there, which is one small file, written after the dataset that it names. So a lost executor, or
two attempts at the same shard, leave the whole shard of one attempt or nothing. The same command again skips shards whose recordings
have not changed. README.md beside this file has recipes.

Needs pyspark 3.4 or later, and nothing else. Exit codes are those of traceparse: 1 for errors, 2 for wrong arguments, 3 and 4 for alerts.
"""

import argparse
import csv
import hashlib
import io
import json
import os
import posixpath
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

COMPRESSED = ("", ".gz", ".zst", ".zstd")
EXPORTS = tuple(".xml" + ending for ending in COMPRESSED)
BUNDLE = ".trace"
RECORDINGS = tuple(BUNDLE + ending for ending in ("", ".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst"))
TOCS = ("-toc", ".toc", "_toc")
INTERVALS = "-intervals"
MANIFEST = "traceparse-dataset.json"
TABLES = ("stacks", "windows", "modules", "frames", "labels", "runs")
PATH_COLUMNS = ("path", "toc", "intervals")
DAY = 24 * 60 * 60


class Failure(Exception):
    """What a person should read, without a traceback."""


# Paths. A URI has a scheme and is read through Hadoop; any other path is one of a file system that all machines mount.


def is_uri(path):
    return "://" in path or path.startswith("file:")


def join(folder, *names):
    return posixpath.join(folder, *names)


def without_ending(name, endings):
    """The name without the first of these endings that it has, in any case of letters; None without one, or if nothing is left."""
    found = (name[: len(name) - len(ending)] for ending in endings if name.lower().endswith(ending) and len(name) > len(ending))
    return min(found, key=len, default=None)


def is_recording(name):
    return without_ending(name, RECORDINGS) is not None


def shard_of(path, shards):
    """The shard of a recording, from 1, by the 64-bit FNV-1a hash of its path below the root (docs/dataset.md)."""
    value = 0xCBF29CE484222325
    for byte in path.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return 1 + value % shards


# File systems, with the same methods: one that all machines mount, and those that Hadoop reaches.


class Mounted:
    def list(self, folder):
        """Names in a folder with (is folder, length, milliseconds of the last change)."""
        for entry in os.scandir(folder):
            try:
                stat = entry.stat()
            except OSError:
                continue
            yield entry.name, entry.is_dir(), stat.st_size, stat.st_mtime_ns // 1_000_000

    def is_folder(self, path):
        return os.path.isdir(path)

    def exists(self, path):
        return os.path.exists(path)

    def entry(self, path):
        stat = os.stat(path)
        return os.path.isdir(path), stat.st_size, stat.st_mtime_ns // 1_000_000

    def get(self, path, local):
        os.makedirs(os.path.dirname(local), exist_ok=True)
        shutil.copytree(path, local) if os.path.isdir(path) else shutil.copyfile(path, local)

    def put(self, local, path):
        """Copies a file; it is there as a whole or not at all."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = join(os.path.dirname(path), f".{uuid.uuid4().hex}.tmp")
        shutil.copyfile(local, temporary)
        os.replace(temporary, path)

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def remove(self, path):
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.exists(path):
            os.remove(path)


class Hadoop:
    """Any file system that Spark reaches, through the classes of Hadoop in a Java machine."""

    def __init__(self, jvm, settings=None):
        self.jvm = jvm
        self.configuration = jvm.org.apache.hadoop.conf.Configuration()
        for key, value in (settings or {}).items():
            self.configuration.set(key, value)

    def _open(self, path):
        path = self.jvm.org.apache.hadoop.fs.Path(path)
        files = path.getFileSystem(self.configuration)
        if hasattr(files, "setWriteChecksum"):
            # Local files would get a hidden file with checksums each.
            files.setWriteChecksum(False)
        return files, path

    def list(self, folder):
        files, path = self._open(folder)
        for status in files.listStatus(path):
            yield status.getPath().getName(), status.isDirectory(), status.getLen(), status.getModificationTime()

    def is_folder(self, path):
        files, path = self._open(path)
        return files.exists(path) and files.getFileStatus(path).isDirectory()

    def exists(self, path):
        files, path = self._open(path)
        return files.exists(path)

    def entry(self, path):
        files, path = self._open(path)
        status = files.getFileStatus(path)
        return status.isDirectory(), status.getLen(), status.getModificationTime()

    def get(self, path, local):
        os.makedirs(os.path.dirname(local), exist_ok=True)
        files, path = self._open(path)
        # True: without files of checksums.
        files.copyToLocalFile(False, path, self.jvm.org.apache.hadoop.fs.Path("file://" + local), True)

    def put(self, local, path):
        files, target = self._open(path)
        source = self.jvm.org.apache.hadoop.fs.Path("file://" + local)
        if files.getScheme() in ("file", "hdfs", "viewfs"):
            # A store of objects shows a whole object or none; file systems show half a file.
            temporary = self.jvm.org.apache.hadoop.fs.Path(target.getParent(), f".{uuid.uuid4().hex}.tmp")
            files.copyFromLocalFile(False, True, source, temporary)
            # A rename does not replace, and who put the same file before put all of it.
            files.delete(target, False)
            if not files.rename(temporary, target):
                files.delete(temporary, False)
                if not files.exists(target):
                    raise Failure(f"{path}: cannot be written")
        else:
            files.copyFromLocalFile(False, True, source, target)

    def read(self, path):
        with tempfile.TemporaryDirectory() as folder:
            local = join(folder, "file")
            self.get(path, local)
            return Mounted().read(local)

    def remove(self, path):
        files, path = self._open(path)
        files.delete(path, True)


def gateway():
    """A Java machine for this task: workers in Python have none."""
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    jars = join(os.environ.get("SPARK_HOME") or find_spark_home(), "jars", "*")
    classpath = os.pathsep.join(part for part in (os.environ.get("HADOOP_CONF_DIR"), os.environ.get("CLASSPATH"), jars) if part)
    java = join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    # Py4J asks for a jar of its own that exists, and the one that Spark brings is among the others.
    own = next(join(os.path.dirname(jars), name) for name in os.listdir(os.path.dirname(jars)) if name.startswith("py4j"))
    port, token = launch_gateway(
        jarpath=own, classpath=classpath, java_path=java, die_on_exit=True, enable_auth=True, javaopts=["-Xmx256m"]
    )
    return JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True))


def find_spark_home():
    from pyspark.find_spark_home import _find_spark_home

    return _find_spark_home()


class FileSystems:
    """The file system of each path."""

    def __init__(self, start, settings):
        self.start, self.settings, self.mounted, self.hadoop = start, settings, Mounted(), None

    def of(self, path):
        if not is_uri(path):
            return self.mounted
        if self.hadoop is None:
            self.hadoop = Hadoop(self.start(), self.settings)
        return self.hadoop


def put_dataset(files, local, path):
    """Copies a dataset over an older one: what is new first, the manifest after it, and then what is old goes. Data files are named
    after their content."""
    manifest = json.loads(Mounted().read(join(local, MANIFEST)))
    names = data_files(manifest)
    there = set()
    for table in TABLES:
        if files.is_folder(join(path, table)):
            there.update(join(table, name) for name, is_folder, *_ in files.list(join(path, table)) if not is_folder)
    for name in sorted(names - there):
        files.put(join(local, name), join(path, name))
    files.put(join(local, MANIFEST), join(path, MANIFEST))
    for name in there - names:
        files.remove(join(path, name))
    return manifest


def data_files(manifest):
    """The files that a manifest names, below the folder of its dataset."""
    return {join(table, f"{name}.parquet") for table in TABLES for name in manifest["files"]}


def put_text(files, text, path):
    with tempfile.TemporaryDirectory() as folder:
        local = join(folder, "file")
        with open(local, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        files.put(local, path)


# Recordings: a list of dictionaries with `path` (below the root), `at` (whole), `beside` (files beside it: paths below the root),
# `labels` (a line of the manifest, or None) and `stamp` (lengths and times of change).


def walk(files, folder, prefix=""):
    """Paths below a folder with their lengths and times; a bundle is one path. Hidden ones are left out."""
    found = []
    for name, is_folder, length, changed in files.list(folder):
        if name.startswith(".") or name == "__MACOSX":
            continue
        path = prefix + name
        if is_folder and not is_recording(name):
            found += walk(files, join(folder, name), path + "/")
        else:
            found.append((path, stamp_of_bundle(files, join(folder, name)) if is_folder else [length, changed]))
    return found


def stamp_of_bundle(files, folder):
    """The length of all files in a bundle, and the last change in it."""
    length, last = 0, 0
    for name, is_folder, size, changed in files.list(folder):
        size, changed = stamp_of_bundle(files, join(folder, name)) if is_folder else [size, changed]
        length, last = length + size, max(last, changed)
    return [length, last]


def beside(path, known):
    """The files beside a recording that belong to it, by their names: tables of contents, and intervals."""
    folder, name = posixpath.split(path)
    stem = without_ending(name, EXPORTS)
    stems = [stem] if stem else [without_ending(name, RECORDINGS), name]
    names = (stem + ending + export for stem in stems if stem for ending in (*TOCS, INTERVALS) for export in EXPORTS)
    return [other for other in (join(folder, name) for name in names) if other in known]


def is_toc(path):
    stem = without_ending(posixpath.basename(path), EXPORTS)
    return stem is not None and stem.endswith(TOCS)


def find_recordings(file_systems, inputs, manifests, root):
    """All recordings, by path, and the root."""
    inputs = [os.path.abspath(path) if not is_uri(path) else path.rstrip("/") for path in inputs]
    lines = [line for manifest in manifests for line in manifest_lines(file_systems, manifest)]
    root = root.rstrip("/") if root else common_root(file_systems, inputs, [line["path"] for line in lines])
    known, chosen = {}, set()
    for path in inputs:
        files = file_systems.of(path)
        if files.is_folder(path) and not is_recording(posixpath.basename(path)):
            found = {below(root, join(path, name)): stamp for name, stamp in walk(files, path)}
            known.update(found)
            chosen.update(path for path in found if not is_toc(path) and is_named_recording(path))
        else:
            # One that is not there is a failure that the dataset tells.
            known[below(root, path)] = stamp_of(files, path)
            chosen.add(below(root, path))
    labels = {}
    for line in lines:
        for column in (column for column in PATH_COLUMNS if line.get(column)):
            path = below(root, line[column])
            known.setdefault(path, stamp_of(file_systems.of(line[column]), line[column]))
            line[column] = path
        labels.setdefault(line["path"], line)
        chosen.add(line["path"])
    companions = {path: beside(path, known) for path in chosen}
    for path, line in labels.items():
        companions[path] = sorted({*companions[path], *(line[column] for column in PATH_COLUMNS[1:] if line.get(column))})
    chosen -= {path for paths in companions.values() for path in paths}
    recordings = [
        {"path": path, "beside": companions[path], "labels": labels.get(path), "stamp": [known[name] for name in (path, *companions[path])]}
        for path in sorted(chosen)
    ]
    return recordings, root


def is_named_recording(path):
    name = posixpath.basename(path)
    return is_recording(name) or without_ending(name, EXPORTS) is not None


def stamp_of(files, path):
    if not files.exists(path):
        return None
    is_folder, length, changed = files.entry(path)
    return stamp_of_bundle(files, path) if is_folder else [length, changed]


def common_root(file_systems, inputs, paths):
    """The one folder that is the input, or else the deepest one that all paths share."""
    if len(inputs) == 1 and not paths and file_systems.of(inputs[0]).is_folder(inputs[0]) and not is_recording(inputs[0]):
        return inputs[0]
    folders = [posixpath.dirname(path) if is_named_recording(path) else path for path in (*inputs, *paths)]
    parts = [folder.split("/") for folder in folders]
    shared = os.path.commonprefix(parts)
    if not shared or (is_uri(folders[0]) and len(shared) < 3):
        raise Usage("the inputs have no folder in common; name one with --root, or run the job once for each")
    return "/".join(shared) or "/"


def below(root, path):
    prefix = root if root.endswith("/") else root + "/"
    if not path.startswith(prefix):
        raise Usage(f"{path}: not below the root, {root}")
    return path[len(prefix):]


def manifest_lines(file_systems, path):
    """The lines of a manifest as dictionaries without empty values; paths are whole."""
    path = path if is_uri(path) else os.path.abspath(path)
    text = file_systems.of(path).read(path).decode("utf-8-sig")
    is_json = text.lstrip().startswith("{")
    rows = map(json.loads, filter(str.strip, text.splitlines())) if is_json else csv.DictReader(io.StringIO(text))
    for row in rows:
        line = {key.strip(): value for key, value in row.items() if key and value not in (None, "")}
        if "path" not in line:
            raise Failure(f"{path}: a line without a path; call the column with the paths of recordings `path`")
        for column in (column for column in PATH_COLUMNS if column in line):
            line[column] = beside_manifest(path, line[column])
        yield line


def beside_manifest(manifest, path):
    """The whole path of what a manifest names."""
    if is_uri(path) or path.startswith("/"):
        return path
    folder = posixpath.dirname(manifest)
    scheme, separator, rest = folder.rpartition("://")
    return scheme + separator + posixpath.normpath(join(rest, path))


# A task: one shard.


def extract_shard(job, number, recordings):
    """Measures the recordings of a shard, puts its dataset beside those of other attempts, and makes it the one that counts."""
    file_systems = FileSystems(lambda: gateway().jvm, job["settings"])
    with tempfile.TemporaryDirectory(prefix="traceparse-", dir=job["scratch"]) as scratch:
        root = job["root"]
        if is_uri(root):
            root = join(scratch, "in")
            os.makedirs(root)
            for path in sorted({path for recording in recordings for path in (recording["path"], *recording["beside"])}):
                fetch(file_systems.of(job["root"]), join(job["root"], path), join(root, path))
        dataset = join(scratch, "dataset")
        link_symbols(job, scratch)
        run_extract(job, number, recordings, root, dataset, scratch)
        attempt = uuid.uuid4().hex
        folder = join(job["shards"], str(number))
        files = file_systems.of(folder)
        manifest = put_dataset(files, dataset, join(folder, attempt))
    # Sources that appear twice in the list count once, and the command counts the recordings of the shard only.
    if manifest["inputs_expected"] != len(recordings) or manifest["complete"] is not True:
        raise Failure(f"shard {number}: {manifest['inputs_expected']} of {len(recordings)} recordings; is traceparse of another version?")
    put_text(files, json.dumps({"dataset": attempt, "key": job["keys"][number]}), join(folder, "shard.json"))
    return number, manifest["runs"], manifest["failed"]


def fetch(files, path, local):
    """Copies a recording, or a file beside it, to this machine.

    One that is not there any more is a failure of the dataset. Any other error is one of the task, which Spark tries again: a recording
    without its table of contents would have other numbers, and one that a store refused once would be a failure for good.
    """
    try:
        files.get(path, local)
    except Exception as error:  # noqa: BLE001: of Java, of any kind
        if files.exists(path):
            raise
        print(f"traceparse_fleet: {path}: {str(error).splitlines()[0]}", file=sys.stderr)
        shutil.rmtree(local, ignore_errors=True)
        if os.path.isfile(local):
            os.remove(local)


def link_symbols(job, scratch):
    """Every task calls them by the same name, so that shards agree on their symbols."""
    if job["symbols"]:
        from pyspark import SparkFiles

        os.symlink(SparkFiles.get("traceparse-symbols"), join(scratch, "symbols"))


def run_extract(job, number, recordings, root, dataset, scratch):
    options = ["--shard", f"{number}/{job['count']}", "--root", root, *job["extract"]]
    if job["symbols"]:
        options += ["--symbols", "symbols"]
    with open(join(scratch, "plan.json"), "w", encoding="utf-8") as file:
        json.dump({"inputs": job["total"], "lists": job["keys"]}, file)
    options += ["--plan", "plan.json"]
    lines = [recording["labels"] for recording in recordings if recording["labels"]]
    if lines:
        with open(join(scratch, "manifest.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(localized(line, root)) + "\n" for line in lines)
        options += ["--manifest", "manifest.jsonl"]
    paths = "".join(join(root, recording["path"]) + "\0" for recording in recordings if not recording["labels"])
    command = [traceparse(job["traceparse"]), "fleet", "extract", *options, "--files-from", "-", "--null", "-o", dataset]
    done = subprocess.run(command, input=paths.encode(), cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise Failure(f"shard {number}: traceparse fleet extract: exit code {done.returncode}: {said[-2000:]}")


def localized(line, root):
    return {key: join(root, value) if key in PATH_COLUMNS else value for key, value in line.items()}


def traceparse(name):
    """The command on this machine: shipped with the job, or installed."""
    from pyspark import SparkFiles

    for path in (SparkFiles.get(os.path.basename(name)), os.path.abspath(os.path.basename(name)), shutil.which(name)):
        if path and os.path.isfile(path):
            if not os.access(path, os.X_OK):
                os.chmod(path, 0o755)
            return path
    raise Failure(f"{name}: not on {os.uname().nodename}; ship it with --files, or name it with --traceparse")


# The driver.


class Usage(Failure):
    """Wrong arguments."""


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--input", nargs="+", default=[], metavar="URI", help="recordings, exports, and folders of them")
    add("--manifest", nargs="+", default=[], metavar="URI", help="CSV or JSON lines with a column `path`, and labels of recordings")
    add("--root", metavar="URI", help="the folder below which paths decide about shards [default: the input, or what all share]")
    add("--output", required=True, metavar="URI", help="the folder of shards, dataset and reports")
    add("--shards", type=int, metavar="N", help="number of tasks [default: as before, or 4 for each core of the cluster]")
    add("--traceparse", default="traceparse", metavar="PATH", help="the command on the machines of the cluster [default: traceparse]")
    add("--symbols", metavar="PATH", help="a folder, or a .zip, .tar or .tar.gz, of symbols, which is shipped to the executors")
    add("--extract", default="", metavar="OPTIONS", help="further options of `fleet extract`, such as '--during FeedScroll'")
    add("--report", action="append", default=[], metavar="OPTIONS", help="options of `fleet report`, such as '--by app_version' (repeatable)")
    add("--report-format", choices=["csv", "json", "html"], default="csv", help="format of reports [default: csv]")
    add("--scratch", metavar="DIR", help="folder for copies of recordings on the executors [default: that of the system]")
    add("--strict", action="store_true", help="exit code 1 if a recording gives no run")
    args = parser.parse_args(words)
    if not args.input and not args.manifest:
        parser.error("name recordings with --input or --manifest")
    if args.shards is not None and args.shards < 1:
        parser.error("--shards counts from 1")
    args.output = args.output.rstrip("/") if is_uri(args.output) else os.path.abspath(args.output)
    return args


def say(text):
    print(f"traceparse_fleet: {text}", file=sys.stderr, flush=True)


def main(words):
    args = arguments(words)
    from pyspark.sql import SparkSession

    context = SparkSession.builder.appName("traceparse fleet").getOrCreate().sparkContext
    settings = hadoop_settings(context)
    file_systems = FileSystems(lambda: context._jvm, settings)
    recordings, root = find_recordings(file_systems, args.input, args.manifest, args.root)
    if not recordings:
        raise Failure("found no recordings (*.trace, also in archives, and *.xml, also compressed)")
    job = plan(args, context, file_systems, recordings, root, settings)
    datasets = extract(context, file_systems, job, recordings)
    with tempfile.TemporaryDirectory(prefix="traceparse-", dir=args.scratch) as scratch:
        merged, manifest = merge(args, file_systems, datasets, scratch)
        codes = [report(args, file_systems, merged, index, options) for index, options in enumerate(args.report, 1)]
    return 1 if args.strict and manifest["failed"] else max(codes, default=0)


def hadoop_settings(context):
    """The settings of Hadoop that this job was given; all others are the same on every machine."""
    return {key[len("spark.hadoop."):]: value for key, value in context.getConf().getAll() if key.startswith("spark.hadoop.")}


def plan(args, context, file_systems, recordings, root, settings):
    """What all tasks must know."""
    ship(args, context)
    count = args.shards or known_count(file_systems, args.output) or 4 * context.defaultParallelism
    by_shard = {number: [] for number in range(1, count + 1)}
    for recording in recordings:
        by_shard[shard_of(recording["path"], count)].append(recording)
    facts = [args.extract, hash_of_files(args.symbols), version(args)]
    return {
        "count": count, "root": root, "shards": join(args.output, "shards", f"of-{count}"), "by_shard": by_shard, "settings": settings,
        "keys": {number: hashed([facts, own]) for number, own in by_shard.items()}, "extract": shlex.split(args.extract),
        "symbols": bool(args.symbols), "traceparse": args.traceparse, "scratch": args.scratch,
    }  # fmt: skip


def ship(args, context):
    """Sends the command and symbols to the executors, if they are files here."""
    if os.path.isfile(args.traceparse):
        context.addFile(os.path.abspath(args.traceparse))
    if not args.symbols:
        return
    if not os.path.exists(args.symbols):
        raise Usage(f"{args.symbols}: does not exist here")
    archive = args.symbols
    if os.path.isdir(archive):
        folder = tempfile.mkdtemp(prefix="traceparse-symbols-")
        archive = shutil.make_archive(join(folder, "traceparse-symbols"), "zip", args.symbols)
    context.addArchive(os.path.abspath(archive) + "#traceparse-symbols")


def known_count(file_systems, output):
    """The number of shards of the last job on this output, if it had one number."""
    files, folder = file_systems.of(output), join(output, "shards")
    names = [name for name, *_ in files.list(folder) if name.startswith("of-")] if files.is_folder(folder) else []
    return int(names[0][len("of-"):]) if len(names) == 1 and names[0][len("of-"):].isdigit() else None


def version(args):
    return subprocess.run([traceparse(args.traceparse), "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()


def hash_of_files(path):
    """The content of symbols."""
    if not path:
        return None
    names = [path] if os.path.isfile(path) else sorted(join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return hashed([[os.path.relpath(name, path), hashlib.sha256(Mounted().read(name)).hexdigest()] for name in names])


def hashed(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def attempt_that_counts(files, job, number):
    """The folder of the dataset of a shard; None if it is not there, not whole, or of other recordings."""
    folder = join(job["shards"], str(number))
    if not files.exists(join(folder, "shard.json")):
        return None
    shard = json.loads(files.read(join(folder, "shard.json")))
    dataset = join(folder, shard["dataset"])
    return dataset if shard["key"] == job["keys"][number] and is_whole(files, dataset) else None


def is_whole(files, dataset):
    """Every file is there that the manifest names."""
    if not files.exists(join(dataset, MANIFEST)):
        return False
    there = {join(table, name) for table in TABLES if files.is_folder(join(dataset, table)) for name, *_ in files.list(join(dataset, table))}
    return data_files(json.loads(files.read(join(dataset, MANIFEST)))) <= there


def extract(context, file_systems, job, recordings):
    """Measures all shards that are not there; returns the dataset of each."""
    files = file_systems.of(job["shards"])
    todo = [number for number in job["by_shard"] if attempt_that_counts(files, job, number) is None]
    say(f"{len(recordings)} recordings, {job['count']} shards, {job['count'] - len(todo)} of them done before")
    common = {key: value for key, value in job.items() if key != "by_shard"}
    common["total"] = len(recordings)
    tasks = [(number, job["by_shard"][number]) for number in todo]
    context.setJobGroup("traceparse extract", "traceparse fleet extract")
    if tasks:
        found = context.parallelize(tasks, len(tasks)).map(lambda task: extract_shard(common, *task)).collect()
        say(f"{sum(runs for _, runs, _ in found)} runs, {sum(failed for *_, failed in found)} recordings without one")
    datasets = {number: attempt_that_counts(files, job, number) for number in job["by_shard"]}
    for number, dataset in datasets.items():
        if dataset is None:
            raise Failure(f"{join(job['shards'], str(number))}: no dataset; another job may have measured other recordings into this output")
        remove_old_attempts(files, dataset)
    return datasets


def remove_old_attempts(files, counts):
    """Removes the other attempts at a shard, but for those that changed within a day: one that Spark has given up, or one of another
    job, may still be at work, and would then take what is left of its dataset for the whole."""
    folder = posixpath.dirname(counts)
    for name, is_folder, *_ in list(files.list(folder)):
        attempt = join(folder, name)
        if is_folder and attempt != counts and stamp_of_bundle(files, attempt)[1] < (time.time() - DAY) * 1_000:
            files.remove(attempt)


def merge(args, file_systems, datasets, scratch):
    """Merges the datasets of all shards and puts the result in its place; returns a copy on this machine, and its manifest."""
    parts = []
    for number, dataset in datasets.items():
        if is_uri(dataset):
            files = file_systems.of(dataset)
            local = join(scratch, f"shard-{number}")
            files.get(dataset, local)
            dataset = local
        parts.append(dataset)
    merged = join(scratch, "dataset")
    command(args, ["merge", *parts, "-o", merged])
    manifest = put_dataset(file_systems.of(args.output), merged, join(args.output, "dataset"))
    say(f"{manifest['runs']} runs and {manifest['failed']} failures in {join(args.output, 'dataset')}")
    return merged, manifest


def command(args, words, codes=(0,)):
    """Runs `traceparse fleet`; returns what it writes, and its exit code."""
    done = subprocess.run([traceparse(args.traceparse), "fleet", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    sys.stderr.write(done.stderr.decode(errors="replace"))
    if done.returncode not in codes:
        raise Failure(f"traceparse fleet {words[0]}: exit code {done.returncode}")
    return done.stdout.decode(), done.returncode


def report(args, file_systems, merged, index, options):
    """Makes a report on the merged dataset, and returns its exit code: 3 and 4 are those of alerts."""
    path = join(args.output, f"report-{index}.{args.report_format}")
    text, code = command(args, ["report", merged, "--format", args.report_format, *shlex.split(options)], codes=(0, 3, 4))
    put_text(file_systems.of(path), text, path)
    say(path)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Usage as wrong:
        say(wrong)
        sys.exit(2)
    except (Failure, OSError) as failure:
        say(failure)
        sys.exit(1)
