"""Reports the progress and the predicted end of MapReduce and Spark jobs.

    import tidemark

    tidemark.spark.attach(spark)               # draws a bar for each action of a Spark session
    for snapshot in tidemark.watch("app-1"):   # draws the bar of a job, in a notebook too
        ...

docs/tours/notebook.md and docs/python.md are the guides to this package.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import pkgutil
from typing import Any, Generator, Optional, TextIO

from tidemark import aio, spark
from tidemark._security import Path
from tidemark.answers import Answer, Deadline, deadline, explain, submit, what_if
from tidemark.bar import make_bar, show, shown
from tidemark.client import Client, Seconds, Watch
from tidemark.errors import (
    DeniedError,
    NotEndedError,
    NotFoundError,
    RefusedError,
    TidemarkError,
    UnreachableError,
)
from tidemark.job import (
    Basis,
    Child,
    ChildState,
    Counts,
    Coverage,
    Estimate,
    EstimateMethod,
    EstimateRaised,
    EstimateState,
    Evidence,
    Group,
    Indicator,
    IndicatorError,
    JobInfo,
    JobKind,
    JobState,
    NamedTask,
    RaiseCause,
    Range,
    ShuffleProgress,
    Snapshot,
    StageId,
    StageInfo,
    StageKind,
    StageProgress,
    StageState,
    TaskAttemptId,
    Throughput,
    View,
)
from tidemark.spark import spark_conf

# Modules that a program generates from tidemark/v1/*.proto are importable as tidemark.v1.
__path__ = pkgutil.extend_path(__path__, __name__)

__version__ = importlib.metadata.version("tidemark")

__all__ = [
    "Answer",
    "Basis",
    "Child",
    "ChildState",
    "Client",
    "Counts",
    "Coverage",
    "Deadline",
    "DeniedError",
    "Estimate",
    "EstimateMethod",
    "EstimateRaised",
    "EstimateState",
    "Evidence",
    "Group",
    "Indicator",
    "IndicatorError",
    "JobInfo",
    "JobKind",
    "JobState",
    "NamedTask",
    "NotEndedError",
    "NotFoundError",
    "RaiseCause",
    "Range",
    "RefusedError",
    "ShuffleProgress",
    "Snapshot",
    "StageId",
    "StageInfo",
    "StageKind",
    "StageProgress",
    "StageState",
    "TaskAttemptId",
    "Throughput",
    "TidemarkError",
    "UnreachableError",
    "View",
    "Watch",
    "aio",
    "deadline",
    "explain",
    "show",
    "spark",
    "spark_conf",
    "submit",
    "watch",
    "what_if",
]


def watch(
    job_id: str,
    *,
    master: Optional[str] = None,
    token: Optional[str] = None,
    token_file: Optional[Path] = None,
    tls_ca: Optional[Path] = None,
    tls_certificate: Optional[Path] = None,
    tls_key: Optional[Path] = None,
    tls_server_name: Optional[str] = None,
    view: View = View.FULL,
    interval_min: Seconds = 0,
    wait_for_job: bool = False,
    timeout: Optional[Seconds] = None,
    patience: Seconds = 60,
    file: Optional[TextIO] = None,
    disable: Optional[bool] = False,
) -> Watch[Snapshot]:
    """Returns the snapshots of a job until it ends, and draws them.

    The arguments are those of Client, Client.watch() and show().
    """
    client = Client(
        master,
        token=token,
        token_file=token_file,
        tls_ca=tls_ca,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
        tls_server_name=tls_server_name,
    )

    def drawn() -> Generator[Snapshot, None, None]:
        with client, contextlib.closing(make_bar(file, disable)) as bar:
            snapshots = client.watch(
                job_id,
                view=view,
                interval_min=interval_min,
                wait_for_job=wait_for_job,
                timeout=timeout,
                patience=patience,
                on_trouble=bar.report,
            )
            with snapshots:
                yield from shown(snapshots, bar)

    return Watch(drawn(), client)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext tidemark`. Attaches to the Spark session, now or after the cell that creates it."""
    spark.find_java()
    spark.attach_when_active()
    shell.events.register("post_run_cell", spark.attach_when_active)


def unload_ipython_extension(shell: Any) -> None:
    """Called by `%unload_ext tidemark`. Attached sessions keep their bars."""
    shell.events.unregister("post_run_cell", spark.attach_when_active)
