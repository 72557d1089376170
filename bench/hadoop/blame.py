#!/usr/bin/env python3
"""Checks whether a master names the Hadoop job that takes the processors from another job, on YARN.

A job computes in two reduce tasks. In every other run a second job computes in twice as many map tasks as there are
processors. The answer is correct if `tidemark why` names this job and the processor first, and names no job in the
other runs. Everything runs on one host with two node managers. The file of --json stores finished runs, so a second
call resumes. A run only starts if it can end within --minutes. `--only 1` runs once with the noisy job.
usage: ./dev bench hadoop_blame [--runs N] [--only N] [--minutes N] [--json FILE] [--save]
"""

import argparse
import getpass
import os
import pathlib
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
ROUNDS = 45  # takes 10 to 20 s of processor time for the larger of its reduce tasks
# for each task of the noisy job, which is killed long before it has drawn all of them
SAMPLES = 20_000_000_000
# of each of the two nodes; application masters take 384, tasks 256
NODE_MEGABYTES = max(2048, 1024 + 256 * (os.cpu_count() or 1))
STARTED_SECONDS = 120
WARM_SECONDS = 3  # until its tasks have reported
NAMES = {"victim": "two-path", "noisy": "QuasiMonteCarlo"}


def victim(cluster):
    return cluster.command("jobs", [
        "two-path", f"-Dtwo.path.rounds={ROUNDS}", f"-Dmapreduce.job.reduces={REDUCES}",
        "-Dmapreduce.map.speculative=false", "-Dmapreduce.reduce.speculative=false",
        "/inputs/musae-github", cluster.output()])


def noisy_tasks():
    return 2 * (os.cpu_count() or 1)


def noisy(cluster):
    return cluster.command("examples",
                           ["pi", "-Dmapreduce.map.speculative=false", str(noisy_tasks()), str(SAMPLES)])


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
        measure.end_group(self.process)
        self.log.close()

    def __exit__(self, *exception):
        try:
            if self.process.poll() is None:
                self.kill_job()
        finally:
            self.end()

    def path(self):
        return f"/ws/v1/cluster/apps/{self.job.replace('job', 'application')}"

    def containers(self):
        """Returns the number of running containers, which is 0 after the end."""
        return ((self.cluster.ask(self.path()) or {}).get("app") or {}).get("runningContainers", 0)

    def wait_for_containers(self, is_enough):
        deadline = time.monotonic() + STARTED_SECONDS
        while not is_enough(self.containers()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the {self.what} has {self.containers()} containers after {STARTED_SECONDS} s")
            time.sleep(0.5)

    def kill_job(self):
        """Kills the job, since ending its client would not, and waits until its containers are gone."""
        request = urllib.request.Request(
            f"{self.cluster.says['web']}{self.path()}/state?user.name={getpass.getuser()}", method="PUT",
            data=b'{"state": "KILLED"}', headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10):
            pass
        deadline = time.monotonic() + STARTED_SECONDS
        while self.containers() > 0 and time.monotonic() < deadline:
            time.sleep(0.5)


def run_victim(cluster, asked):
    began = time.monotonic()
    with Watched(cluster, asked, "victim", victim(cluster)) as job:
        job.wait()
    return job.job, time.monotonic() - began


def run(cluster, asked, number):
    noisy_id = None
    if number % 2 == 1:
        with Watched(cluster, asked, "noisy", noisy(cluster)) as other:
            # The number includes the application master.
            other.wait_for_containers(lambda running: running > noisy_tasks())
            time.sleep(WARM_SECONDS)
            job, seconds = run_victim(cluster, asked)
        noisy_id = other.job
    else:
        job, seconds = run_victim(cluster, asked)
    return {"run": number, "seconds": seconds, **why.answer(asked, job, noisy_id)}


def line_of(found):
    first = found["culprits"][0] if found["culprits"] else None
    named = f"{first['job_id']} ({first['resource']}, {first['seconds']:.1f} s)" if first else "no job"
    told = "right" if found.get("right", not first) else "wrong"
    where = "beside the noisy job" if found["noisy"] else "alone"
    return (f"run {found['run']}, {where}: took {found['seconds']:.1f} s, "
            f"waited {found['processor_wait_seconds']:.1f} s for a processor; named {named}: {told}")


def summary(runs):
    return {"hadoop": why.figures(runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2, help="number of runs with the noisy job; as many run without it")
    parser.add_argument("--only", type=int,
                        help="run only this run, from 0, even if it has results; odd runs have the noisy job")
    parser.add_argument("--minutes", type=float, default=10, help="start no run that may not end by then")
    parser.add_argument("--tidemark", default=measure.TIDEMARK)
    parser.add_argument("--json", default=hadoop.ROOT / "build" / "bench" / "hadoop_blame.json",
                        help="output file for figures and runs")
    parser.add_argument("--save", action="store_true", help="also write the figures to bench/results/blame.json")
    arguments = parser.parse_args()
    measure.end_when_cut()
    kept = measure.Kept(arguments.json, arguments.only, arguments.minutes)
    with tempfile.TemporaryDirectory() as directory:
        graph = pathlib.Path(directory) / "musae-github"
        subprocess.run(["zstd", "-dqo", graph, hadoop.ROOT / "data" / "graphs" / "musae-github.txt.zst"], check=True)
        with hadoop.Cluster(arguments.tidemark, NODE_MEGABYTES, {"musae-github": graph}) as cluster, \
                measure.master(arguments.tidemark) as address:
            asked = why.Asked([arguments.tidemark], address)
            for number in kept.missing(range(max(2 * arguments.runs, (arguments.only or 0) + 1))):
                found = run(cluster, asked, number)
                kept.add(found, summary)
                print(line_of(found), flush=True)
    print(summary(kept.runs))
    if arguments.save:
        measure.merge("blame", summary(kept.runs))


if __name__ == "__main__":
    main()
