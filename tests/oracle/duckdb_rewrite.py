#!/usr/bin/env python3
"""Has DuckDB write the tables of a dataset anew: other codecs, row groups, encodings and pages, rows in another order, in several files, and a column more.

    duckdb_rewrite.py DATASET FOLDER    makes FOLDER/CODEC/TABLE/N.parquet
"""

import sys
from pathlib import Path

import duckdb

TABLES = ["runs", "labels", "frames", "modules", "windows", "stacks"]
FILES = 3
WAYS = {
    "snappy": "COMPRESSION snappy, ROW_GROUP_SIZE 2048",
    "gzip": "COMPRESSION gzip",
    "lz4_raw": "COMPRESSION lz4_raw, ROW_GROUP_SIZE 4096",
    "uncompressed": "COMPRESSION uncompressed",
    "zstd-v2": "COMPRESSION zstd, PARQUET_VERSION v2",
}


def quoted(text) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def main() -> None:
    dataset, folder = Path(sys.argv[1]), Path(sys.argv[2])
    for way, options in WAYS.items():
        for table in TABLES:
            (folder / way / table).mkdir(parents=True)
            duckdb.sql(
                f"CREATE OR REPLACE TEMP TABLE mixed AS SELECT 1.5 AS more, *, hash(ROW_NUMBER() OVER ()) AS place "
                f"FROM read_parquet({quoted(dataset / table / '*.parquet')})"
            )
            for number in range(FILES):
                target = folder / way / table / f"{number}.parquet"
                rows = f"SELECT * EXCLUDE place FROM mixed WHERE place % {FILES} = {number} ORDER BY place"
                duckdb.sql(f"COPY ({rows}) TO {quoted(target)} (FORMAT parquet, {options})")
        print(way, flush=True)


if __name__ == "__main__":
    main()
