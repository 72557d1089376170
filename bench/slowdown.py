"""Measures the cost of watching a job, with pairs of runs with and without the agent.

Each pair runs both in alternating order. The slowdown of a pair is watched / unwatched - 1. It is
computed for the wall-clock time that the runner reports for the job, and for the processor time of all
its processes including the embedded master. Other work on the machine affects processor time less.
usage: slowdown.py PAIRS NAME JOB-ARGUMENTS...
"""

import re
import resource
import subprocess
import sys
import tempfile

import measure


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def job_seconds(arguments, watched):
    """Returns the wall-clock and processor seconds of one run."""
    before = processor_seconds()
    with tempfile.TemporaryDirectory() as directory:
        command = [str(measure.TIDEMARK), "run", "example", *arguments, "--output-dir",
                   f"{directory}/out", "-o", "quiet"] + ([] if watched else ["--no-agent"])
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nfailed:\n{done.stderr[-2000:]}")
    elapsed = re.search(r"^elapsed_seconds\s+([0-9.]+)$", done.stdout, re.MULTILINE)
    return float(elapsed.group(1)), processor_seconds() - before


def main():
    pairs, name, arguments = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    wall, processor, times = [], [], []
    for pair in range(pairs):
        order = [True, False] if pair % 2 == 0 else [False, True]
        runs = {watched: job_seconds(arguments, watched) for watched in order}
        times.append({"watched": runs[True], "unwatched": runs[False]})
        wall.append(runs[True][0] / runs[False][0] - 1)
        processor.append(runs[True][1] / runs[False][1] - 1)
        print(f"pair {pair + 1} of {pairs}: wall clock {100 * wall[-1]:+.2f} %, "
              f"processor {100 * processor[-1]:+.2f} %", flush=True)

    def summary(name, slowdowns):
        mean, error = measure.mean_and_error(slowdowns)
        print(f"{name}: mean slowdown {100 * mean:+.2f} % "
              f"+- {measure.percent(error)} (standard error, {pairs} pairs)")
        return {"slowdown": measure.spread(slowdowns), "mean": mean, "standard_error": error}

    measure.save(f"slowdown_{name}", {
        "job": arguments, "wall_clock": summary(f"{name}, wall clock", wall),
        "processor": summary(f"{name}, processor", processor), "seconds": times})


if __name__ == "__main__":
    main()
