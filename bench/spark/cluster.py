"""A real Spark for the benchmarks, with two executors in separate processes."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import measure  # noqa: E402

BUILD = ROOT / "build" / "bench" / "spark"
CONNECTOR = ROOT / "agent" / "spark" / "target" / "tidemark-spark.jar"
PROCESSOR_TIME = pathlib.Path(__file__).resolve().parent / "processor_time.py"
JOBS = pathlib.Path(__file__).resolve().parent / "jobs"
EXECUTOR_MEGABYTES = 1024
CLUSTER = f"local-cluster[2,1,{EXECUTOR_MEGABYTES}]"
PATIENCE_SECONDS = 1800


def must(command, **options):
    """Runs a command that must succeed, and returns its output."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nfailed:\n{(done.stderr or done.stdout)[-3000:]}")
    return done.stdout


def build_connector():
    must(["mvn", "--batch-mode", "--no-transfer-progress", "-q", "-f", str(ROOT / "agent" / "pom.xml"),
          "-pl", "spark", "-am", "package", "-DskipTests"])


def reporting_to(address):
    """Returns the settings of an application that reports to a master."""
    return {"spark.jars": str(CONNECTOR), "spark.plugins": "org.tidemark.spark.TidemarkPlugin",
            "spark.tidemark.master": address}


def finished(command, out, err, **options):
    """Runs a command and returns its exit code. Ends all its processes on an interrupt."""
    with open(out, "w") as to_out, open(err, "w") as to_err:
        process = subprocess.Popen(command, stdout=to_out, stderr=to_err, stdin=subprocess.DEVNULL,
                                   start_new_session=True, **options)
    try:
        return process.wait(PATIENCE_SECONDS)
    except BaseException:
        measure.end_group(process)
        raise


class Ended:
    """The output and logs of an application."""

    def __init__(self, out, err, events, processor_seconds):
        self.out, self.err, self.events = out, err, events
        self.processor_seconds = processor_seconds  # of all processes of the cluster

    def digest(self):
        return hashlib.sha256(self.out.encode()).hexdigest()

    def snapshots(self):
        return [json.loads(line) for line in self.err.splitlines() if line.startswith('{"')]


class Spark:
    """One version of Spark. Its files are in a temporary folder, which is removed on exit."""

    def __init__(self, version, tidemark=measure.TIDEMARK):
        self.version = version
        self.tidemark = str(tidemark)
        self.installed = pathlib.Path(
            must(["bash", str(ROOT / "tests" / "spark" / "spark_home.sh"), version]).strip())

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="tidemark-spark-")
        self.folder = pathlib.Path(self.temporary.name)
        # A cluster writes files into the folder of Spark. Links keep the original folder unchanged.
        self.home = self.folder / "spark"
        self.home.mkdir()
        for part in self.installed.iterdir():
            (self.home / part.name).symlink_to(part)
        self.runs = 0
        return self

    def __exit__(self, *exception):
        self.temporary.cleanup()

    def jobs_jar(self):
        """Returns the jar of the Java jobs, compiled for this version."""
        jar = BUILD / f"jobs-{self.version}.jar"
        sources = sorted(JOBS.glob("*.java"))
        if not jar.exists() or any(s.stat().st_mtime > jar.stat().st_mtime for s in sources):
            BUILD.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory() as classes:
                must(["javac", "-nowarn", "-cp", f"{self.installed}/jars/*", "-d", classes,
                      *map(str, sources)])
                must(["jar", "cf", f"{jar}.new", "-C", classes, "."])
            pathlib.Path(f"{jar}.new").rename(jar)
        return jar

    def submit(self, words, settings, events):
        options = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.executor.memory": f"{EXECUTOR_MEGABYTES}m",
            "spark.sql.shuffle.partitions": "16",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.dir": events.as_uri(),
            **settings}
        master = options.pop("spark.master", CLUSTER)
        command = [str(self.home / "bin" / "spark-submit"), "--master", master, "--driver-memory", "1g"]
        for name, value in options.items():
            command += ["--conf", f"{name}={value}"]
        return command + list(words)

    def environment(self):
        return {**os.environ, "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, words, settings=None, watched=None):
        """Runs an application, which must succeed. `watched` are options of `tidemark run spark`."""
        self.runs += 1
        events = self.folder / f"events{self.runs}"
        events.mkdir()
        command = self.submit(words, settings or {}, events)
        if watched is not None:
            command = [self.tidemark, "run", "spark", "--jar", str(CONNECTOR), *watched, "--", *command]
        out, err, used = (self.folder / f"{name}{self.runs}" for name in ("out", "err", "used"))
        code = finished([sys.executable, PROCESSOR_TIME, used, *command], out, err,
                        env=self.environment(), cwd=self.folder)
        if code != 0:
            raise SystemExit(f"{' '.join(command)}\nfailed with {code}:\n{err.read_text()[-3000:]}")
        logs = sorted(events.iterdir())
        if not logs:
            raise SystemExit(f"{' '.join(command)}\nwrote no event log")
        return Ended(out.read_text(), err.read_text(), logs[0], float(used.read_text()))
