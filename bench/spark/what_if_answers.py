"""Answers of `tidemark what-if` as values."""

import json
import pathlib
import subprocess


def in_seconds(text):
    return float(text.removesuffix("s"))


def foretold(tidemark, subject, others, options):
    """Returns the rows of what-if: median, lower and upper bound in seconds, and remarks with the names of logs."""
    command = [str(tidemark), "what-if", str(subject), *options, "-o", "jsonl"]
    if others:
        command += ["--learn", *map(str, others)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nfailed with {done.returncode}:\n{done.stderr[-2000:]}")
    folders = {f"{pathlib.Path(log).parent}/" for log in (subject, *others)}

    def by_name(remark):
        for folder in folders:
            remark = remark.replace(folder, "")
        return remark

    rows = []
    for line in done.stdout.splitlines():
        said = json.loads(line)
        left = said["snapshot"]["estimate"]["remaining"]
        rows.append({"median": in_seconds(left["median"]), "lower": in_seconds(left.get("lower", left["median"])),
                     "upper": in_seconds(left.get("upper", left["median"])), "binding": said.get("binding"),
                     "remarks": [by_name(remark) for remark in said.get("remarks", [])]})
    return rows
