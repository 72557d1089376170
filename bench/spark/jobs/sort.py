"""Sorts rows by a hash and writes them. Argument: the share of the usual work."""

import hashlib
import pathlib
import sys
import tempfile

from pyspark.sql import SparkSession

ROWS = 24_000_000

session = SparkSession.builder.getOrCreate()
with tempfile.TemporaryDirectory() as folder:
    rows = session.range(0, int(ROWS * float(sys.argv[1])), 1, 8).selectExpr(
        "xxhash64(id) AS k", "id", "hex(id) AS payload")
    rows.orderBy("k", "id").write.csv(f"{folder}/sorted")
    session.stop()
    digest = hashlib.sha256()
    for part in sorted(pathlib.Path(folder).glob("sorted/part-*")):
        digest.update(part.read_bytes())
print("RESULT", digest.hexdigest())
