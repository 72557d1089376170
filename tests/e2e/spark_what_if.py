"""Spark event logs for spark_what_if_test.sh, at instants around now, and what is true of them.

usage: spark_what_if.py again RECORDING LOG SECONDS_AGO
       spark_what_if.py later RECORDING LOG CUT_S SECONDS_TO_CUT
       spark_what_if.py clusters LOG K ITERATIONS SECONDS_AGO [begun]
       spark_what_if.py judge RECORDING CUT_S ANSWERS
       spark_what_if.py judge_first SNAPSHOTS TRUTH_S

again: the recorded run (a file or a rolling folder), as it ended so many seconds ago.
later: likewise, but as it will be CUT_S after its start in SECONDS_TO_CUT from now: LOG has its beginning, LOG.rest
what is written until then.
clusters: a made program that reads for 4 s and then repeats a step of two tasks, 1 s and a tenth for each of k, on
two slots; how it ended so many seconds ago, or how it has just begun.
judge: rows of `what-if --executors 1,2,4 -o jsonl` about `later`, asked at its cut. judge_first: snapshots of
`watch -o jsonl` of a run that would take so long.
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

RECORDED_MS = (1_700_000_000_000, 1_900_000_000_000)  # instants of recordings, and no other numbers
BEGINNING_S = 24  # of a run that is cut later: its driver has started and no job
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
    """As a log has them: some tell no instant, and are written after those before them."""
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
    """Events of the made program, by instant in ms from its start."""

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
    """In the order in which they ran."""
    free = [0.0] * slots
    for seconds in tasks:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


def left_on(events, cut, slots):
    """Seconds that would be left at the cut on so many slots: stages run one after the other in this program, each
    after the pause that it had. What runs at the cut goes on."""
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
    """Python 3.11 does not take nine decimals."""
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
    """The run before took half as long, so that the end is not known well; what executors make of it is judged beside
    what they would make of the truth."""
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
    """Of the first second: later ones know no more, since nothing is told of it."""
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
