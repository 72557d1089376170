"""Starts real masters, and jobs that report to them."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

import tidemark

sys.dont_write_bytecode = True

PROGRAM = os.environ["TIDEMARK"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
APPLICATION = "local-1795466270213"
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
