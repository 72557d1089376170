"""What being watched costs a job: the same job with and without the agent, in pairs.

Each pair runs both in alternating order; the slowdown of a pair is watched / unwatched - 1 of the
wall-clock time that the runner itself reports for the job.
usage: slowdown.py PAIRS NAME JOB-ARGUMENTS...
"""

import math
import re
import statistics
import subprocess
import sys
import tempfile

import measure


def job_seconds(arguments, watched):
    with tempfile.TemporaryDirectory() as directory:
        command = [str(measure.TIDEMARK), "run", *arguments, "--output", f"{directory}/out",
                   "--progress", "quiet"] + ([] if watched else ["--no-agent"])
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nfailed:\n{done.stderr[-2000:]}")
    elapsed = re.search(r"^elapsed_seconds\s+([0-9.]+)$", done.stdout, re.MULTILINE)
    return float(elapsed.group(1))


def main():
    pairs, name, arguments = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    slowdowns, watched_times, unwatched_times = [], [], []
    for pair in range(pairs):
        order = [True, False] if pair % 2 == 0 else [False, True]
        times = {watched: job_seconds(arguments, watched) for watched in order}
        slowdowns.append(times[True] / times[False] - 1)
        watched_times.append(times[True])
        unwatched_times.append(times[False])
        print(f"pair {pair + 1} of {pairs}: watched {times[True]:.2f} s, "
              f"unwatched {times[False]:.2f} s, {100 * slowdowns[-1]:+.2f} %", flush=True)
    error = statistics.stdev(slowdowns) / math.sqrt(pairs) if pairs > 1 else float("nan")
    measure.save(f"slowdown_{name}", {
        "job": arguments, "slowdown": measure.spread(slowdowns), "standard_error": error,
        "watched_seconds": measure.spread(watched_times),
        "unwatched_seconds": measure.spread(unwatched_times), "pairs": slowdowns})
    print(f"{name}: mean slowdown {100 * statistics.fmean(slowdowns):+.2f} % "
          f"+- {100 * error:.2f} % (standard error, {pairs} pairs)")


if __name__ == "__main__":
    main()
