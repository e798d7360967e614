#!/usr/bin/env python3
"""Compares reports on a fleet with what DuckDB makes of their dataset.

    duckdb_report.py FOLDER    runs every NAME.sql of the folder on FOLDER/fleet and compares with NAME.csv, bit by bit

Statements name the tables of the dataset. The tables must have plain columns. Exits with 1 and the first differences.
"""

import csv
import re
import struct
import sys
from pathlib import Path

TABLES = ("runs", "labels", "frames", "modules", "windows", "stacks")
COUNTS = {"runs", "zero_runs"}
MEASURES = re.compile(r"min|max|mean|weighted_mean|p[\d.]+")
PLAIN = {"BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN"}


def bits(number: float) -> bytes:
    return struct.pack("<d", number)


def is_same(number: str, text: str, other) -> bool:
    if text == "" or other is None:
        return text == "" and other is None
    return int(text) == other if number in COUNTS else bits(float(text)) == bits(other)


def compare(columns: list, rows: list, folder: Path, name: str) -> None:
    """Compares the rows of an engine with the CSV of a report."""
    with open(folder / f"{name}.csv", newline="") as file:
        ours = list(csv.DictReader(file))
    numbers = [column for column in columns if column in COUNTS or MEASURES.fullmatch(column)]
    keys = [column for column in columns if column not in numbers]
    key_of = lambda row: tuple(row[key] or "" for key in keys)  # noqa: E731
    by_key = {key_of(row): row for row in ours}
    assert len(by_key) == len(ours) > 0, f"{name}: {len(ours) - len(by_key)} rows of the report have a twin"
    assert len(rows) == len(ours), f"{name}: {len(ours)} rows, the engine has {len(rows)}"
    for row in (dict(zip(columns, row)) for row in rows):
        mine = by_key[key_of(row)]
        for number in numbers:
            assert is_same(number, mine[number], row[number]), f"{name}: {key_of(row)} {number}: {mine[number]}, the engine has {row[number]!r}"
    print(f"{name}: {len(ours)} rows, {len(numbers) * len(ours)} numbers equal", flush=True)


def main() -> None:
    import duckdb

    folder = Path(sys.argv[1])
    assert {path.name for path in (folder / "fleet").iterdir()} == set(TABLES)
    for table in TABLES:
        duckdb.sql(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{folder}/fleet/{table}/*.parquet')")
        found = duckdb.sql(f"DESCRIBE {table}").fetchall()
        odd = [row[:2] for row in found if row[1] not in PLAIN]
        assert found and not odd, f"{table}: {odd}"
        assert duckdb.sql(f"SELECT COUNT(*) FROM {table}").fetchall()[0][0] > 0, f"{table} is empty"
    for path in sorted(folder.glob("*.sql")):
        result = duckdb.sql(path.read_text())
        compare(result.columns, result.fetchall(), folder, path.stem)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as difference:
        sys.exit(f"duckdb_report.py: {difference}")
