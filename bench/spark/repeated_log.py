"""Repeats the jobs of a Spark event log until it has a given number of stages."""

import json
import subprocess

# Events of jobs and SQL executions, which the program repeats. Other events, such as events of executors, occur once.
OF_WORK = ("SQLExecutionStart", "SQLAdaptiveExecutionUpdate", "DriverAccumUpdates", "JobStart", "StageSubmitted",
           "TaskStart", "TaskEnd", "StageCompleted", "JobEnd", "SQLExecutionEnd")
BEGINS = ("SQLExecutionStart", "JobStart")
ENDS = ("SQLExecutionEnd", "JobEnd")
TIMES = ("Timestamp", "time", "Submission Time", "Completion Time", "Launch Time", "Finish Time", "Getting Result Time")
JOBS, STAGES, TASKS, EXECUTIONS = "jobs", "stages", "tasks", "executions"
NUMBERS = {"Job ID": JOBS, "Stage ID": STAGES, "Stage IDs": STAGES, "Parent IDs": STAGES, "Task ID": TASKS,
           "executionId": EXECUTIONS, "rootExecutionId": EXECUTIONS, "spark.sql.execution.id": EXECUTIONS,
           "spark.sql.execution.root.id": EXECUTIONS}


def kind_of(event):
    return event["Event"].rpartition("SparkListener")[2]


def text_of(path):
    if path.suffix != ".zst":
        return path.read_text(errors="replace")
    unpacked = subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, check=True).stdout
    return unpacked.decode("utf-8", "replace")


def numbers_in(value, found):
    """Returns the numbers of jobs, stages, tasks and SQL executions by kind, and the times as `TIMES`."""
    if isinstance(value, list):
        for part in value:
            numbers_in(part, found)
    if not isinstance(value, dict):
        return
    for key, part in value.items():
        of = TIMES if key in TIMES else NUMBERS.get(key)
        some = part if isinstance(part, list) else [part]
        if of is not None and all(str(number).isdecimal() for number in some):
            found.setdefault(of, []).extend(int(number) for number in some if int(number) > 0 or of != TIMES)
        else:
            numbers_in(part, found)


def moved(value, by):
    if isinstance(value, list):
        return [moved(part, by) for part in value]
    if not isinstance(value, dict):
        return value

    def number(of, said):
        if isinstance(said, list):
            return [number(of, part) for part in said]
        if not str(said).isdecimal() or (of == TIMES and int(said) == 0):
            return said
        return type(said)(int(said) + by.get(of, 0))

    other = {}
    for key, part in value.items():
        of = TIMES if key in TIMES else NUMBERS.get(key)
        is_number = of is not None and not isinstance(part, dict)
        other[key] = number(of, part) if is_number else moved(part, by)
    return other


def stages_in(events):
    """Returns the stages that ran."""
    return len({event["Stage ID"] for event in events if kind_of(event) == "TaskEnd"})


def with_stages(path, stages):
    """Returns the text of the repeated log and its number of stages, rounded up to whole rounds."""
    events = [json.loads(line) for line in text_of(path).splitlines() if line.startswith('{"Event":"')]
    places = [i for i, event in enumerate(events) if kind_of(event) in BEGINS + ENDS]
    before, work, after = events[:places[0]], events[places[0]:places[-1] + 1], events[places[-1] + 1:]
    again = [event for event in work if kind_of(event) in OF_WORK]
    found = {}
    numbers_in(again, found)
    step = {of: max(some) - min(some) + 1 for of, some in found.items()}
    of_one = stages_in(work)
    rounds = max(-(-stages // of_one), 1)
    all_events = before + work
    for turn in range(1, rounds):
        all_events += moved(again, {of: turn * size for of, size in step.items()})
    all_events += moved(after, {TIMES: (rounds - 1) * step[TIMES]})
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in all_events), rounds * of_one
