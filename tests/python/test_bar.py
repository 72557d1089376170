import dataclasses
import io
import sys
import types
from datetime import datetime, timedelta, timezone

import pytest

import tidemark
from conftest import APPLICATION, AT, Notebook, some_snapshot
from tidemark import Estimate, JobInfo, Range, Snapshot

def final_snapshot(state=tidemark.JobState.SUCCEEDED, message=""):
    estimate = Estimate(state=tidemark.EstimateState.FINAL, fraction_done=1.0)
    return some_snapshot(state=state, final=True, estimate=estimate, message=message)


class Stream(io.StringIO):
    def __init__(self, is_terminal=False, encoding="utf-8"):
        super().__init__()
        self._is_terminal = is_terminal
        self._encoding = encoding

    @property
    def encoding(self):
        return self._encoding

    def isatty(self):
        return self._is_terminal


@pytest.fixture(autouse=True)
def terminal_type(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")


def drawn(snapshots, stream, **options):
    assert list(tidemark.show(snapshots, file=stream, **options)) == list(snapshots)
    return stream.getvalue()


def on_screen(text):
    """Returns the lines that a terminal shows."""
    lines = []
    for line in text.split("\n"):
        cells = []
        for part in line.split("\r"):
            cells[: len(part)] = part
        lines.append("".join(cells).rstrip())
    return lines


def test_a_terminal_shows_one_line_that_changes_in_place():
    text = drawn([some_snapshot(), some_snapshot(fraction=0.9)], Stream(is_terminal=True))
    assert text.count("\n") == 1 and text.endswith("\n")
    line, rest = on_screen(text)
    assert line.startswith("visits:  ≈ 90 % ██") and rest == ""
    assert "1 min 05 s, 3/8 tasks, ≈ 41 s left (35–52 s)" in text
    assert max(len(part) for part in text.strip().split("\r")) < 80


def test_the_bar_is_full_only_after_success():
    nearly = drawn([some_snapshot(fraction=1.0)], Stream(is_terminal=True))
    assert "≈ 99 %" in nearly and "█░ " in nearly
    done = on_screen(drawn([some_snapshot(), final_snapshot()], Stream(is_terminal=True)))[0]
    assert "100 %" in done and "░" not in done and done.endswith("succeeded")
    failed = drawn(
        [final_snapshot(tidemark.JobState.FAILED, "no\x1b space")], Stream(is_terminal=True)
    )
    assert "failed: no  space" in failed and "100 %" not in failed


def test_a_stream_without_unicode_receives_ascii():
    text = drawn([some_snapshot(name="Zähler")], Stream(is_terminal=True, encoding="ascii"))
    assert text.isascii() and "[####" in text and "~ 41 s left (35-52 s)" in text


def test_other_streams_receive_a_line_per_change():
    snapshots = [
        some_snapshot(),
        some_snapshot(66),
        some_snapshot(67, fraction=0.43),
        some_snapshot(78, fraction=0.43),
        final_snapshot(),
    ]
    assert drawn(snapshots, Stream()).splitlines() == [
        "[1 min 05 s] visits: ≈ 41 %, 3/8 tasks, ≈ 41 s left (35–52 s)",
        "[1 min 07 s] visits: ≈ 43 %, 3/8 tasks, ≈ 41 s left (35–52 s)",
        "[1 min 18 s] visits: ≈ 43 %, 3/8 tasks, ≈ 41 s left (35–52 s)",
        "[1 min 05 s] visits: 100 %, 3/8 tasks, succeeded",
    ]


def test_unknown_values_are_reported_as_unknown_and_not_as_zero():
    early = Estimate(state=tidemark.EstimateState.WARMING_UP)
    overdue = Estimate(state=tidemark.EstimateState.OVERDUE, fraction_done=0.9)
    silent = some_snapshot(silent_since=AT + timedelta(seconds=5))
    text = drawn([some_snapshot(estimate=early), some_snapshot(estimate=overdue), silent], Stream())
    assert text.splitlines()[0].endswith("visits: 3/8 tasks, no estimate yet")
    assert text.splitlines()[1].endswith("≈ 90 %, 3/8 tasks, overdue")
    assert text.splitlines()[2].endswith("; no reports from the job for 1 min")
    workflow = some_snapshot(
        silent_since=AT + timedelta(seconds=5), info=JobInfo(kind=tidemark.JobKind.WORKFLOW)
    )
    assert "; no reports from any of its jobs for 1 min" in drawn([workflow], Stream())


def test_a_large_change_of_the_predicted_end_writes_a_line_at_once():
    def ending_in(seconds_later, seconds_left):
        snapshot = some_snapshot(60 + seconds_later)
        remaining = Range(timedelta(seconds=seconds_left))
        estimate = dataclasses.replace(snapshot.estimate, remaining=remaining)
        return dataclasses.replace(snapshot, estimate=estimate)

    text = drawn(
        [ending_in(0, 20), ending_in(1, 19), ending_in(2, 30), ending_in(3, 40), ending_in(4, 39)],
        Stream(),
    )
    assert [line.split("]")[0] for line in text.splitlines()] == ["[1 min", "[1 min 03 s"]


def test_an_unknown_application_has_one_number():
    stages = tuple(
        tidemark.StageProgress(state=state)
        for state in [tidemark.StageState.DONE, tidemark.StageState.RUNNING]
        + 3 * [tidemark.StageState.SKIPPED]
    )
    snapshot = some_snapshot(
        info=JobInfo(name="q64", kind=tidemark.JobKind.APPLICATION),
        counts=tidemark.Counts(stage_count=5, finished_stage_count=4),
        stages=stages,
    )
    known = drawn([snapshot], Stream())
    assert "q64: ≈ 41 %, 1 of 2 stages done, 3 skipped, ≈" in known
    failed = dataclasses.replace(
        snapshot, stages=(*stages[:1], tidemark.StageProgress(state=tidemark.StageState.FAILED))
    )
    assert " stages done, 1 failed, ≈" in drawn([failed], Stream())
    left = Range(timedelta(seconds=93), timedelta(seconds=1), timedelta(seconds=657))
    estimate = dataclasses.replace(
        snapshot.estimate, remaining=left, fraction_done_lower=0.09, fraction_done_upper=0.98
    )
    first_run = dataclasses.replace(snapshot, estimate=estimate, may_grow=True)
    lines = drawn([first_run], Stream())
    assert "q64: ≈ 41 % (9–98), 1 of 2 stages done, 3 skipped, more may come, ≈" in lines
    assert lines.endswith(" (0–11 min, a guess)\n")
    legend, bar, rest = on_screen(drawn([first_run], Stream(is_terminal=True)))
    assert legend.startswith("█ to the lower bound, ▓ to the estimate, ▒ to the upper bound")
    assert "≈ 41 % (9–98) █▓" in bar and "▒" in bar and rest == ""


def test_the_running_query_is_the_headline_of_an_unknown_application():
    snapshot = some_snapshot(
        info=JobInfo(name="q64", kind=tidemark.JobKind.APPLICATION),
        counts=tidemark.Counts(stage_count=5, finished_stage_count=4, finished_group_count=1),
        headline_group="sql/1",
        groups=(
            tidemark.Group(
                group="sql/1",
                name="load",
                state=tidemark.JobState.RUNNING,
                fraction_done=0.25,
                started_at=AT + timedelta(seconds=40),
                ends_in=Range(*(timedelta(seconds=left) for left in (60, 40, 80))),
                basis=tidemark.Basis.THIS_RUN,
                estimate_state=tidemark.EstimateState.VALID,
            ),
        ),
    )
    text = drawn([snapshot], Stream())
    assert "] q64, sql/1 load: ≈ 25 % (" in text
    assert text.endswith("≈ 1 min left (40 s – 1 min 20 s); 1 query done, more may come\n")


def test_a_known_application_shows_expected_stages_before_its_first_stage():
    expected = tidemark.StageProgress(state=tidemark.StageState.EXPECTED)
    snapshot = some_snapshot(counts=tidemark.Counts(), stages=(expected, expected))
    assert "visits: ≈ 41 %, 2 stages expected, ≈" in drawn([snapshot], Stream())


def test_a_line_names_the_last_task_and_its_reason():
    task = tidemark.NamedTask(reason="Reduce task 2 will end last: a key of 1.2 MB")
    named = some_snapshot(named_tasks=(task,))
    assert drawn([named], Stream()).endswith("; reduce task 2 will end last: a key of 1.2 MB\n")
    guess = dataclasses.replace(named.estimate, basis=tidemark.Basis.GUESS)
    assert "task 2" not in drawn([dataclasses.replace(named, estimate=guess)], Stream())


@pytest.mark.parametrize("is_terminal", [False, True])
def test_each_note_is_shown_once(is_terminal):
    snapshots = [some_snapshot(notes=("job b has not reported",))] * 2
    text = drawn(snapshots, Stream(is_terminal))
    assert [line.rstrip() for line in on_screen(text)].count("visits: job b has not reported") == 1


def test_names_cannot_control_the_terminal():
    text = drawn([some_snapshot(name="\x1b[2Jx\ny", notes=("\x07",))], Stream(is_terminal=True))
    assert "\x1b" not in text and "\x07" not in text and " [2Jx y" in text


def test_a_disabled_bar_draws_nothing():
    assert drawn([some_snapshot()], Stream(is_terminal=True), disable=True) == ""
    assert drawn([some_snapshot()], Stream(), disable=None) == ""
    assert drawn([some_snapshot()], Stream(is_terminal=True), disable=None) != ""


def test_a_dumb_terminal_receives_plain_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert drawn([some_snapshot()], Stream(is_terminal=True)).startswith("[1 min 05 s]")


def test_wide_letters_take_two_columns():
    text = drawn([some_snapshot(name="作業" * 40)], Stream(is_terminal=True))
    assert all(tidemark.bar._columns(part) < 80 for part in text.strip().split("\r"))


def test_progress_goes_to_standard_error_and_standard_output_is_left_alone(master, capsys):
    for _ in tidemark.watch("words", master=master.address):
        pass
    said = capsys.readouterr()
    assert said.out == ""
    assert "word-count: 100 %" in said.err and "succeeded" in said.err


def test_problems_are_shown_above_the_bar(master_of_application):
    master = master_of_application
    stream = Stream(is_terminal=True)
    watch = tidemark.watch(
        APPLICATION, master=master.address, wait_for_job=True, patience=0.3, file=stream
    )
    next(watch)
    master.kill()
    with pytest.raises(tidemark.UnreachableError):
        list(watch)
    *_, problem, bar, rest = on_screen(stream.getvalue())
    assert problem.startswith("tidemark: disconnected from the master")
    assert bar.startswith("sales by region") and rest == ""


def test_a_notebook_shows_one_bar_that_changes_in_place(monkeypatch, capsys):
    notebook = Notebook(monkeypatch)
    list(tidemark.show([some_snapshot(), some_snapshot(fraction=0.9, notes=("a <note>",))]))
    (bundle,) = notebook.shown
    assert "linear-gradient(90deg, #1565c0 0.00% 90.00%" in bundle["text/html"]
    page = bundle["text/html"]
    assert "≈\u00a041\u00a0s left (35–52\u00a0s)" in page and "a &lt;note&gt;" in page
    assert bundle["text/plain"].startswith("visits: ≈ 90 %, 1 min 05 s, 3/8 tasks, ≈ 41 s left")
    assert capsys.readouterr() == ("", "")


def test_only_the_first_bar_of_a_notebook_has_a_legend(monkeypatch):
    notebook = Notebook(monkeypatch)
    monkeypatch.setattr(tidemark.bar.NotebookBar, "_explained", None)
    estimate = dataclasses.replace(some_snapshot().estimate, fraction_done_lower=0.3, fraction_done_upper=0.6)
    for _ in range(2):
        list(tidemark.show([some_snapshot(estimate=estimate)]))
    assert ["<small>" in bundle["text/html"] for bundle in notebook.shown] == [True, False]


def test_names_are_text_in_a_notebook(monkeypatch):
    notebook = Notebook(monkeypatch)
    list(tidemark.show([some_snapshot(name="<script>alert(1)</script>")]))
    assert "<script>" not in notebook.shown[0]["text/html"]


def test_a_file_is_written_in_a_notebook_too(monkeypatch):
    notebook = Notebook(monkeypatch)
    assert "visits" in drawn([some_snapshot()], Stream())
    assert notebook.shown == []


def test_a_raised_estimate_and_idleness_are_shown():
    raised = tidemark.EstimateRaised(cause=tidemark.RaiseCause.MORE_STAGES, stage_count=2)
    text = drawn([some_snapshot(estimate_raised=raised)], Stream())
    assert text.endswith("; estimate raised: 2 more stages appeared\n")
    raised = tidemark.EstimateRaised(cause=tidemark.RaiseCause.NOT_ENDED)
    text = drawn([some_snapshot(estimate_raised=raised)], Stream())
    assert text.endswith("; estimate raised: the application has not ended yet\n")
    counts = tidemark.Counts(stage_count=2, task_count=8, finished_task_count=8)
    idle = drawn([some_snapshot(idle_since=AT + timedelta(seconds=5), counts=counts)], Stream())
    assert idle.endswith("; idle for 1 min: all of its stages have ended\n")
    workflow = tidemark.JobInfo(name="etl", kind=tidemark.JobKind.WORKFLOW)
    idle = drawn([some_snapshot(idle_since=AT + timedelta(seconds=5), info=workflow)], Stream())
    assert idle.endswith("; idle for 1 min: all of its known jobs have ended\n")
    estimate = tidemark.Estimate(state=tidemark.EstimateState.WARMING_UP)
    idle = dataclasses.replace(some_snapshot(estimate=estimate), idle_since=AT)
    assert drawn([idle], Stream()).endswith("3/8 tasks, idle for 1 min 05 s: no stage has begun\n")
