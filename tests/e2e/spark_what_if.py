"""Writes Spark event logs for spark_what_if_test.sh with times around now, and checks answers against the truth.

usage: spark_what_if.py again RECORDING LOG SECONDS_AGO
       spark_what_if.py later RECORDING LOG CUT_S SECONDS_TO_CUT
       spark_what_if.py clusters LOG K ITERATIONS SECONDS_AGO [begun]
       spark_what_if.py judge RECORDING CUT_S ANSWERS
       spark_what_if.py judge_first SNAPSHOTS TRUTH_S

again: writes the recorded run (a file or a rolling folder) as if it had ended SECONDS_AGO. later: writes the run so
that it is CUT_S after its start in SECONDS_TO_CUT from now. LOG contains its beginning, and LOG.rest what is written
until then. clusters: writes a generated program on two slots that reads for 4 s and then repeats a step of two tasks,
which take 1 s plus 0.1 s for each of k. The program ended SECONDS_AGO, or has just begun. judge: checks rows of
`what-if --executors 1,2,4 -o jsonl` about `later`, asked at its cut. judge_first: checks snapshots of `watch -o jsonl`
for a run that takes TRUTH_S.
"""

import ctypes
import ctypes.util
import datetime
import heapq
import itertools
import json
import math
import pathlib
import sys
import time

# Matches times in recordings, and no other numbers.
RECORDED_MS = (1_700_000_000_000, 1_900_000_000_000)
BEGINNING_S = 24  # Length of a run that is cut later, when its driver has started but no job has.
SLOTS_OF_EXECUTOR = 2


def unpacked(path):
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]
    packed = path.read_bytes()
    room = ctypes.create_string_buffer(1 << 24)
    size = library.ZSTD_decompress(room, ctypes.c_size_t(len(room)), packed, ctypes.c_size_t(len(packed)))
    assert not library.ZSTD_isError(size), f"{path} is damaged"
    return room.raw[:size].decode()


def recorded(path):
    path = pathlib.Path(path)
    files = sorted(path.glob("events_*")) if path.is_dir() else [path]
    return [json.loads(line) for file in files for line in unpacked(file).splitlines()]


def instants(value):
    if isinstance(value, dict):
        return [at for part in value.values() for at in instants(part)]
    if isinstance(value, list):
        return [at for part in value for at in instants(part)]
    return [value] if isinstance(value, int) and RECORDED_MS[0] < value < RECORDED_MS[1] else []


def moved(value, by_ms):
    if isinstance(value, dict):
        return {key: moved(part, by_ms) for key, part in value.items()}
    if isinstance(value, list):
        return [moved(part, by_ms) for part in value]
    return value + by_ms if instants(value) else value


def start_of(events):
    return next(event["Timestamp"] for event in events if event["Event"].endswith("ApplicationStart"))


def end_of(events):
    return next(event["Timestamp"] for event in events if event["Event"].endswith("ApplicationEnd"))


def until(at, events):
    """Returns the events up to a time, in the order of a log. Events without a time follow the event before them."""
    return list(itertools.takewhile(lambda event: max(instants(event), default=0) <= at, events))


def text_of(events):
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


def now_ms():
    return int(1000 * time.time())


def again(recording, log, seconds_ago):
    events = recorded(recording)
    by_ms = now_ms() - 1000 * int(seconds_ago) - end_of(events)
    pathlib.Path(log).write_text(text_of(moved(events, by_ms)))


def later(recording, log, cut_s, seconds_to_cut):
    events = recorded(recording)
    cut = start_of(events) + int(1000 * float(cut_s))
    by_ms = now_ms() + int(1000 * float(seconds_to_cut)) - cut
    first = until(start_of(events) + 1000 * BEGINNING_S, events)
    rest = until(cut, events)[len(first):]
    pathlib.Path(log).write_text(text_of(moved(first, by_ms)))
    pathlib.Path(log + ".rest").write_text(text_of(moved(rest, by_ms)))


class Clusters:
    """The events of the generated program, by time in ms from its start."""

    def __init__(self, k, iterations):
        self.events = []
        self.job = 0
        self.tell(0, "LogStart", **{"Spark Version": "3.5.1"})
        self.tell(0, "EnvironmentUpdate", **{"Spark Properties": {
            "spark.executor.instances": "1", "spark.executor.cores": "2", "spark.executor.memory": "1g",
            "spark.tidemark.param.k": str(k), "spark.tidemark.param.iterations": str(iterations)}})
        self.tell(0, "ApplicationStart", **{"App Name": "clusters", "App ID": f"clusters-{k}-{iterations}"},
                  Timestamp=0)
        self.tell(0, "ExecutorAdded", **{"Executor ID": "1", "Executor Info": {"Host": "h", "Total Cores": 2}},
                  Timestamp=0)
        at = self.stage(0, "read at Clusters.scala:30", 4000)
        for _ in range(iterations):
            at = self.stage(at, "collect at Clusters.scala:40", 1000 + 100 * k)
        self.tell(at, "ApplicationEnd", Timestamp=at)
        self.end = at

    def tell(self, at, event, **fields):
        self.events.append((at, {"Event": "SparkListener" + event, **fields}))

    def stage(self, begin, name, task_ms):
        end = begin + task_ms
        info = {"Stage ID": self.job, "Stage Attempt ID": 0, "Stage Name": name, "Number of Tasks": 2,
                "Parent IDs": [], "Submission Time": begin}
        self.tell(begin, "JobStart", **{"Job ID": self.job, "Submission Time": begin, "Stage IDs": [self.job],
                                        "Stage Infos": [info]})
        self.tell(begin, "StageSubmitted", **{"Stage Info": info})
        tasks = [{"Task ID": 2 * self.job + index, "Index": index, "Attempt": 0, "Launch Time": begin,
                  "Executor ID": "1", "Host": "h"} for index in (0, 1)]
        stage = {"Stage ID": self.job, "Stage Attempt ID": 0}
        for task in tasks:
            self.tell(begin, "TaskStart", **stage, **{"Task Info": {**task, "Finish Time": 0}})
        for task in tasks:
            self.tell(end, "TaskEnd", **stage, **{"Task End Reason": {"Reason": "Success"},
                                                  "Task Info": {**task, "Finish Time": end}})
        self.tell(end, "StageCompleted", **{"Stage Info": {**info, "Completion Time": end}})
        self.tell(end, "JobEnd", **{"Job ID": self.job, "Completion Time": end,
                                    "Job Result": {"Result": "JobSucceeded"}})
        self.job += 1
        return end

    def at(self, start_ms, until_ms):
        times = ("Timestamp", "Submission Time", "Completion Time", "Launch Time", "Finish Time")

        def placed(value):
            if isinstance(value, list):
                return [placed(part) for part in value]
            if not isinstance(value, dict):
                return value
            return {key: part + start_ms if key in times and (part or key != "Finish Time") else placed(part)
                    for key, part in value.items()}
        return [placed(event) for at, event in self.events if at <= until_ms]


