"""Compares the texts with those of the console."""

import dataclasses
import json
from datetime import datetime, timedelta, timezone

import pytest
from google.protobuf import json_format

from conftest import ROOT, run
from tidemark import Basis, Estimate, EstimateState, JobState, Range, Snapshot, _wire, _words
from tidemark._reading import read_snapshot
from tidemark.job import RaiseCause

AT = datetime(2026, 1, 5, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0 s"),
        (0.999, "0 s"),
        (41, "41 s"),
        (60, "1 min"),
        (65, "1 min 05 s"),
        (2 * 3600 + 359, "2 h 05 min"),
        (76 * 3600, "3 d 04 h"),
        (1000 * 86400, "over 999 d"),
    ],
)
def test_durations_have_two_units(seconds, text):
    assert _words.duration_text(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("median", "lower", "upper", "text"),
    [
        (41.4, 35.2, 51.1, "35-52 s"),
        (198, 171, 249, "2 min 50 s - 4 min 10 s"),
        (50 * 60, 22 * 60, 81 * 60, "20 min - 1 h 30 min"),
        (4.6, 2.2, 29, "2-30 s"),
        (9, 12, 4, "9 s"),
        (60, 0, 180, "0-3 min"),
        (180, 58, 527, "50 s - 9 min"),
        (72, 7, 720, "0-12 min"),
        (1e9, 35, 1e11, "30 s or more"),
    ],
)
def test_ranges_are_rounded_to_their_precision(median, lower, upper, text):
    known = _words.round_to_known(
        Range(*(timedelta(seconds=seconds) for seconds in (median, lower, upper)))
    )
    assert _words.range_text(known.lower, known.upper, unicode=False) == text


def test_bars_and_texts_equal_the_shared_vectors():
    seen = set()
    for vector in json.loads((ROOT / "tests/vectors/shown_progress.json").read_text("utf-8")):
        message = _wire.message("tidemark.v1.Snapshot")()
        snapshot = read_snapshot(json_format.ParseDict(vector["snapshot"], message))
        bar = _words.shown(snapshot)
        assert [bar.lower, bar.fraction, bar.upper] == vector["shown"], vector["name"]
        assert _words.percent_text(snapshot, unicode=True) == vector["percent"]
        assert _words.remaining_text(snapshot, unicode=True) == vector["remaining"]
        assert _words.state_name(snapshot) == vector["state"]
        assert _words.parts_text(snapshot) == vector["step"]
        assert _words.warning_texts(snapshot) == vector["warnings"]
        assert _words.bar_text(bar, 20, unicode=True) == vector["bar"]
        assert _words.bar_text(bar, 22, unicode=False) == vector["ascii_bar"]
        raised = snapshot.estimate_raised
        seen |= {repr(snapshot.state), repr(snapshot.estimate.state), repr(raised and raised.cause)}
    assert seen >= set(map(repr, [*JobState, *EstimateState, *RaiseCause]))


def test_durations_of_ended_jobs_agree_with_the_console():
    began = AT - timedelta(seconds=9.74)
    ended = Snapshot(
        job_id="a", at=AT + timedelta(seconds=0.2), started_at=began, ended_at=AT, final=True
    )
    assert _words.elapsed_text(ended) == "9.7 s"
    assert _words.elapsed_text(Snapshot(job_id="a", at=AT, started_at=began)) == "9 s"
    longer = dataclasses.replace(ended, ended_at=AT + timedelta(seconds=0.26))
    assert _words.elapsed_text(longer) == "10 s"
    longest = dataclasses.replace(ended, ended_at=began + timedelta(seconds=114.99))
    assert _words.elapsed_text(longest) == "1 min 55 s"


def test_very_long_durations_are_shown_as_over_the_limit():
    left = Range(*(timedelta(days=days) for days in (5000, 4000, 6000)))
    estimate = Estimate(state=EstimateState.VALID, remaining=left, basis=Basis.THIS_RUN)
    snapshot = Snapshot(job_id="a", at=AT, estimate=estimate)
    assert _words.remaining_text(snapshot, unicode=False) == "over 999 d left"
    soon = dataclasses.replace(estimate, remaining=Range(timedelta(), timedelta(), left.upper))
    snapshot = dataclasses.replace(snapshot, estimate=soon)
    assert _words.remaining_text(snapshot, unicode=False) == "remaining time unknown"


