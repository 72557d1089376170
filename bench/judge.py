"""Compares forecasts of a run with its outcome."""

import calendar
import json
import time

SAMPLES = 200
TRUTH = [(k + 0.5) / SAMPLES for k in range(SAMPLES)]
# Maximum error of the predicted end that counts, as a share of the duration. The second value is
# the error of a missing forecast.
END_ERROR_MAX = 5
NO_END_ERROR = 1
# Maximum width of an interval that counts, as a multiple of the remaining time.
WIDTH_MAX = 20


def instant(text):
    """Returns the seconds of a timestamp in JSON."""
    whole, _, part = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (part or "0"))


def seconds(text):
    """Returns the seconds of a duration in JSON."""
    return float(text.rstrip("s"))


class Said:
    """Progress at one time, and the predicted end with its interval if there is a forecast."""

    def __init__(self, at, fraction, end=None, lower=None, upper=None):
        self.at, self.fraction, self.end, self.lower, self.upper = at, fraction, end, lower, upper


def said_by_snapshots(snapshots):
    """Returns the published snapshots, as the bar shows them."""
    result = []
    for snapshot in snapshots:
        at, estimate = instant(snapshot["at"]), snapshot["estimate"]
        # JSON omits zeros.
        left = estimate.get("remaining")
        end, lower, upper = None, None, None
        if left is not None:
            end = at + seconds(left.get("median", "0s"))
            if "upper" in left:
                lower, upper = at + seconds(left.get("lower", "0s")), at + seconds(left["upper"])
        result.append(Said(at, estimate.get("fraction_done", 0), end, lower, upper))
    return result


class TasksDone:
    """Computes Spark's own progress from its event log (docs/internals/spark-connector.md)."""

    def __init__(self, log):
        self.begin = self.end = None
        self.said = []
        self.stages_of_job, self.tasks_of_stage, self.done = {}, {}, {}
        self.ran = set()
        with open(log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                kind = line[:60]
                if any(f'"SparkListener{name}"' in kind for name in
                       ("ApplicationStart", "ApplicationEnd", "JobStart", "JobEnd", "StageSubmitted", "TaskEnd")):
                    self.see(json.loads(line))

    def see(self, event):
        kind = event["Event"].removeprefix("SparkListener")
        if kind == "ApplicationStart":
            self.begin = event["Timestamp"] / 1000
        elif kind == "ApplicationEnd":
            self.end = event["Timestamp"] / 1000
        elif kind == "JobStart":
            self.stages_of_job[event["Job ID"]] = [stage["Stage ID"] for stage in event["Stage Infos"]]
            for stage in event["Stage Infos"]:
                self.tasks_of_stage.setdefault(stage["Stage ID"], stage["Number of Tasks"])
            self.say(event["Submission Time"])
        elif kind == "StageSubmitted":
            self.ran.add(event["Stage Info"]["Stage ID"])
        elif kind == "TaskEnd":
            if event["Task End Reason"]["Reason"] == "Success":
                self.done.setdefault(event["Stage ID"], set()).add(
                    event["Task Info"].get("Partition ID", event["Task Info"]["Index"]))
            self.say(event["Task Info"]["Finish Time"])
        elif kind == "JobEnd":
            for stage in self.stages_of_job.pop(event["Job ID"], []):
                if stage not in self.ran and not any(stage in s for s in self.stages_of_job.values()):
                    self.tasks_of_stage.pop(stage, None)  # a skipped stage
            self.say(event["Completion Time"])

    def say(self, at_millis):
        at = at_millis / 1000
        known = sum(self.tasks_of_stage.values())
        done = sum(len(tasks) for stage, tasks in self.done.items() if stage in self.tasks_of_stage)
        fraction = min(1, done / known) if known else 0
        end = self.begin + (at - self.begin) / fraction if fraction > 0 else None
        self.said.append(Said(at, fraction, end))


def at_instants(said, begin, end):
    """Returns the last forecast at each of SAMPLES evenly spaced times, or None before the first forecast."""
    result, last, rest = [], None, sorted(said, key=lambda one: one.at)
    i = 0
    for share in TRUTH:
        while i < len(rest) and rest[i].at <= begin + (end - begin) * share:
            last = rest[i]
            i += 1
        result.append(last)
    return result


def mean(values):
    return sum(values) / len(values)


def errors(said, begin, end):
    """Returns a row without its names. Errors of progress are in points, and all other errors are shares."""
    duration = end - begin
    sampled = at_instants(said, begin, end)
    points = [100 * abs((one.fraction if one else 0) - share) for one, share in zip(sampled, TRUTH)]
    ends = [min(END_ERROR_MAX, abs(one.end - end) / duration) if one and one.end is not None else NO_END_ERROR
            for one in sampled]
    bounded = [(one, 1 - share) for one, share in zip(sampled, TRUTH) if one and one.upper is not None]
    # The progress of these indicators is what they show.
    row = {"avg_err": mean(points), "shown_err": mean(points), "max_err": max(points), "eta_err": mean(ends),
           "coverage90": None, "width90": None, "ratio50": None}
    half = sampled[SAMPLES // 2]
    if half and half.upper is not None and half.lower > begin:
        row["ratio50"] = (half.upper - begin) / (half.lower - begin)
    if bounded:
        row["coverage90"] = sum(one.lower <= end <= one.upper for one, _ in bounded) / SAMPLES
        row["width90"] = sum(min((one.upper - one.lower) / duration, WIDTH_MAX * left)
                             for one, left in bounded) / sum(left for _, left in bounded)
    return {**{name: None if value is None else round(value, 4) for name, value in row.items()},
            "seconds": round(duration, 2)}


def rows_of(snapshots, spark_log):
    """Returns the rows of both indicators."""
    tasks_done = TasksDone(spark_log)
    if tasks_done.begin is None or tasks_done.end is None:
        raise SystemExit(f"{spark_log}: the application did not end")
    if not snapshots:
        raise SystemExit(f"{spark_log}: the application did not report to the master")
    rows = [{"indicator": name, **errors(said, tasks_done.begin, tasks_done.end)}
            for name, said in (("tidemark", said_by_snapshots(snapshots)),
                               ("tasks_done", tasks_done.said))]
    for own in snapshots[-1].get("errors", []):
        if own["indicator"] == "tidemark" and "last_stage_avg_points" in own:
            rows[0]["reduce_avg_err"] = round(own["last_stage_avg_points"], 4)
    return rows
