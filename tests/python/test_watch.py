import signal
import subprocess
import sys
import threading
import time

import pytest

import tidemark
from conftest import APPLICATION, ROOT, PROGRAM, wait_for
from tidemark import _following


def test_snapshots_come_in_order_to_the_final_one(new_master):
    master = new_master().start()
    command = "run example two-path --output-format count --slots 1 --reducers 2 -o quiet".split()
    graph = ROOT / "data" / "graphs" / "facebook-combined.txt.zst"
    options = ["--input", graph, "--job-id", "paths", "--master", master.address]
    job = subprocess.Popen([PROGRAM, *command, *options], stdout=subprocess.DEVNULL)
    with tidemark.Client(master.address) as client:
        snapshots = list(client.watch("paths", wait_for_job=True, timeout=60))
    assert job.wait() == 0
    assert len(snapshots) > 1
    assert [snapshot.final for snapshot in snapshots].count(True) == 1
    assert snapshots[-1].final and snapshots[-1].state is tidemark.JobState.SUCCEEDED
    assert snapshots[-1].fraction_done == 1 and snapshots[-1].ended_at is not None
    for earlier, later in zip(snapshots, snapshots[1:]):
        assert earlier.sequence < later.sequence
        assert earlier.fraction_done <= later.fraction_done or later.estimate_raised
    assert all(snapshot.ended_at is None for snapshot in snapshots[:-1])


def test_a_watch_resumes_after_a_crash_and_restart_of_the_master(master_of_application):
    master = master_of_application
    troubles, snapshots = [], []
    with tidemark.Client(master.address) as client:
        watch = client.watch(APPLICATION, wait_for_job=True, timeout=60, on_trouble=troubles.append)
        snapshots.append(next(watch))
        master.kill()
        starter = threading.Timer(0.5, lambda: (master.end_application(), master.start()))
        starter.start()
        snapshots += watch
        starter.join()
    assert snapshots[-1].final
    sequences = [snapshot.sequence for snapshot in snapshots]
    assert sequences == sorted(set(sequences))
    assert "disconnected" in troubles[0] and troubles[0].endswith("retrying")
    assert troubles[-1] == "reconnected to the master"


def test_patience_has_a_limit(master_of_application):
    master = master_of_application
    with tidemark.Client(master.address) as client:
        watch = client.watch(APPLICATION, wait_for_job=True, timeout=60, patience=0.5)
        next(watch)
        master.kill()
        with pytest.raises(tidemark.UnreachableError, match="disconnected.*stopped retrying after"):
            list(watch)


def test_a_lost_job_and_an_unreachable_master_are_distinct_errors(
    new_master, master_of_application, caplog
):
    master = master_of_application
    with tidemark.Client(master.address) as client:
        watch = client.watch(APPLICATION, wait_for_job=True, timeout=60, patience=1)
        next(watch)
        master.kill()
        another = new_master()
        another.address = master.address
        another.start()
        with pytest.raises(tidemark.NotFoundError, match="no longer has the job"):
            list(watch)
    assert "retrying" in caplog.text


def test_a_watch_may_start_before_the_master(new_master):
    master = new_master()
    starter = threading.Timer(0.3, lambda: (master.start(), master.run_job("one")))
    starter.start()
    with tidemark.Client(master.address) as client:
        assert client.wait("one", wait_for_job=True, timeout=60).state == "succeeded"
    starter.join()


def test_the_timeout_ends_a_watch_of_a_running_job(client):
    began = time.monotonic()
    with pytest.raises(tidemark.NotEndedError, match=f"{APPLICATION} has not ended within 0.5 s"):
        client.wait(APPLICATION, timeout=0.5)
    assert time.monotonic() - began < 60
    with pytest.raises(TimeoutError):
        client.wait("not known yet", wait_for_job=True, timeout=0.1)


def test_a_hanging_master_is_reported(new_master, monkeypatch):
    monkeypatch.setattr(_following, "_SILENT_AFTER_S", 0.3)
    master = new_master("--set", "tick.interval=100ms", "--set", "tick.interval_min=100ms")
    master.begin_application()
    master.start()
    troubles = []
    with tidemark.Client(master.address) as client:
        with client.watch(APPLICATION, wait_for_job=True, on_trouble=troubles.append) as watch:
            next(watch)
            next(watch)
            master.signal(signal.SIGSTOP)
            threading.Thread(
                target=lambda: (wait_for(lambda: troubles), master.signal(signal.SIGCONT))
            ).start()
            for _ in watch:
                if troubles[-1:] == ["reconnected to the master"]:
                    break
    assert troubles[0].startswith("no response from the master at")


def test_closing_a_watch_leaves_no_thread_and_no_call(client):
    before = set(threading.enumerate())
    with client.watch(APPLICATION) as watch:
        next(watch)
    wait_for(lambda: set(threading.enumerate()) <= before)
    assert list(watch) == []
    assert client.get("words").final


def test_a_group_is_watched_like_a_job(new_master):
    master = new_master()
    master.begin_application()
    master.end_application()
    master.start()
    with tidemark.Client(master.address) as client:
        assert client.wait(APPLICATION, wait_for_job=True, timeout=60).groups
        for name in ("sql/0", "job/5"):
            group = client.wait(f"{APPLICATION}/{name}", view=tidemark.View.BASIC)
            assert group.final and group.state == "succeeded"
            assert group.job_id == f"{APPLICATION}/{name}"
            assert group.counts.stage_count == len(group.stages) > 0
            assert group.fraction_done == 1 and group.elapsed is not None
        with pytest.raises(tidemark.NotFoundError, match=f"job {APPLICATION} has no sql/7"):
            client.wait(f"{APPLICATION}/sql/7")


def test_an_interrupt_ends_the_watch_at_once_and_keeps_the_drawn_line(master):
    program = f"""
import sys, tidemark
class Terminal:
    encoding = "utf-8"
    def isatty(self): return True
    def write(self, text): sys.stderr.write(text)
    def flush(self): sys.stderr.flush()
for snapshot in tidemark.watch({APPLICATION!r}, file=Terminal()):
    print(snapshot.job_id, flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"TERM": "xterm", "TIDEMARK_MASTER": master.address},
    )
    assert process.stdout.readline().decode() == f"{APPLICATION}\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    drawn, trace = said.decode().split("Traceback", 1)
    assert "sales by region" in drawn and drawn.endswith("\n")
    assert trace.endswith("KeyboardInterrupt\n")