def test_an_estimate_without_finished_work_is_a_guess():
    left = Range(*(timedelta(seconds=seconds) for seconds in (198, 171, 249)))
    estimate = Estimate(state=EstimateState.VALID, remaining=left, basis=Basis.GUESS)
    snapshot = Snapshot(job_id="a", at=AT, estimate=estimate)
    words = "~ 3 min 20 s left (2 min 50 s - 4 min 10 s, a guess)"
    assert _words.remaining_text(snapshot, unicode=False) == words
    soon = dataclasses.replace(estimate, remaining=Range(timedelta()))
    snapshot = dataclasses.replace(snapshot, estimate=soon)
    words = "no estimate yet: no result supports one"
    assert _words.remaining_text(snapshot, unicode=False) == words


@pytest.mark.parametrize("log", ["two-path-on-yarn.tidemark-log", "spark/local-1795466322781.zst"])
def test_lines_of_the_command_line_have_the_same_texts(log):
    file = ROOT / "tests" / "data" / log
    snapshots = []
    for line in run("replay", file, "-o", "jsonl").splitlines():
        message = _wire.message("tidemark.v1.Snapshot")()
        snapshots.append(read_snapshot(json_format.Parse(line, message)))
    lines = [
        line
        for line in run("replay", file, "-o", "plain", env={"LC_ALL": "C.UTF-8"}).splitlines()
        if line.startswith("[")
    ]
    assert len(lines) > 5
    for line in lines:
        assert any(is_in(line, snapshot) for snapshot in snapshots), line


def is_in(line, snapshot):
    percent = _words.percent_text(snapshot.headline, unicode=True)
    words = _words.remaining_text(snapshot.headline, unicode=True).split(":")[0]
    words = words if percent == "-" else f"{percent}, {words}"
    beginning = f"[{_words.elapsed_text(snapshot)}] {_words.printable(snapshot.name)}:"
    return line.startswith(beginning) and f" {words}" in line


@pytest.mark.parametrize(
    ("late", "words"),
    [
        (None, "due {}"),
        (0.834, "due {}, 83 % likely late"),
        (0.001, "due {}, under 1 % likely late"),
        (0.999, "due {}, over 99 % likely late"),
    ],
)
def test_deadlines_have_the_texts_of_the_console(late, words):
    due = AT + timedelta(minutes=5, seconds=20)
    snapshot = Snapshot(job_id="a", at=AT, deadline_at=due, late_probability=late)
    assert _words.due_text(snapshot) == words.format(f"{due.astimezone():%H:%M:%S}")
    past = dataclasses.replace(snapshot, at=due)
    assert _words.due_text(past) == f"was due {due.astimezone():%H:%M:%S}"
    assert _words.due_text(Snapshot(job_id="a", at=AT)) is None


@pytest.mark.parametrize(
    ("away", "clock"),
    [
        (timedelta(minutes=59, seconds=59), "%H:%M:%S"),
        (timedelta(minutes=59, milliseconds=500), "%H:%M"),  # exactly on the minute
        (timedelta(minutes=60, seconds=20), "%H:%M"),
    ],
)
def test_a_near_deadline_has_seconds(away, clock):
    due = AT + away
    snapshot = Snapshot(job_id="a", at=AT, deadline_at=due)
    assert _words.due_text(snapshot) == f"due {due.astimezone():{clock}}"


def test_an_ended_job_was_late_or_on_time():
    due = AT - timedelta(minutes=12)
    ended = Snapshot(
        job_id="a", at=AT, ended_at=AT, final=True, deadline_at=due, late_probability=1.0
    )
    clock = f"{due.astimezone():%H:%M}"
    assert _words.due_text(ended) == f"12 min late (due {clock})"
    on_time = dataclasses.replace(ended, late_probability=0.0)
    assert _words.due_text(on_time) == f"on time (due {clock})"
    failed = dataclasses.replace(ended, late_probability=None)
    assert _words.due_text(failed) == f"due {clock}"
