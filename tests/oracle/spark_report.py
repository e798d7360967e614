#!/usr/bin/env python3
"""Compares reports on fleets with what Spark makes of their dataset, and has Spark and DuckDB rewrite it.

    spark_report.py [COMMAND FOLDER]...

    reports FOLDER    runs every NAME.sql of the folder and compares with NAME.csv, bit by bit
    refused FOLDER    every NAME.sql of the folder fails, since a file of the dataset is missing
    rewrite FOLDER    writes the tables of FOLDER/dataset anew into FOLDER/rewritten

Exits with 1 and the first differences.
"""

import csv
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from duckdb_report import COUNTS, NAMES, bits, key_of

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "3",
    # The JVM ends before its second compiler pays off, which takes a third of the processor time.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def session():
    builder = SparkSession.builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def compare(spark, name: str, folder: Path) -> None:
    result = spark.sql((folder / f"{name}.sql").read_text().strip().rstrip(";"))
    columns = result.columns
    theirs = [dict(zip(columns, row)) for row in result.collect()]
    with open(folder / f"{name}.csv", newline="") as file:
        ours = list(csv.DictReader(file))
    keys = columns[: columns.index("scope")] + NAMES + ["measure"]
    by_key = {key_of(row, keys): row for row in ours}
    assert len(by_key) == len(ours) > 0, f"{name}: {len(ours) - len(by_key)} rows of the report have a twin"
    assert list(ours[0])[: len(columns)] == columns, f"{name}: columns {list(ours[0])} and {columns}"
    assert len(theirs) == len(ours), f"{name}: {len(ours)} rows, Spark has {len(theirs)}"
    compared = 0
    for row in theirs:
        mine = by_key[key_of(row, keys)]
        for number in columns[columns.index("runs"):]:
            text, other = mine[number], row[number]
            if text == "" or other is None:
                same = text == "" and other is None
            else:
                same = int(text) == other if number in COUNTS else bits(float(text)) == bits(other)
            assert same, f"{name}: {key_of(row, keys)} {number}: {text}, Spark has {other!r}"
            compared += 1
    print(f"{name}: {len(ours)} rows, {compared} numbers equal", flush=True)


def refused(spark, name: str, folder: Path) -> None:
    try:
        rows = spark.sql((folder / f"{name}.sql").read_text().strip().rstrip(";")).collect()
    except Exception as error:  # noqa: BLE001: of Java, of any kind
        assert "a file of the dataset is missing" in str(error), f"{name}: {error}"
        print(f"{name}: refused", flush=True)
        return
    raise AssertionError(f"{name}: {len(rows)} rows of a dataset without a file")


def rewrite(spark, dataset: Path, target: Path) -> None:
    for table in ("runs", "labels", "frames", "modules", "windows", "hist", "stacks"):
        rows = spark.read.option("__globPaths__", "false").parquet(str(dataset / table))
        # Another order of columns, and rows of a run in any file.
        rows = rows.select(*reversed(rows.columns)).repartition(3)
        rows.write.option("compression", "snappy").parquet(str(target / table))
        print(f"{table}: {rows.count()} rows", flush=True)


def main() -> None:
    spark = session()
    for command, folder in zip(sys.argv[1::2], map(Path, sys.argv[2::2])):
        if command == "rewrite":
            rewrite(spark, folder / "dataset", folder / "rewritten")
            continue
        for path in sorted(folder.glob("*.sql")):
            (refused if command == "refused" else compare)(spark, path.stem, folder)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as difference:
        sys.exit(f"spark_report.py: {difference}")
