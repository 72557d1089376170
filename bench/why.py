"""Asks a master for contending queries, for the benchmarks."""

import json
import subprocess
import time

STARTED_SECONDS = 120
SETTLED_SECONDS = 5  # until the answers contain all reports about the end of a job


class Asked:
    """Calls a master at `address`. `command` runs tidemark, for example in another network namespace."""

    def __init__(self, command, address):
        self.command = [str(word) for word in command]
        self.address = address

    def ask(self, *words):
        done = subprocess.run([*self.command, *words, "--master", self.address, "-o", "jsonl"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"tidemark {' '.join(words)}: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def jobs(self, name=None):
        """Returns the ids of all jobs, or of the jobs with the given name."""
        return [job["job_id"] for job in self.ask("get", "jobs")
                if name is None or job.get("info", {}).get("name") == name]

    def wait_for(self, name, known):
        """Returns the id of a new job. If a name is given, the job must have that name."""
        deadline = time.monotonic() + STARTED_SECONDS
        while time.monotonic() < deadline:
            for job in self.jobs(name):
                if job not in known:
                    return job
            time.sleep(0.5)
        raise SystemExit(f"{name or 'the job'} has not reported within {STARTED_SECONDS} s")

    def why(self, job, *words):
        return self.ask("why", job, *words)


def culprits(queries):
    """Returns the contending queries of all queries, the worst first."""
    return sorted((culprit for query in queries for culprit in query["because_of"]),
                  key=lambda culprit: -culprit["seconds"])


def other_jobs(queries, own):
    """Returns the named jobs other than the given one."""
    return [culprit for culprit in culprits(queries) if culprit.get("job_id", own) != own]


def waited(queries, resource):
    return sum(query["waits"].get(resource, {}).get("seconds", 0) for query in queries)


def answer(asked, job, noisy=None):
    """Asks about an ended job. `noisy` is the id of the job that took the processors from it, if any."""
    time.sleep(SETTLED_SECONDS)
    queries = asked.why(job)
    others = other_jobs(queries, job)
    found = {"noisy": noisy is not None, "processor_wait_seconds": waited(queries, "processor"),
             "unreported_seconds": sum(culprit["seconds"] for culprit in culprits(queries)
                                       if culprit.get("unreported")),
             "culprits": others[:3]}
    if noisy is not None:
        found["right"] = bool(others) and (others[0].get("job_id") == noisy and others[0]["resource"] == "processor")
    return found


def figures(runs):
    """Returns the number of correct answers with a noisy job, and the number of named jobs without a noisy job."""
    beside = [one for one in runs if one["noisy"]]
    return {"right": sum(one["right"] for one in beside), "of": len(beside),
            "false_blame": sum(bool(one["culprits"]) for one in runs if not one["noisy"]),
            "quiet": len(runs) - len(beside)}
