#!/usr/bin/env python3
"""Runs a job for Spark in this driver, and ends one executor by SIGKILL while the job extracts.

    spark-submit --master 'local-cluster[2,1,1024]' with_killed_executors.py KILLED.json JOB.py ARGUMENTS...

KILLED.json says what was killed. The exit code is that of the job.
"""

import json
import os
import runpy
import signal
import sys
import threading
import time

# Before there are two threads that would.
import pyspark.sql  # noqa: F401
from pyspark import SparkContext

# In `local-cluster`, executors are children of the driver's Java machine, and that is the parent of this process.
JAVA = os.getppid()


def executors():
    """The processes of executors that this driver started."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{name}/cmdline", "rb") as file:
                is_executor = b"CoarseGrainedExecutorBackend" in file.read()
        except (OSError, ValueError):
            continue
        if parent == JAVA and is_executor:
            found.append(int(name))
    return sorted(found)


def stages(tracker, group):
    """The stages of the jobs of a group that were begun."""
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            stage = tracker.getStageInfo(stage)
            if stage:
                yield stage


def is_under_way(tracker, group):
    """True between the first results of a group and its last."""
    found = list(stages(tracker, group))
    return any(stage.numCompletedTasks for stage in found) and any(stage.numActiveTasks for stage in found)


def kill_one(group, path):
    killed = []
    while not killed:
        time.sleep(0.01)
        context = SparkContext._active_spark_context
        # It is there before all of it is.
        if getattr(context, "_jsc", None) is None or not is_under_way(context.statusTracker(), group):
            continue
        killed = executors()[:1]
        for process in killed:
            os.kill(process, signal.SIGKILL)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(killed, file)


if __name__ == "__main__":
    threading.Thread(target=kill_one, args=("traceparse extract", sys.argv[1]), daemon=True).start()
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
