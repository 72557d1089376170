"""A query that adaptive execution runs as several jobs: two joins, an aggregate and a top list.

Argument: the share of the usual work.
"""

import sys

from pyspark.sql import SparkSession

CUSTOMERS = 1_000_000
ORDERS = 10_000_000
LINES = 40_000_000

scale = float(sys.argv[1])
session = SparkSession.builder.getOrCreate()
for name, rows, partitions, columns in (
        ("customers", CUSTOMERS, 2, ["id AS customer", "pmod(hash(id), 25) AS nation"]),
        ("orders", ORDERS, 6,
         ["id AS number", f"pmod(xxhash64(id), {int(CUSTOMERS * scale)}) AS customer",
          "pmod(hash(id, 7), 2400) AS day"]),
        ("lines", LINES, 8,
         [f"pmod(xxhash64(id, 3), {int(ORDERS * scale)}) AS number",
          "pmod(hash(id, 11), 100000) AS price"])):
    session.range(0, int(rows * scale), 1, partitions).selectExpr(*columns).createOrReplaceTempView(name)
best = session.sql("""
    SELECT /*+ MERGE(lines), MERGE(customers) */ customers.customer, nation, sum(price) AS revenue, max(day) AS last
    FROM lines JOIN orders ON lines.number = orders.number
               JOIN customers ON orders.customer = customers.customer
    WHERE day < 2000
    GROUP BY customers.customer, nation
    ORDER BY revenue DESC, customer
    LIMIT 50""").collect()
print("RESULT", [tuple(row) for row in best])
session.stop()