def clusters(log, k, iterations, seconds_ago, begun=None):
    program = Clusters(int(k), int(iterations))
    passed = 0 if begun else program.end
    pathlib.Path(log).write_text(text_of(program.at(now_ms() - 1000 * int(seconds_ago) - passed, passed)))


def makespan(tasks, slots):
    """Returns the time that the tasks take in the order in which they ran."""
    free = [0.0] * slots
    for seconds in tasks:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


def left_on(events, cut, slots):
    """Returns the seconds that remain at the cut on the given number of slots. The stages of this program run
    sequentially, each after its original pause. Tasks that run at the cut continue."""
    stages = {}
    for event in events:
        if event["Event"] == "SparkListenerTaskEnd":
            task = event["Task Info"]
            stages.setdefault(event["Stage ID"], []).append((task["Launch Time"], task["Finish Time"]))
    left, last = 0.0, None
    for tasks in sorted(stages.values(), key=min):
        begin, end = min(tasks)[0], max(finish for _, finish in tasks)
        if end > cut:
            left += max(begin - max(last, cut), 0) / 1000
            running = [finish - cut for launch, finish in tasks if launch <= cut < finish]
            waiting = [finish - launch for launch, finish in sorted(tasks) if launch > cut]
            left += makespan([ms / 1000 for ms in sorted(running, reverse=True) + waiting], slots)
        last = end
    return left


def seconds(duration):
    return float(duration.removesuffix("s"))


def instant(text):
    """Parses a time, since Python 3.11 does not accept nine decimals."""
    whole, _, decimals = text.removesuffix("Z").partition(".")
    at = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc).timestamp()
    return at + float("0." + (decimals or "0"))


def bounds(snapshot):
    left = snapshot["estimate"]["remaining"]
    said = [seconds(left[key]) for key in ("lower", "median", "upper")]
    assert all(map(math.isfinite, said)) and said[0] >= 0 < said[1], said
    assert said == sorted(said), said
    return said


def judge(recording, cut_s, answers):
    """The past run took half as long, so the end is uncertain. The effect of executors is therefore compared with their
    effect on the true time."""
    events = recorded(recording)
    cut = start_of(events) + int(1000 * float(cut_s))
    rows = [json.loads(line) for line in pathlib.Path(answers).read_text().splitlines()]
    assert [(row["executors"], row["slots"]) for row in rows] == [(1, 2), (1, 2), (2, 4), (4, 8)], rows
    said = [bounds(row["snapshot"]) for row in rows]
    truth = {row["executors"]: left_on(events, cut, row["slots"]) for row in rows}
    print("said", said, "true", truth, flush=True)
    as_it_is, one, two, four = (median for _, median, _ in said)
    assert truth[1] / 3 <= as_it_is <= 3 * truth[1], "far from the truth as it is"
    assert abs(one - as_it_is) <= 0.2 * as_it_is, "one executor is as it is"
    assert two < as_it_is, "with another executor all four tasks of a stage run at once"
    assert abs(two / as_it_is - truth[2] / truth[1]) <= 0.4, "not what another executor makes of it"
    assert four <= 1.1 * two, "more executors than there is work for do not slow it down"


def judge_first(snapshots, truth_s):
    """Checks snapshots of the first second. Later snapshots contain no more information, since no further events
    follow."""
    all_of_them = [json.loads(line) for line in pathlib.Path(snapshots).read_text().splitlines(keepends=True)
                   if line.endswith("\n")]
    assert all("remaining" in snapshot["estimate"] for snapshot in all_of_them), "no end from the first snapshot on"
    first = next(snapshot for snapshot in all_of_them if "started_at" in snapshot)
    passed = instant(first["at"]) - instant(first["started_at"])
    lower, median, upper = (passed + bound for bound in bounds(first))
    print("after", passed, "said", lower, median, upper, flush=True)
    assert abs(median - float(truth_s)) <= 0.25 * float(truth_s), median
    assert lower <= float(truth_s) <= upper, (lower, upper)
    assert "parameters outside the range of past runs: iterations, k" in first["notes"], first.get("notes")


if __name__ == "__main__":
    {"again": again, "later": later, "clusters": clusters, "judge": judge,
     "judge_first": judge_first}[sys.argv[1]](*sys.argv[2:])
