"""Answers of the program: why a job waited, what would happen under other conditions, and plans."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import tempfile
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from google.protobuf import json_format

from tidemark import _program, _wire, _words
from tidemark._reading import read_snapshot
from tidemark._security import Path
from tidemark.client import Client
from tidemark.job import Snapshot, View

Plan = Union[Path, Mapping[str, Any]]


class Answer(Dict[str, Any]):
    """A JSON object of the program, which is documented with the command. Its repr is short."""

    def __repr__(self) -> str:
        return f"<{self.text}>"

    @property
    def text(self) -> str:
        """The answer in a sentence or two."""
        if "sentences" in self:
            subject = self.get("query") or self.get("job") or "the job"
            return "; ".join(self["sentences"]) or f"{subject} has no known waits"
        if "snapshot" in self:
            scale = [f"{self[name]} {name}" for name in ("executors", "slots") if self.get(name)]
            left = _words.remaining_text(self["snapshot"], True)
            return f"{', '.join(scale)}: {left}" if scale else left
        return ", ".join(f"{name} {value}" for name, value in self.items() if isinstance(value, (str, int, float)))


@dataclass(frozen=True, repr=False)
class Deadline:
    """A deadline and the probability that the job ends after it, which is 0 or 1 for an ended job."""

    at: datetime
    late_probability: Optional[float]
    text: str

    def __repr__(self) -> str:
        return f"<{self.text}>"


def explain(subject: Path, *, query: str = "", top: Optional[int] = None, **connection: Path) -> List[Answer]:
    """Returns what a job waited for and which jobs caused the waits (`tidemark why`).

    The list has one answer per query, or one per job of a workflow.

    subject: the id of a job or workflow, JOB/QUERY such as "app-1/sql/3", or a Spark event log. connection: the arguments of
    Client that select a master, except `token`.
    """
    words = _program.options({"query": query or None, "top": top, **connection})
    return _answers("why", *words, "--", os.fspath(subject))


def what_if(subject: Plan, *, slots: Sequence[int] = (), executors: Sequence[int] = (), **options: Any) -> List[Answer]:
    """Returns the predicted end without changes, and for each number of slots or executors (`tidemark what-if`).

    subject: the id of a running job, a plan (a file or a mapping), or a Spark event log. options: further options of
    the command, such as data=[2], set={"spark.sql.shuffle.partitions": 64} or master="host:7411".
    """
    words = _program.options({"slots": list(slots), "executors": list(executors), **options})
    with _file_of(subject) as file:
        return _answers("what-if", *words, "--", file)


def submit(plan: Plan, **connection: Path) -> str:
    """Submits a plan, a file or a mapping in the form of docs/plans.md, and returns its id (`tidemark submit`)."""
    with _file_of(plan) as file:
        return _program.run("submit", *_program.options(connection), "--", file).strip()


def deadline(job_id: str, at: Optional[datetime] = None, **connection: Any) -> Optional[Deadline]:
    """Returns the deadline of a job and the probability of being late, or None without a deadline.

    at: sets or replaces the deadline of a running job first. A time without a zone is local.
    """
    with Client(**connection) as client:
        if at is not None:
            client.set_deadline(job_id, at)
        snapshot = client.get(job_id, view=View.BASIC)
        if at is not None and snapshot.deadline_at != at.astimezone():
            # The next snapshot contains the deadline.
            snapshot = dataclasses.replace(snapshot, deadline_at=at.astimezone(), late_probability=None)
        return _deadline_of(snapshot)


def _deadline_of(snapshot: Snapshot) -> Optional[Deadline]:
    if snapshot.deadline_at is None:
        return None
    return Deadline(snapshot.deadline_at, snapshot.late_probability, _words.due_text(snapshot) or "")


def _answers(*words: str) -> List[Answer]:
    found = [Answer(answer) for answer in _program.answers(*words)]
    for answer in found:
        if "snapshot" in answer:
            message = _wire.message("tidemark.v1.Snapshot")()
            answer["snapshot"] = read_snapshot(json_format.ParseDict(answer["snapshot"], message, ignore_unknown_fields=True))
    return found


@contextlib.contextmanager
def _file_of(plan: Plan) -> Iterator[str]:
    """Returns the name of a file with the plan. A mapping has one until the end of the block."""
    if not isinstance(plan, Mapping):
        yield os.fspath(plan)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "plan.json")
        with open(file, "w", encoding="utf-8") as opened:
            json.dump(plan, opened)
        yield file
