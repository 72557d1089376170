#!/usr/bin/env python3
"""Shows the bar and Spark's own count of tasks for a skewed groupByKey and a skewed join on a real Spark.

usage: ./dev demo spark [RUN_OPTION...]
"""

import subprocess
import sys

import cluster

VERSION = "3.5.7"
SCALE = 0.6
SETTINGS = {"spark.sql.adaptive.enabled": "false", "spark.tidemark.keys": "true",
            "spark.log.level": "ERROR"}  # limits the output above the bar


def show(spark, application, options):
    """Runs an application and returns its exit code."""
    events = spark.folder / application
    events.mkdir()
    command = spark.submit(["--name", application, "--jars", str(spark.jobs_jar()), str(cluster.JOBS / "demo.py"),
                            application, f"{SCALE:g}"], SETTINGS, events)
    return subprocess.run(
        [spark.tidemark, "run", "spark", "--jar", str(cluster.CONNECTOR), *options, "--", *command],
        env=spark.environment(), cwd=spark.folder).returncode


def main():
    cluster.build_connector()
    with cluster.Spark(VERSION) as spark:
        for application in ("groups", "join"):
            code = show(spark, application, sys.argv[1:])
            if code != 0:
                sys.exit(code)


if __name__ == "__main__":
    main()
