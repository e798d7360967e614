"""What the Spark job does where a store fails, or an attempt at a shard comes late: cases that no cluster on one machine gets into by itself.

    python3 tests/spark/parts.py

Needs no Spark: the functions of the job take any file system.
"""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

# The folder of the job stays as it is.
sys.dont_write_bytecode = True
JOB = pathlib.Path(__file__).resolve().parents[2] / "examples/spark/traceparse_fleet.py"
spec = importlib.util.spec_from_file_location("traceparse_fleet", JOB)
job = importlib.util.module_from_spec(spec)
spec.loader.exec_module(job)


class Refusing(job.Mounted):
    """A store that starts to copy a file and then fails; `after` is what happens meanwhile."""

    def __init__(self, after):
        self.after = after

    def get(self, path, local):
        os.makedirs(os.path.dirname(local), exist_ok=True)
        pathlib.Path(local).write_text("half")
        self.after(path)
        raise OSError("503 Slow Down")


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, path, text=""):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)


class Fetches(Folder):
    def test_a_store_that_refuses_a_file_fails_the_task(self):
        path = self.write("run-toc.xml", "whole")
        with self.assertRaisesRegex(OSError, "Slow Down"):
            job.fetch(Refusing(after=lambda path: None), path, str(self.folder / "in/run-toc.xml"))

    def test_a_recording_that_is_gone_is_left_to_the_command(self):
        path = self.write("run.xml", "whole")
        local = self.folder / "in/run.xml"
        with contextlib.redirect_stderr(io.StringIO()) as said:
            job.fetch(Refusing(after=os.remove), path, str(local))
        self.assertIn("Slow Down", said.getvalue())
        self.assertFalse(local.exists(), "half a recording is not one")


class Attempts(Folder):
    DATA = ("runs/a.parquet", "labels/a.parquet", "frames/a.parquet", "modules/a.parquet", "windows/a.parquet", "stacks/a.parquet")

    def attempt(self, name, but=()):
        for file in self.DATA:
            if file not in but:
                self.write(f"1/{name}/{file}")
        self.write(f"1/{name}/{job.MANIFEST}", json.dumps({"files": {"a": {}}}))
        return str(self.folder / "1" / name)

    def counting(self, name, key="k"):
        self.write("1/shard.json", json.dumps({"dataset": name, "key": key}))
        return job.attempt_that_counts(job.Mounted(), {"shards": str(self.folder), "keys": {1: "k"}}, 1)

    def age(self, path, days):
        for folder, _, names in os.walk(path):
            for name in names:
                changed = os.stat(os.path.join(folder, name)).st_mtime - days * job.DAY
                os.utime(os.path.join(folder, name), (changed, changed))

    def test_a_whole_attempt_of_the_same_recordings_counts(self):
        attempt = self.attempt("whole")
        self.assertEqual(self.counting("whole"), attempt)
        self.assertIsNone(self.counting("whole", key="of other recordings"))

    def test_an_attempt_that_lost_any_file_does_not_count(self):
        for file in self.DATA:
            name = "without-" + file.split("/")[0]
            self.attempt(name, but=[file])
            self.assertIsNone(self.counting(name), file)

    def test_an_attempt_without_a_manifest_does_not_count(self):
        os.remove(os.path.join(self.attempt("begun"), job.MANIFEST))
        self.assertIsNone(self.counting("begun"))

    def test_only_old_attempts_are_removed(self):
        counts, late, old = (self.attempt(name) for name in ("counts", "late", "old"))
        self.age(old, days=2)
        self.age(counts, days=2)
        job.remove_old_attempts(job.Mounted(), counts)
        self.assertEqual([os.path.exists(path) for path in (counts, late, old)], [True, True, False])
        # What the late one then says of itself is true.
        self.assertEqual(self.counting("late"), late)

    def test_an_attempt_that_is_still_written_is_not_old(self):
        counts, begun = self.attempt("counts"), self.attempt("begun", but=self.DATA[1:])
        os.remove(os.path.join(begun, job.MANIFEST))
        self.age(begun, days=2)
        self.write("1/begun/stacks/a.parquet")
        job.remove_old_attempts(job.Mounted(), counts)
        self.assertTrue(os.path.exists(begun))


if __name__ == "__main__":
    unittest.main()
