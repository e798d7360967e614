#!/usr/bin/env python3
"""Compares reports on fleets with what DuckDB makes of their dataset.

    duckdb_report.py [COMMAND FOLDER]...

    reports FOLDER    runs every NAME.sql of the folder and compares with NAME.csv, bit by bit
    refused FOLDER    every NAME.sql of the folder fails, since a run is there twice
    columns FOLDER    the tables below the folder have plain columns

Exits with 1 and the first differences.
"""

import csv
import struct
import sys
from pathlib import Path

import duckdb

NAMES = ["scope", "process", "thread", "binary", "function"]
COUNTS = {"runs", "zero_runs"}
PLAIN = {"BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN"}


def bits(number: float) -> bytes:
    return struct.pack("<d", number)


def key_of(row: dict, keys: list) -> tuple:
    return tuple(row[key] or "" for key in keys)


def compare(name: str, folder: Path) -> int:
    result = duckdb.sql((folder / f"{name}.sql").read_text())
    columns = result.columns
    theirs = [dict(zip(columns, row)) for row in result.fetchall()]
    with open(folder / f"{name}.csv", newline="") as file:
        ours = list(csv.DictReader(file))
    keys = columns[: columns.index("scope")] + NAMES + ["measure"]
    numbers = columns[columns.index("runs"):]
    by_key = {key_of(row, keys): row for row in ours}
    assert len(by_key) == len(ours) > 0, f"{name}: {len(ours) - len(by_key)} rows of the report have a twin"
    assert list(ours[0])[: len(columns)] == columns, f"{name}: columns {list(ours[0])} and {columns}"
    assert len(theirs) == len(ours), f"{name}: {len(ours)} rows, DuckDB has {len(theirs)}"
    compared = 0
    for row in theirs:
        mine = by_key[key_of(row, keys)]
        for number in numbers:
            text, other = mine[number], row[number]
            if text == "" or other is None:
                same = text == "" and other is None
            elif number in COUNTS:
                same = int(text) == other
            else:
                same = bits(float(text)) == bits(other)
            assert same, f"{name}: {key_of(row, keys)} {number}: {text}, DuckDB has {other!r}"
            compared += 1
    print(f"{name}: {len(ours)} rows, {compared} numbers equal")
    return compared


def columns(folder: Path) -> None:
    tables = sorted(path.name for path in folder.iterdir())
    assert {"runs", "labels", "frames", "modules", "windows", "hist", "stacks"} == set(tables), tables
    quoted = str(folder).replace("'", "''")
    for table in tables:
        found = duckdb.sql(f"DESCRIBE SELECT * FROM read_parquet('{quoted}/{table}/*.parquet')").fetchall()
        odd = [row[:2] for row in found if row[1] not in PLAIN]
        assert found and not odd, f"{table}: {odd}"
        count = duckdb.sql(f"SELECT COUNT(*) FROM read_parquet('{quoted}/{table}/*.parquet')").fetchall()[0][0]
        assert count > 0, f"{table} is empty"
        print(f"{table}: {len(found)} columns, {count} rows")


def refused(name: str, folder: Path) -> None:
    try:
        rows = duckdb.sql((folder / f"{name}.sql").read_text()).fetchall()
    except duckdb.Error as error:
        assert "the dataset has a run twice" in str(error), f"{name}: {error}"
        print(f"{name}: refused")
        return
    raise AssertionError(f"{name}: {len(rows)} rows of a dataset with a run twice")


def main() -> None:
    for command, folder in zip(sys.argv[1::2], map(Path, sys.argv[2::2])):
        if command == "columns":
            columns(folder)
            continue
        for path in sorted(folder.glob("*.sql")):
            (refused if command == "refused" else compare)(path.stem, folder)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as difference:
        sys.exit(f"duckdb_report.py: {difference}")
