"""Predictions of other methods for a run on other numbers of slots, implemented from their descriptions.

A run: "seconds" from the start of the application to the end of its last job, its "slots", and "stages" with "start",
"end" and the seconds of their "tasks".
"""

import itertools
import math
import statistics


def driver_seconds(run):
    """Returns the time of the run without a running stage, including its start-up."""
    busy, until = 0, 0
    for stage in sorted(run["stages"], key=lambda stage: stage["start"]):
        busy += max(stage["end"] - max(stage["start"], until), 0)
        until = max(until, stage["end"])
    return max(run["seconds"] - busy, 0)


def by_critical_path(run, slots):
    """Predicts like Sparklens. Adds the driver's time and, for each stage, the larger of its longest task and its work
    divided by the slots."""
    return driver_seconds(run) + sum(max(max(stage["tasks"]), sum(stage["tasks"]) / slots) for stage in run["stages"])


def by_boe(run, slots):
    """Predicts the work of each stage divided by the slots that its tasks can fill, for sequential stages."""
    return driver_seconds(run) + sum(
        max(statistics.fmean(stage["tasks"]), sum(stage["tasks"]) / min(slots, len(stage["tasks"])))
        for stage in run["stages"])


def by_waves(run, slots):
    """Predicts the mean task time multiplied by the number of waves, for sequential stages."""
    return driver_seconds(run) + sum(
        statistics.fmean(stage["tasks"]) * -(-len(stage["tasks"]) // slots) for stage in run["stages"])


OTHERS = {"sparklens": by_critical_path, "boe": by_boe, "waves": by_waves}


def nearest(runs, slots):
    return min(runs, key=lambda run: abs(math.log(run["slots"] / slots)))


def fitted(terms):
    """Returns a method that fits a non-negative sum of the terms to several runs, by relative errors."""
    def method(runs, slots):
        best = (math.inf, 0.0)
        for chosen in itertools.product((False, True), repeat=len(terms)):
            some = [term for term, is_in in zip(terms, chosen) if is_in]
            weights = least_squares([[term(run["slots"]) / run["seconds"] for term in some] for run in runs])
            if not weights or min(weights) < 0:
                continue
            def at(n):
                return sum(weight * term(n) for weight, term in zip(weights, some))
            best = min(best, (sum((at(run["slots"]) / run["seconds"] - 1) ** 2 for run in runs), at(slots)))
        return best[1]
    return method


def least_squares(rows):
    """Returns x that minimizes |rows x - 1|, by Gauss's elimination of the normal equations; [] if it is not unique."""
    n = len(rows[0])
    normal = [[sum(row[i] * row[j] for row in rows) for j in range(n)] + [sum(row[i] for row in rows)] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(normal[r][i]))
        if abs(normal[pivot][i]) < 1e-12:
            return []
        normal[i], normal[pivot] = normal[pivot], normal[i]
        for r in set(range(n)) - {i}:
            factor = normal[r][i] / normal[i][i]
            normal[r] = [x - factor * y for x, y in zip(normal[r], normal[i])]
    return [normal[i][n] / normal[i][i] for i in range(n)]


OF_SEVERAL = {"work over slots": lambda runs, slots: nearest(runs, slots)["seconds"] * nearest(runs, slots)["slots"] / slots,
              "sparklens": lambda runs, slots: by_critical_path(nearest(runs, slots), slots),
              "amdahl": fitted([lambda n: 1, lambda n: 1 / n]),
              "ernest": fitted([lambda n: 1, lambda n: 1 / n, math.log])}
