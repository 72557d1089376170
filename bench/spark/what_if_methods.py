"""Predictions of other methods for a run on other numbers of slots, after their descriptions.

A run: "seconds" from the start of the application to the end of its last job, and "stages" with "start", "end" and the
seconds of their "tasks".
"""

import statistics


def driver_seconds(run):
    """Returns the time of the run without a running stage, including its start-up."""
    busy, until = 0, 0
    for stage in sorted(run["stages"], key=lambda stage: stage["start"]):
        busy += max(stage["end"] - max(stage["start"], until), 0)
        until = max(until, stage["end"])
    return max(run["seconds"] - busy, 0)


def by_critical_path(run, slots):
    """Predicts like Sparklens: the driver's time, and for each stage the larger of its longest task and its work divided
    by the slots."""
    return driver_seconds(run) + sum(max(max(stage["tasks"]), sum(stage["tasks"]) / slots) for stage in run["stages"])


def by_boe(run, slots):
    """Predicts the work of each stage divided by the slots that its tasks can fill, stage after stage."""
    return driver_seconds(run) + sum(
        max(statistics.fmean(stage["tasks"]), sum(stage["tasks"]) / min(slots, len(stage["tasks"])))
        for stage in run["stages"])


def by_waves(run, slots):
    """Predicts the mean task time multiplied by the number of waves, stage after stage."""
    return driver_seconds(run) + sum(
        statistics.fmean(stage["tasks"]) * -(-len(stage["tasks"]) // slots) for stage in run["stages"])


OTHERS = {"sparklens": by_critical_path, "boe": by_boe, "waves": by_waves}
