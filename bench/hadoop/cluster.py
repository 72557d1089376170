"""A real Hadoop cluster for the benchmarks (BenchCluster in agent/hadoop), and its jobs."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONNECTOR = ROOT / "agent" / "hadoop" / "target" / "tidemark-hadoop.jar"
PATIENCE_SECONDS = 600


class Cluster:
    """Starts on entry and stops on exit. `inputs` maps names to the paths of files to copy there.

    `settings` are further settings of Hadoop.
    """

    def __init__(self, tidemark, node_megabytes, inputs, **settings):
        self.tidemark = str(pathlib.Path(tidemark).resolve())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-bench-"))
        (self.folder / "inputs").mkdir()
        for name, path in inputs.items():
            shutil.copy(path, self.folder / "inputs" / name)
        self.settings = {"yarn.nodemanager.resource.memory-mb": node_megabytes, **settings}
        self.says = {}
        self.outputs = 0

    def __enter__(self):
        self.process = subprocess.Popen(
            ["mvn", "--batch-mode", "--no-transfer-progress", "-q", "-f",
             str(ROOT / "agent" / "pom.xml"), "-pl", "hadoop", "-am", "verify", "-Dsurefire.skip=true",
             "-Dit.test=BenchCluster", f"-Dtidemark.command={self.tidemark}",
             f"-Dtidemark.bench={self.folder}",
             "-Dtidemark.bench.settings=" + " ".join(f"{name}={value}" for name, value in self.settings.items())],
            stdout=open(self.folder / "maven.log", "w"), stderr=subprocess.STDOUT)
        try:
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_until_ready(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (self.folder / "ready").exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit((self.folder / "maven.log").read_text()[-3000:])
            time.sleep(0.5)
        for line in (self.folder / "ready").read_text().splitlines():
            name, value = line.split(" ", 1)
            self.says[name] = value

    def __exit__(self, *exception):
        (self.folder / "stop").touch()
        try:
            self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def output(self):
        self.outputs += 1
        return f"/out{self.outputs}"

    def command(self, jar, words):
        """`hadoop jar`: `jar` is jobs (our own) or examples (Hadoop's)."""
        return [self.says["hadoop"], "jar", self.says[jar], *words]

    def environment(self):
        return {**os.environ, "HADOOP_CONF_DIR": self.says["conf"]}

    def run(self, jar, words):
        """Runs a job without Tidemark. Returns the wall-clock seconds of the client."""
        return self.timed(self.command(jar, words))[0]

    def generate_rows(self, size_bytes):
        """Writes rows of 100 bytes for terasort to /inputs/rows."""
        self.run("examples", ["teragen", str(int(size_bytes) // 100), "/inputs/rows"])

    def watched_command(self, jar, words, options):
        return [self.tidemark, "run", "hadoop", "--jar", str(CONNECTOR), *options, "--",
                *self.command(jar, words)]

    def run_watched(self, jar, words, options=()):
        """Runs a job with `tidemark run hadoop`. Returns the seconds and every shown snapshot."""
        seconds, err = self.timed(
            self.watched_command(jar, words, ["-o", "jsonl", *options]))
        return seconds, [json.loads(line) for line in err.splitlines() if line.startswith("{")]

    def timed(self, command):
        """Runs a command that must succeed. Returns the seconds and its standard error."""
        started = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment())
        seconds = time.monotonic() - started
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\nfailed with {done.returncode}:\n"
                             f"{done.stderr[-3000:]}")
        return seconds, done.stderr

    def ask(self, path, service="web"):
        """Returns the response of the resource manager, or of the history server (past), or None if there is none."""
        try:
            with urllib.request.urlopen(self.says[service] + path, timeout=5) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return None


class AmProgress(threading.Thread):
    """Polls Hadoop's own progress from the application master. Stores (time, fraction) by job id."""

    INTERVAL_SECONDS = 0.5

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.samples = {}
        self.over = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.over.set()
        self.join()

    def run(self):
        while not self.over.wait(self.INTERVAL_SECONDS):
            now = time.time()
            answer = self.cluster.ask("/ws/v1/cluster/apps?states=RUNNING") or {}
            for app in (answer.get("apps") or {}).get("app") or []:
                job = app["id"].replace("application", "job")
                self.samples.setdefault(job, []).append((now, app["progress"] / 100))
