"""Runs the recipe of docs/advise.md: keep_recipe.py PAGE FOLDER. Prints a line for each query with
the name of its stored result and its rows."""

import pathlib
import re
import sys

from pyspark.sql import SparkSession

page, folder = map(pathlib.Path, sys.argv[1:])
recipe = re.search(r"```python\n(import hashlib.*?)```", page.read_text(), re.S).group(1)
exec(recipe)  # Defines keep().

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .getOrCreate()
)


def show(name, df):
    kept = keep(df, f"file:{folder}/kept")
    stored = {pathlib.Path(file).parent.name for file in kept.inputFiles()}
    print(name, "".join(sorted(stored)), sorted(map(tuple, kept.collect())), flush=True)


def table(name):
    return spark.read.csv(f"file:{folder}/{name}", schema="site string, tone int")


a, b = table("a.csv"), table("b.csv")
show("mean", a.where("tone > 1").groupBy("site").avg("tone"))
show("filter", a.where("tone > 2").groupBy("site").avg("tone"))
show("left", a.join(b.withColumnRenamed("tone", "other"), "site", "left"))
show("right", b.join(a.withColumnRenamed("tone", "other"), "site", "left"))
spark.stop()
