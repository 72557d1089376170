"""Functions for the benchmark scripts, which run the command line, describe the context of a run, and store JSON
results."""

import contextlib
import json
import math
import os
import pathlib
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDEMARK = ROOT / "build" / "release" / "cli" / "tidemark"
RESULTS = ROOT / "bench" / "results"


def context():
    """Returns the machine and the version of a measurement."""
    def first_line(*command):
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True,
                                  cwd=ROOT).stdout.splitlines()[0]
        except (OSError, subprocess.CalledProcessError, IndexError):
            return "unknown"

    cpu = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
           if line.startswith("model name")]
    return {
        "commit": first_line("git", "rev-parse", "--short", "HEAD"),
        "compiler": first_line("c++", "--version"),
        "cpu": cpu[0] if cpu else platform.machine(),
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d"),
    }


def run_job(arguments):
    """Runs `tidemark run example` on `arguments`. Returns the wall-clock seconds and every published snapshot."""
    with tempfile.TemporaryDirectory() as directory:
        command = [str(TIDEMARK), "run", "example", *arguments, "--output-dir",
                   f"{directory}/out", "-o", "jsonl"]
        started = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True)
        seconds = time.monotonic() - started
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nfailed with {done.returncode}:\n{done.stderr[-2000:]}")
    snapshots = [json.loads(line) for line in done.stdout.splitlines()]
    return seconds, snapshots


@contextlib.contextmanager
def master(tidemark, log_dir=None, indicators=(), within=(), host="127.0.0.1", data_dir=None):
    """Starts a master with its own history, and with event logs in `log_dir`. Yields its address.

    The history is kept in `data_dir`, if given.

    `within` precedes the command of the master, for example to run it in another network namespace.
    """
    with tempfile.TemporaryDirectory() as directory:
        said = pathlib.Path(directory) / "serve.err"
        command = [*within, str(tidemark), "serve", "--listen", f"{host}:0", "--data-dir",
                   str(data_dir or f"{directory}/data"),
                   *([] if host == "127.0.0.1" else ["--allow-insecure-remote"]),
                   *(["--indicator", *indicators] if indicators else []),
                   *(["--log-dir", str(log_dir)] if log_dir else [])]
        with open(said, "w") as err:
            process = subprocess.Popen(command, stderr=err)
        try:
            deadline = time.monotonic() + 30
            while not (address := re.search(r"listening on (\S+)", said.read_text())):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(said.read_text())
                time.sleep(0.1)
            yield address[1]
        finally:
            process.terminate()
            process.wait(timeout=30)


def control_group(controller):
    """Returns the folder of a new control group of this process, for cgroups of version 1."""
    own = next((line.split(":")[2].strip() for line in open("/proc/self/cgroup")
                if controller in line.split(":")[1].split(",")), None)
    if own is None:
        sys.exit(f"this benchmark needs the {controller} controller in cgroups of version 1")
    group = pathlib.Path("/sys/fs/cgroup", controller, own.lstrip("/"), f"tidemark-bench-{os.getpid()}")
    group.mkdir(exist_ok=True)  # A child of an earlier use may still be in it.
    return group


def end_when_cut():
    """Makes SIGTERM leave all `with` blocks, which ends the started processes."""
    def end(number, frame):
        # A second signal would interrupt the shutdown.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit("cut")

    signal.signal(signal.SIGTERM, end)


def end_group(process, patience_s=30):
    """Ends a process and its children with SIGTERM, and with SIGKILL if they do not end in time."""
    for number, seconds in ((signal.SIGTERM, patience_s), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return


class Kept:
    """Stores runs by number in a file that is always complete, so an interrupted benchmark can resume from it.

    After `minutes`, no further run starts.
    """

    def __init__(self, path, only, minutes):
        self.path, self.only = path, only
        self.began, self.minutes = time.monotonic(), minutes
        self.longest = 0
        self.runs = [run for run in kept(path).get("runs", []) if run.get("run") not in (None, only)]

    def missing(self, numbers):
        """Yields the missing runs that can end in time. `only` is run again."""
        for number in numbers:
            if any(run["run"] == number for run in self.runs) or self.only not in (None, number):
                continue
            began = time.monotonic()
            if began - self.began + self.longest > 60 * self.minutes:
                print(f"stopped after {self.minutes} minutes; run the same command again to continue", flush=True)
                return
            yield number
            self.longest = max(self.longest, time.monotonic() - began)

    def add(self, run, summary, **more):
        """Stores `summary`, a dictionary over all runs."""
        self.runs = sorted([*self.runs, run], key=lambda one: one["run"])
        keep(self.path, {**summary(self.runs), "context": context(), **more, "runs": self.runs})


def spread(values):
    """Returns median, minimum, maximum and mean."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values),
            "mean": statistics.fmean(values), "n": len(values)}


def mean_and_error(values):
    """Returns the mean and its standard error, which is None for a single value."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return statistics.fmean(values), error


def percent(share):
    return "-" if share is None else f"{100 * share:.2f} %"


def load(name):
    """Returns the contents of bench/results/NAME.json."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def kept(path):
    """Returns the contents that keep() wrote to a file, or an empty dictionary before the first call."""
    path = pathlib.Path(path)
    return json.loads(path.read_text()) if path.exists() else {}


def keep(path, result):
    """Writes a file atomically, so that an interrupted benchmark can resume from it."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result, indent=1) + "\n")
    part.replace(path)


def merge(name, result):
    """Sets some keys of bench/results/NAME.json and preserves all other keys."""
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({**kept(path), **result}, indent=2) + "\n")
    print(f"written: {path.relative_to(ROOT)}")


def save(name, result):
    """Writes bench/results/NAME.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"benchmark": name, "context": context(), **result}, indent=2) + "\n")
    print(f"written: {path.relative_to(ROOT)}")
