#!/usr/bin/env bash
# The contention of all jobs: a log with numbers worked by hand, then two jobs at once on a master.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
command -v python3 >/dev/null || exit 77

# Four jobs of an application write for 4 of 10 s: 4, 8 and 16 bytes on x, 4 bytes alone on y. A byte
# takes 1, 1/2, 1/4 and 1 s.
python3 - "$work/log" <<'PY'
import json, sys
start = 1_600_000_000_000
def stage(n):
    return {"Stage ID": n, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 1}
def info(n, host):
    return {"Stage ID": n, "Stage Attempt ID": 0,
            "Task Info": {"Task ID": n, "Index": 0, "Attempt": 0, "Executor ID": host, "Host": host,
                          "Launch Time": start}}
events = [{"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "app-1", "Timestamp": start}]
for host, cores in (("x", 3), ("y", 1)):
    events.append({"Event": "SparkListenerExecutorAdded", "Timestamp": start, "Executor ID": host,
                   "Executor Info": {"Host": host, "Total Cores": cores}})
tasks = ((0, "x", 4), (1, "x", 8), (2, "x", 16), (3, "y", 4))
for n, host, size in tasks:
    events.append({"Event": "SparkListenerJobStart", "Job ID": n, "Submission Time": start, "Stage Infos": [stage(n)]})
    events.append({"Event": "SparkListenerStageSubmitted", "Stage Info": {**stage(n), "Submission Time": start}})
    events.append({"Event": "SparkListenerTaskStart", **info(n, host)})
for n, host, size in tasks:
    end = info(n, host)
    end["Task Info"]["Finish Time"] = start + 10_000
    events.append({"Event": "SparkListenerTaskEnd", "Task End Reason": {"Reason": "Success"}, **end,
                   "Task Metrics": {"Shuffle Write Metrics": {"Shuffle Bytes Written": size,
                                                              "Shuffle Write Time": 4_000_000_000}}})
    events.append({"Event": "SparkListenerStageCompleted",
                   "Stage Info": {"Stage ID": n, "Stage Attempt ID": 0, "Completion Time": start + 10_000}})
    events.append({"Event": "SparkListenerJobEnd", "Job ID": n, "Completion Time": start + 10_000,
                   "Job Result": {"Result": "JobSucceeded"}})
with open(sys.argv[1], "w") as log:
    for event in events:
        log.write(json.dumps(event) + "\n")
PY
"$tidemark" contention "$work/log" -o json >"$work/json" || fail "the log has no answer"
python3 - "$work/json" <<'PY'
import json, sys
lists = {each["list"]: each["rows"] for each in json.load(open(sys.argv[1]))}
def near(value, expected):
    assert abs(value - expected) < 1e-9, (value, expected)
# Level 4: 2 and 4 on job/0, 1/2 and 2 on job/1, 1/4 and 1/2 on job/2.
causes = {row["cause"]["query"]: row["responsibility"] for row in lists["causing_queries"]}
assert list(causes) == ["job/2", "job/1", "job/0"], causes
near(causes["job/2"], 4 / 6 + 2 / 2.5)
near(causes["job/1"], 2 / 6 + 0.5 / 0.75)
near(causes["job/0"], 0.5 / 2.5 + 0.25 / 0.75)
assert {row["host"]: round(row["impact"], 9) for row in lists["hosts"]} == {"x": 3, "y": 1}, lists["hosts"]
assert [(row["resource"], round(row["impact"], 9)) for row in lists["resources"]] == [("io", 4)]
worst = lists["paths"][0]
near(worst["responsibility"], 2 / 2.5)
assert worst["delayed"]["query"] == "job/1" and worst["cause"] == {"job_id": worst["cause"]["job_id"], "query": "job/2", "stage": 2}
PY
"$tidemark" contention "$work/log" -o wide >"$work/wide"
grep -q '^Paths from a cause to a delayed stage' "$work/wide" || fail "no table of paths: $(cat "$work/wide")"
code=0
"$tidemark" contention "$work/log" --last 5 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q -- '--last requires a master' "$work/err" || fail "$code: $(cat "$work/err")"

# Two jobs at once.
start_master --data-dir "$work/data"
at() { "$tidemark" "$@" --master "$master"; }
at contention >"$work/empty" || fail "no answer without jobs"
grep -q '^No job that you may read has reported' "$work/empty" || fail "$(cat "$work/empty")"
jobs=()
for job in first second; do
  "$tidemark" run example synthetic --slots 2 --reducers 2 --param n=45000 complexity=2 sigma=1.4 \
    --master "$master" --job-id "$job" -o quiet >/dev/null &
  jobs+=("$!")
done
for pid in "${jobs[@]}"; do wait "$pid" || fail "a job failed"; done
has_settled() {
  for job in first second; do
    at why "$job" --top 100 -o json >"$work/$job.json" && grep -q '"more_to_come":false' "$work/$job.json" || return 1
  done
}
wait_for 60 has_settled
at contention --top 100 -o json >"$work/json"
python3 - "$work" <<'PY'
import json, sys
from collections import defaultdict
why = defaultdict(float)
for job in ("first", "second"):
    for query in json.load(open(f"{sys.argv[1]}/{job}.json")):
        for cause in query["because_of"]:
            if cause["seconds"] > 0:
                why[cause.get("job_id", "")] += cause["seconds"]
lists = {each["list"]: each["rows"] for each in json.load(open(f"{sys.argv[1]}/json"))}
causes = {row["cause"].get("job_id", ""): row for row in lists.get("causing_queries", [])}
for name, seconds in why.items():
    assert abs(causes[name]["seconds"] - seconds) < 1e-6, (name, seconds, causes)
for row in causes.values():
    assert row["seconds_lower"] <= row["seconds"] <= row["seconds_upper"], row
    assert 0 <= row["share_lower"] <= row["share"] <= row["share_upper"] <= 1, row
total = sum(why.values())
for name in ("delayed_queries", "hosts", "resources", "places"):
    assert abs(sum(row["seconds"] for row in lists.get(name, [])) - total) < 1e-6, (name, lists)
PY
code=0
at contention nobody 2>"$work/err" || code=$?
[ "$code" = 5 ] && grep -q 'no file nobody, and no job nobody' "$work/err" || fail "exit code $code: $(cat "$work/err")"
at why first --because-of nobody 2>"$work/err" | grep -q 'no waits behind nobody were found' || fail "a cause is not selected"
grep -q 'no job nobody' "$work/err" || fail "a cause that does not exist is not reported: $(cat "$work/err")"
at why first --because-of second 2>"$work/err" >/dev/null && [ ! -s "$work/err" ] || fail "$(cat "$work/err")"
at contention first --last 5 >/dev/null || fail "no answer about one job"
for question in "first/nosuch" "--host nosuch"; do
  code=0
  # shellcheck disable=SC2086
  at contention $question 2>"$work/err" || code=$?
  [ "$code" = 2 ] && grep -q 'nosuch' "$work/err" || fail "$question: exit code $code: $(cat "$work/err")"
done

# After a restart, an ended job is read from its log.
kill "$master_pid"
wait "$master_pid" || true
start_master --data-dir "$work/data"
at contention first --top 100 >"$work/after" || fail "no answer after a restart"
! grep -q 'No job that you may read' "$work/after" || fail "the log is not read: $(cat "$work/after")"
at contention >"$work/all" || fail "no answer about all jobs"
grep -q 'has reported since the master started at' "$work/all" || fail "$(cat "$work/all")"

# A token for one job covers its queries.
printf 'reader first a-token-of-one-reader\n' >"$work/tokens"
printf 'a-token-of-one-reader' >"$work/token"
chmod o= "$work/tokens" "$work/token"
kill "$master_pid"
wait "$master_pid" || true
rm -f "$work/serve.err"
"$tidemark" serve --listen 127.0.0.1:0 --data-dir "$work/data" --set tokens="$work/tokens" 2>"$work/serve.err" &
pids+=("$!")
wait_for 60 grep -q 'listening on' "$work/serve.err"
master=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$work/serve.err" | head -n 1)
code=0
at contention first/nosuch --token-file "$work/token" 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q 'first: query nosuch ran no tasks' "$work/err" || fail "exit code $code: $(cat "$work/err")"
code=0
at contention second --token-file "$work/token" 2>"$work/err" || code=$?
[ "$code" = 6 ] || fail "exit code $code for another job: $(cat "$work/err")"
