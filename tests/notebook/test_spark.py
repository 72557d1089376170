"""Executes notebooks with a real PySpark."""

import re

import pytest

# Two tasks of two and four seconds. Python processes run them.
ACTION = """
import time
slow = lambda part: [time.sleep(2 * (part[0] + 1)) or part[0]]
spark.sparkContext.setJobDescription("slow action")
spark.sparkContext.parallelize([0, 1], 2).mapPartitions(lambda part: slow(list(part))).collect()
"""
CREATE = """
import tidemark
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
"""
LAST_LINE = re.compile(r"✓ slow action: (\d+\.\d|\d+) s(, predicted \d+ s)?(; .*)?")


@pytest.mark.parametrize(
    "how",
    [
        "spark = tidemark.spark.attach(builder.getOrCreate())",
        "spark = tidemark.spark.session(builder)",
        "%load_ext tidemark\nspark = builder.getOrCreate()",
    ],
    ids=["attach", "session", "load_ext"],
)
def test_an_action_in_a_cell_draws_a_bar_and_leaves_one_line(execute, pyspark, how):
    notebook = execute([CREATE + how, ACTION, "1 + 1", "spark.stop()"])
    (bar,) = notebook.bundles(1)
    assert LAST_LINE.fullmatch(bar["text/plain"]), bar
    assert not notebook.bundles(0) and not notebook.bundles(2)


def test_a_failed_action_leaves_its_reason(execute, pyspark):
    cell = ACTION.replace("or part[0]", "or 1 / 0")
    notebook = execute(
        [CREATE + "spark = tidemark.spark.session(builder)", f"try:\n    exec({cell!r})\nexcept Exception:\n    pass"]
    )
    (bar,) = notebook.bundles(1)
    assert bar["text/plain"].startswith("✗ slow action: ") and "ZeroDivisionError" in bar["text/plain"]


def test_a_session_after_a_plain_session_still_starts(execute, pyspark):
    notebook = execute(
        [
            CREATE + "builder.getOrCreate().stop()\nspark = tidemark.spark.session(builder)",
            ACTION,
            "spark.stop()",
        ]
    )
    (bar,) = notebook.bundles(1)
    assert LAST_LINE.fullmatch(bar["text/plain"]), bar


def test_an_action_of_a_thread_does_not_delay_later_cells(execute, pyspark):
    cells = [
        CREATE + "spark = tidemark.spark.session(builder)",
        "import threading, time\n"
        "work = lambda: spark.sparkContext.parallelize([0], 1).foreach(lambda _: time.sleep(20))\n"
        "thread = threading.Thread(target=work)\nthread.start()\ntime.sleep(5)\nbegan = time.monotonic()",
        *["pass"] * 3,
        "print(time.monotonic() - began < 3.0, thread.is_alive())",
        "thread.join()\nspark.stop()",
    ]
    assert execute(cells).text(5) == "True True\n"
