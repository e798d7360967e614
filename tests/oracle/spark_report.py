#!/usr/bin/env python3
"""Compares reports on a fleet with what Spark makes of their dataset, and has Spark rewrite the dataset.

    spark_report.py FOLDER    runs every NAME.sql of the folder on FOLDER/fleet and compares with NAME.csv, bit by bit;
                              writes the tables of FOLDER/fleet anew into FOLDER/rewritten

Exits with 1 and the first differences.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from duckdb_report import TABLES, compare

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


def main() -> None:
    spark, folder = session(), Path(sys.argv[1])
    for table in TABLES:
        rows = spark.read.parquet(str(folder / "fleet" / table))
        rows.createOrReplaceTempView(table)
        # Another order of columns, and rows of a run in any file.
        rows = rows.select(*reversed(rows.columns)).repartition(3)
        rows.write.option("compression", "snappy").parquet(str(folder / "rewritten" / table))
    for path in sorted(folder.glob("*.sql")):
        result = spark.sql(path.read_text().strip().rstrip(";"))
        compare(result.columns, result.collect(), folder, path.stem)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as difference:
        sys.exit(f"spark_report.py: {difference}")
