import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import tidemark
from tidemark import _program

WORDS = "tidemark run example word-count --slots 1 --reducers 1 -o quiet --job-id words --input"


def test_the_program_is_that_of_the_environment():
    assert _program.program() == str(pathlib.Path(sys.prefix, "bin", "tidemark"))
    assert tidemark.__version__ in _program.run("--version")


def test_a_failure_of_the_program_is_an_error_with_its_message(tmp_path):
    with pytest.raises(tidemark.RefusedError, match="absent.yaml"):
        tidemark.submit(tmp_path / "absent.yaml")
    with pytest.raises(tidemark.UnreachableError):
        tidemark.explain("job", master=f"unix:{tmp_path}/socket")


def test_the_master_ends_when_its_process_is_killed():
    code = """
import os, signal
from tidemark import _program
master = _program.embedded_master()
assert os.environ["TIDEMARK_MASTER"] == master.address and master.page.startswith("http://127.0.0.1:")
print(master._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    master = int(ended.stdout)
    end = time.monotonic() + 60
    while is_running(master):
        assert time.monotonic() < end, "the master still runs"
        time.sleep(0.05)


def test_the_master_of_a_process_does_not_outlive_it_in_a_fork():
    code = """
import os, signal, time
from tidemark import _program
master = _program.embedded_master()
if os.fork() == 0:
    assert not _program.last_address()
    os.close(1), os.close(2)
    time.sleep(600)
print(master._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        master = int(process.communicate(timeout=60)[0])
        end = time.monotonic() + 60
        while is_running(master):
            assert time.monotonic() < end, "the master still runs"
            time.sleep(0.05)
    finally:
        os.killpg(process.pid, signal.SIGKILL)


def test_the_next_master_of_a_process_has_the_same_address():
    first = _program.embedded_master()
    try:
        os.kill(first._process.pid, signal.SIGKILL)
        first._process.wait()
        assert _program.embedded_master().address == first.address
        assert _program.embedded_master() is not first
    finally:
        _program.embedded_master().close()


def test_only_its_user_may_use_the_master_of_a_process(cache):
    master = _program.embedded_master()
    try:
        token = cache / "token"
        assert os.environ["TIDEMARK_TOKEN_FILE"] == str(token) and token.stat().st_mode & 0o077 == 0
        with tidemark.Client(master.address) as client:
            assert client.list() == []
        with tidemark.Client(master.address, token="x" * 20) as client, pytest.raises(tidemark.DeniedError):
            client.list()
    finally:
        master.close()


def test_the_next_master_keeps_the_runs_unless_another_has_them(cache, tmp_path, monkeypatch):
    text = tmp_path / "text"
    text.write_text("to be or not to be\n")
    first = _program.embedded_master()
    try:
        _program.run(*WORDS.split()[1:], str(text), "--master", first.address)
        monkeypatch.setattr(_program, "_embedded", None)  # Another process would do the same.
        with tidemark.Client(_program.embedded_master().address) as client:
            assert client.list() == []
        _program.embedded_master().close()
        first.close()
        with tidemark.Client(_program.embedded_master().address) as client:
            assert client.get("words").final
        _program.embedded_master().close()
        monkeypatch.setenv("TIDEMARK_KEEP_RUNS", "0")
        with tidemark.Client(_program.embedded_master().address) as client:
            assert client.list() == []
    finally:
        first.close()
        _program.embedded_master().close()


def is_running(pid):
    try:
        os.kill(pid, 0)
        # A killed process whose parent does not wait for it remains as a zombie.
        return ") Z " not in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_program_with_its_own_messages_reports_a_job(tmp_path):
    """Runs the commands of docs/tours/python-sender.md."""
    share = pathlib.Path(sys.prefix, "share", "tidemark")
    protoc = ["grpc_tools.protoc", f"-I{share}/proto", "--python_out=.", "--grpc_python_out=."]
    files = ["tidemark/v1/event.proto", "tidemark/v1/ingest_service.proto"]
    subprocess.run([sys.executable, "-m", *protoc, *files], cwd=tmp_path, check=True)
    socket = tmp_path / "socket"
    serve = [_program.program(), "serve", "--end-with-stdin", "--listen", f"unix:{socket}"]
    with subprocess.Popen(serve, stdin=subprocess.PIPE) as master:
        while not socket.exists():
            assert master.poll() is None
            time.sleep(0.05)
        code = "import sys, runpy, tidemark; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0])"
        words = [sys.executable, "-c", code, share / "examples" / "report_job.py", f"unix:{socket}", "job-1"]
        with subprocess.Popen(words, cwd=tmp_path) as sender:
            with tidemark.Client(f"unix:{socket}") as client:
                snapshots = [*client.watch("job-1", wait_for_job=True, timeout=60)]
        assert sender.returncode == 0
    assert snapshots[-1].state == "succeeded"
    running = [now for now in snapshots if now.estimate.basis == tidemark.Basis.THIS_RUN]
    assert any(task.reason.startswith("Reduce task 0 will end last: ") for now in running for task in now.named_tasks)


def test_a_notebook_without_a_server_draws_the_bar_of_a_job(execute, tmp_path):
    text = tmp_path / "text"
    text.write_text("to be or not to be\n" * 100)
    notebook = execute(
        [
            "%load_ext tidemark\nimport tidemark\nfrom tidemark import _program\n_program.embedded_master().address",
            f"!{pathlib.Path(sys.prefix, 'bin')}/{WORDS} {text} --master $TIDEMARK_MASTER",
            "final = [*tidemark.watch('words')][-1]\nprint(final)",
            "print(tidemark.explain('words'))",
        ]
    )
    (bar,) = notebook.bundles(2)
    assert "linear-gradient" in bar["text/html"] and "succeeded" in bar["text/plain"]
    assert notebook.text(2).startswith("<words: 100 %, ")
    # The waits of a job that has just ended may still be missing.
    assert notebook.text(3).strip() == "[]" or "words" in notebook.text(3)
