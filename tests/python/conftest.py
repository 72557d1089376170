"""Starts real masters, and jobs that report to them. Makes snapshots, and records the outputs of a notebook."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import time
import types
from datetime import datetime, timedelta, timezone

import pytest

import tidemark
from tidemark import Estimate, JobInfo, Range, Snapshot

sys.dont_write_bytecode = True

PROGRAM = os.environ["TIDEMARK"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
APPLICATION = "local-1795466270213"
AT = datetime(2026, 1, 1, tzinfo=timezone.utc)
_ROLLING = ROOT / "tests" / "data" / "spark" / f"eventlog_v2_{APPLICATION}"


def run(*words, **options):
    """Returns the command's standard output."""
    return subprocess.run(
        [PROGRAM, *map(str, words)], check=True, capture_output=True, text=True, **options
    ).stdout


class Master:
    """A master process. It can restart at the same address with the same data."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.address = f"unix:{folder}/socket"
        self.spark_logs = folder / "spark"
        self.spark_logs.mkdir()
        self._options = ["--data-dir", str(folder / "data"), "--spark-logs", str(self.spark_logs)]
        self._options += options
        self._process = None

    def start(self):
        log = self.folder / "log"
        with open(log, "wb") as opened:
            words = [PROGRAM, "serve", "--listen", self.address, *self._options]
            self._process = subprocess.Popen(words, stderr=opened)
        wait_for(lambda: "listening on" in log.read_text() or self._process.poll() is not None)
        assert self._process.poll() is None, log.read_text()
        return self

    def signal(self, number):
        self._process.send_signal(number)

    def kill(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def run_job(self, job_id):
        """Runs a small MapReduce job to its end."""
        text = self.folder / "text"
        text.write_text("to be or not to be\n" * 100)
        options = ["--input", text, "--job-id", job_id, "--master", self.address]
        run(*"run example word-count --slots 1 --reducers 1 -o quiet".split(), *options)

    def begin_application(self):
        """Starts a Spark application that runs until end_application().

        A master discovers it at its start or within seconds.
        """
        log = self.spark_logs / "eventlog_v2_app"
        log.mkdir()
        (log / "appstatus_app.inprogress").touch()
        shutil.copy(_ROLLING / f"events_1_{APPLICATION}.zstd", log)

    def end_application(self):
        shutil.copy(_ROLLING / f"events_2_{APPLICATION}.zstd", self.spark_logs / "eventlog_v2_app")


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.02)


@pytest.fixture
def new_master(tmp_path):
    """Creates masters without starting them."""
    made = []

    def make(*options):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Master(folder, *options))
        return made[-1]

    yield make
    for one in made:
        one.kill()


@pytest.fixture
def master_of_application(new_master):
    """A master with a running application, for tests that kill it."""
    made = new_master()
    made.begin_application()
    return made.start()


@pytest.fixture(scope="session")
def master(tmp_path_factory):
    """A master for tests that do not change it: the job `words` has ended, and an application runs."""
    shared = Master(tmp_path_factory.mktemp("master"))
    shared.begin_application()
    shared.start()
    shared.run_job("words")
    with tidemark.Client(shared.address) as client:
        wait_for(lambda: len(client.list()) == 2)
    yield shared
    shared.kill()


@pytest.fixture
def client(master):
    with tidemark.Client(master.address) as made:
        yield made


def some_snapshot(seconds=65, fraction=0.415, name="visits", **changes):
    return dataclasses.replace(
        Snapshot(
            job_id="job-1",
            at=AT + timedelta(seconds=seconds),
            started_at=AT,
            state=tidemark.JobState.RUNNING,
            info=JobInfo(name=name),
            counts=tidemark.Counts(task_count=8, finished_task_count=3),
            estimate=Estimate(
                state=tidemark.EstimateState.VALID,
                fraction_done=fraction,
                fraction_done_lower=fraction,
                fraction_done_upper=fraction,
                remaining=Range(
                    timedelta(seconds=41.4), timedelta(seconds=35.2), timedelta(seconds=51.1)
                ),
            ),
        ),
        **changes,
    )


class Notebook:
    """Records the outputs of a cell."""

    def __init__(self, monkeypatch):
        self.shown = []
        shell = types.SimpleNamespace(kernel=object())
        ipython = types.ModuleType("IPython")
        ipython.get_ipython = lambda: shell
        ipython.display = types.ModuleType("IPython.display")
        ipython.display.display = self._display
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)

    def _display(self, bundle, raw, display_id):
        assert raw and display_id
        self.shown.append(bundle)
        place = len(self.shown) - 1
        return types.SimpleNamespace(update=lambda bundle, raw: self._replace(place, bundle))

    def _replace(self, place, bundle):
        self.shown[place] = bundle
