#!/usr/bin/env python3
"""Whether a master names the Hadoop job that takes the processors from another, on YARN.

A job computes in two reduce tasks; in every other run one computes beside it in twice as many map tasks as there are
processors. Right: `tidemark why` names it, and the processor, first. In the runs without it no job may be named. All
is on one host, which both node managers are on. What was run is kept in the file of --json: a second call goes on
from there.
usage: ./dev bench hadoop_blame [--runs N] [--json FILE] [--save]
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import cluster as hadoop

sys.path.insert(0, str(hadoop.ROOT / "bench"))
import measure  # noqa: E402
import why  # noqa: E402

REDUCES = 2
ROUNDS = 60  # some 40 s on two processors
SAMPLES = 20_000_000_000  # of each task of the noisy job, which is killed long before it has them
NODE_MEGABYTES = 2048  # of two: application masters of 384, tasks of 256
WARM_SECONDS = 10
NAMES = {"victim": "two-path", "noisy": "QuasiMonteCarlo"}


def victim(cluster):
    return cluster.command("jobs", [
        "two-path", f"-Dtwo.path.rounds={ROUNDS}", f"-Dmapreduce.job.reduces={REDUCES}",
        "-Dmapreduce.map.speculative=false", "-Dmapreduce.reduce.speculative=false",
        "/inputs/musae-github", cluster.output()])


def noisy(cluster):
    tasks = 2 * (os.cpu_count() or 1)
    return cluster.command("examples", ["pi", "-Dmapreduce.map.speculative=false", str(tasks), str(SAMPLES)])


class Watched:
    """The client of a job that reports to a master. Killed on exit with its job."""

    def __init__(self, cluster, asked, what, command):
        self.cluster, self.asked, self.what = cluster, asked, what
        self.command = [cluster.tidemark, "run", "hadoop", "--jar", str(hadoop.CONNECTOR), "--master", asked.address,
                        "-o", "quiet", "--", *command]

    def __enter__(self):
        known = self.asked.jobs()
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
                                        start_new_session=True, env=self.cluster.environment())
        try:
            self.job = self.asked.wait_for(NAMES[self.what], known)
        except BaseException:
            self.end()
            raise
        return self

    def wait(self):
        if self.process.wait(hadoop.PATIENCE_SECONDS) != 0:
            self.log.seek(0)
            raise SystemExit(f"the {self.what} failed:\n{self.log.read()[-3000:]}")

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()
        self.log.close()

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.kill_job()
        self.end()

    def kill_job(self):
        """Its client alone would leave it running. Until its containers are gone."""
        path = f"/ws/v1/cluster/apps/{self.job.replace('job', 'application')}"
        request = urllib.request.Request(self.cluster.says["web"] + path + "/state", method="PUT",
                                         data=b'{"state": "KILLED"}', headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10):
            pass
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if ((self.cluster.ask(path) or {}).get("app") or {}).get("runningContainers", 0) <= 0:
                return
            time.sleep(0.5)


def run_victim(cluster, asked):
    began = time.monotonic()
    with Watched(cluster, asked, "victim", victim(cluster)) as job:
        job.wait()
    return job.job, time.monotonic() - began


def run(cluster, asked, is_noisy):
    other = None
    if is_noisy:
        with Watched(cluster, asked, "noisy", noisy(cluster)) as other:
            time.sleep(WARM_SECONDS)
            job, seconds = run_victim(cluster, asked)
    else:
        job, seconds = run_victim(cluster, asked)
    time.sleep(why.SETTLED_SECONDS)
    queries = asked.why(job)
    others = why.other_jobs(queries, job)
    found = {"noisy": is_noisy, "seconds": seconds, "processor_wait_seconds": why.waited(queries, "processor"),
             "unreported_seconds": sum(culprit["seconds"] for culprit in why.culprits(queries)
                                       if culprit.get("unreported")),
             "culprits": others[:3]}
    if is_noisy:
        found["right"] = bool(others) and (others[0].get("job_id") == other.job and
                                           others[0]["resource"] == "processor")
    return found


def summary(runs):
    beside = [one for one in runs if one["noisy"]]
    return {"right": sum(one["right"] for one in beside), "of": len(beside),
            "false_blame": sum(bool(one["culprits"]) for one in runs if not one["noisy"]),
            "quiet": len(runs) - len(beside)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2, help="with the noisy job, and as many without")
    parser.add_argument("--tidemark", default=measure.TIDEMARK)
    parser.add_argument("--json", default=hadoop.ROOT / "build" / "bench" / "hadoop_blame.json",
                        help="where figures and runs are kept")
    parser.add_argument("--save", action="store_true", help="the figures in bench/results/blame.json, too")
    arguments = parser.parse_args()
    runs = measure.kept(arguments.json).get("runs", [])
    with tempfile.TemporaryDirectory() as directory:
        graph = pathlib.Path(directory) / "musae-github"
        subprocess.run(["zstd", "-dqo", graph, hadoop.ROOT / "data" / "graphs" / "musae-github.txt.zst"], check=True)
        with hadoop.Cluster(arguments.tidemark, NODE_MEGABYTES, {"musae-github": graph}) as cluster, \
                measure.master(arguments.tidemark) as address:
            asked = why.Asked([arguments.tidemark], address)
            for number in range(len(runs), 2 * arguments.runs):
                runs.append(run(cluster, asked, number % 2 == 0))
                print(json.dumps(runs[-1]), flush=True)
                measure.keep(arguments.json, {**summary(runs), "context": measure.context(), "runs": runs})
    print(json.dumps(summary(runs)))
    if arguments.save:
        measure.merge("blame", {"hadoop": summary(runs)})


if __name__ == "__main__":
    main()
