"""What others would say of a run on other numbers of slots, from their descriptions.

A run: "seconds" from the start of the application to the end of its last job, and "stages" with "start", "end" and the
seconds of their "tasks".
"""

import statistics


def driver_seconds(run):
    """Of the run, what no stage was at work, start-up included."""
    busy, until = 0, 0
    for stage in sorted(run["stages"], key=lambda stage: stage["start"]):
        busy += max(stage["end"] - max(stage["start"], until), 0)
        until = max(until, stage["end"])
    return max(run["seconds"] - busy, 0)


def by_critical_path(run, slots):
    """As Sparklens describes its own: the driver's time, and of each stage the larger of its longest task and its
    work over the slots."""
    return driver_seconds(run) + sum(max(max(stage["tasks"]), sum(stage["tasks"]) / slots) for stage in run["stages"])


def by_boe(run, slots):
    """A mean task as long as it was, on as many slots as it can fill: work over slots, stage after stage."""
    return driver_seconds(run) + sum(
        max(statistics.fmean(stage["tasks"]), sum(stage["tasks"]) / min(slots, len(stage["tasks"])))
        for stage in run["stages"])


def by_waves(run, slots):
    """Mean task times whole waves of them, stage after stage."""
    return driver_seconds(run) + sum(
        statistics.fmean(stage["tasks"]) * -(-len(stage["tasks"]) // slots) for stage in run["stages"])


OTHERS = {"sparklens": by_critical_path, "boe": by_boe, "waves": by_waves}
