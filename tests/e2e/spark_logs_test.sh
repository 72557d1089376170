#!/usr/bin/env bash
# A Spark application is replayed from its event log.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

logs=$here/../data/spark
rolling=$logs/eventlog_v2_local-1795466270213
"$tidemark" replay "$rolling" -o jsonl >"$work/all.json" 2>"$work/all.err" || fail "$(cat "$work/all.err")"
[ ! -s "$work/all.err" ] || fail "there is nothing to complain of: $(cat "$work/all.err")"
tail -n 1 "$work/all.json" | grep JOB_STATE_SUCCEEDED >/dev/null || fail "the application succeeded"
tail -n 1 "$work/all.json" | grep '"sales by region"' >/dev/null || fail "the application's name is not shown"
[ "$(wc -l <"$work/all.json")" -gt 20 ] || fail "a snapshot a second, as of a running job"
"$tidemark" replay "$rolling" -o plain >"$work/all.txt"
tail -n 1 "$work/all.txt" | grep -q . || fail "no lines"
tail -n 8 "$work/all.txt" | tr '\n' ' ' | grep -q 'passed before the first task: .* Excluding waits' ||
  fail "the log itself was not asked: $(tail -n 8 "$work/all.txt")"

# The log of a killed driver: all complete events count, and the cut is reported.
head -c 20000 "$logs/local-1642039451826.zst" >"$work/cut"
status=0
"$tidemark" replay "$work/cut" -o jsonl >"$work/cut.json" 2>"$work/cut.err" || status=$?
[ "$status" = 4 ] || fail "the exit code of a cut log is $status"
grep -q 'the log ends before the application' "$work/cut.err" || fail "not said: the log is cut"
tail -n 1 "$work/cut.json" | grep JOB_STATE_RUNNING >/dev/null || fail "the application was running"
head -c 3300 "$logs/local-1795466322781.zst" >"$work/cut"
status=0
"$tidemark" what-if "$work/cut" >"$work/cut.txt" 2>"$work/cut.err" || status=$?
[ "$status" = 4 ] || fail "the exit code of what-if of a cut log is $status"
[ -s "$work/cut.txt" ] || fail "tasks of it have ended"
cp "$work/cut" "$work/cut.inprogress"
"$tidemark" what-if "$work/cut.inprogress" >"$work/cut.txt" 2>&1 || fail "an application that runs: $(cat "$work/cut.txt")"
grep -q 'the log ends before the application' "$work/cut.err" || fail "not said by what-if: the log is cut"
echo '{"Event":"SparkListenerApplicationStart","App Name":"early","Timestamp":1000000}' >"$work/early"
for command in why what-if advise contention; do
  "$tidemark" "$command" "$work/early" >"$work/early.txt" 2>"$work/early.err" || true
  grep -q 'the log ends before the application' "$work/early.err" || fail "$command: $(cat "$work/early.err")"
done

# Every command exits with 4 for a damaged log.
cp "$logs/local-1642039451826.zst" "$work/damaged"
printf 'damage' | dd of="$work/damaged" bs=1 seek=20000 conv=notrunc status=none
for command in replay why contention what-if advise; do
  status=0
  "$tidemark" "$command" "$work/damaged" >"$work/damaged.txt" 2>"$work/damaged.err" || status=$?
  [ "$status" = 4 ] || fail "$command must exit with 4, not $status: $(cat "$work/damaged.err")"
  grep -q 'damaged zstd frame' "$work/damaged.err" || fail "$command: $(cat "$work/damaged.err")"
done

refuses() { # WHY FILE
  local status=0
  "$tidemark" replay "$2" >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = 2 ] || fail "$2: exit code $status"
  grep -q "$1" "$work/err" || fail "$2: $(cat "$work/err")"
}
echo 'no log' >"$work/nonsense"
refuses 'is neither a Spark event log nor a Hadoop history file' "$work/nonsense"
[ "$(wc -l <"$work/err")" = 1 ] || fail "remarks on a file that is no log: $(cat "$work/err")"
refuses 'event logs .*; pass one of them' "$logs"
printf '\x82SNAPPY\0' >"$work/app.snappy"
refuses 'is neither a Spark event log nor a Hadoop history file' "$work/app.snappy"
echo '{"Event":"SparkListenerApplicationEnd","Timestamp":1600000000000}' >"$work/late"
refuses 'the log has no SparkListenerApplicationStart' "$work/late"

# The second run uses the first as a past run; a run does not use itself.
mkdir "$work/data"
again=$logs/local-1795466322781.zst
"$tidemark" replay "$rolling" --history "$work/data" -o jsonl >"$work/alone.json"
"$tidemark" replay "$rolling" --history "$work/data" -o jsonl | cmp - "$work/alone.json" ||
  fail "a run was taught by itself"
"$tidemark" replay "$again" -o jsonl >"$work/blind.json"
"$tidemark" replay "$again" --history "$work/data" -o jsonl >"$work/taught.json"
! cmp -s "$work/blind.json" "$work/taught.json" || fail "nothing was learnt from the run before"
head -n 2 "$work/taught.json" | grep '"remaining"' >/dev/null || fail "no estimate from the first second"

# An estimate with more slots.
"$tidemark" what-if "$again" --slots 1,2,8 >"$work/what_if.txt" || fail "no estimate of other slots"
grep -q '^as it is: 2 slots' "$work/what_if.txt" || fail "not as it is: $(cat "$work/what_if.txt")"
grep -q '^1 slot ' "$work/what_if.txt" || fail "not one slot: $(cat "$work/what_if.txt")"
grep -q '^8 slots' "$work/what_if.txt" || fail "$(cat "$work/what_if.txt")"

"$tidemark" what-if "$again" --data-factor 2 >"$work/what_if.txt" || fail "no estimate of twice the data"
grep -q '^as it is: 2 slots .* 1.00x' "$work/what_if.txt" || fail "not beside it as it is: $(cat "$work/what_if.txt")"
grep -q '^2 slots, 2x data ' "$work/what_if.txt" || fail "not of twice the data: $(cat "$work/what_if.txt")"

# The waits of its queries.
"$tidemark" why "$again" >"$work/why.txt" || fail "no waits"
grep -q '^QUERY .* SLOTS' "$work/why.txt" || fail "$(cat "$work/why.txt")"
grep -q '^job/5 .*not reported' "$work/why.txt" || fail "no log tells of waits for processors: $(cat "$work/why.txt")"
"$tidemark" why "$again" --query job/5 -o jsonl >"$work/why.json" || fail "no waits of one query"
[ "$(wc -l <"$work/why.json")" = 1 ] || fail "$(cat "$work/why.json")"
status=0
"$tidemark" why "$again" --query sql/999 2>"$work/err" || status=$?
[ "$status" = 2 ] || fail "a query that did not run: exit code $status"
grep -q 'query sql/999 ran no tasks' "$work/err" || fail "$(cat "$work/err")"
"$tidemark" why "$again" --host nosuch >"$work/why.txt" || fail "no answer about a host without tasks"
grep -q 'No task of .* ran on nosuch' "$work/why.txt" || fail "$(cat "$work/why.txt")"
status=0
"$tidemark" why "$again" --resource slots --host nosuch 2>"$work/err" || status=$?
[ "$status" = 2 ] && grep -q 'slots belong to no host' "$work/err" || fail "exit code $status: $(cat "$work/err")"

# An estimate with other Spark settings.
"$tidemark" what-if "$again" --executors 1,4 --conf spark.executor.memory=2g >"$work/set.txt" ||
  fail "no estimate of other settings"
grep -q '^as it is: 1 executor, 2 slots' "$work/set.txt" || fail "$(cat "$work/set.txt")"
grep -q '4 executors, spark.executor.memory=2g' "$work/set.txt" || fail "$(cat "$work/set.txt")"
"$tidemark" what-if "$again" --learn "$again" --executors 1,400 >"$work/learnt.txt" || fail "no estimate from a log and itself"
grep -q "but used once: $again" "$work/learnt.txt" || fail "a log counts twice: $(cat "$work/learnt.txt")"
grep -q '400 executors: different from the past run: executors' "$work/learnt.txt" || fail "no row is named: $(cat "$work/learnt.txt")"
"$tidemark" what-if "$again" --learn "$again" --policy fair >"$work/learnt.txt" || fail "no estimate with a policy alone"
grep -q '^policy fair ' "$work/learnt.txt" || fail "a row without a name: $(cat "$work/learnt.txt")"
"$tidemark" what-if "$again" --learn "$again" --cores 1,2 --partitions 8 --compress false --data 2 -o jsonl \
  >"$work/learnt.json" || fail "no estimate from two logs"
[ "$(wc -l <"$work/learnt.json")" = 3 ] || fail "a row as it is, and one for each number of cores: $(cat "$work/learnt.json")"
[ "$(grep -c '"core_hours":.*"binding":"[a-z ]*","data_factor":2' "$work/learnt.json")" = 2 ] ||
  fail "core-hours and what binds: $(cat "$work/learnt.json")"
# The settings of the run itself give the run itself, regardless of the models.
same_as_run() { # OPTION...
  "$tidemark" what-if "$again" "$@" >"$work/same.txt" || fail "no estimate with $*"
  [ "$(sed -n '2,3s/.* \([0-9.]*x\) .*/\1/p' "$work/same.txt" | tr '\n' ' ')" = "1.00x 1.00x " ] ||
    fail "$*: $(cat "$work/same.txt")"
  grep -q 'same values as in the run, so this row is the run itself' "$work/same.txt" || fail "$*: $(cat "$work/same.txt")"
}
same_as_run --data 1
same_as_run --learn "$rolling" --executors 1 --cores 2
"$tidemark" what-if "$again" --executors 1,4 >"$work/same.txt" || fail "no estimate of the same executors"
! grep -q '^1 executor' "$work/same.txt" || fail "a row is repeated: $(cat "$work/same.txt")"
grep -q '^4 executors' "$work/same.txt" || fail "$(cat "$work/same.txt")"
same_as_run --memory 2g
grep -q "in local mode, where all tasks use the driver's memory" "$work/same.txt" || fail "$(cat "$work/same.txt")"
"$tidemark" what-if "$again" --partitions 200 >"$work/same.txt" || fail "no estimate of partitions"
grep -q '^200 partitions .* 1.00x ' "$work/same.txt" || fail "models are compared with the run: $(cat "$work/same.txt")"
# The example of docs/what-if-parameters.md: 4.5 of 9 s pass before the probe, and 78 of 84 % of the words remain.
example=$(sed -n 's/^\$ tidemark \(what-if .*--probe .*\)/\1/p' "$here/../../docs/what-if-parameters.md")
(cd "$here/../.." && eval "\"$tidemark\" $example" -o jsonl) >"$work/probe.json" || fail "no estimate by a probe run: $example"
python3 - "$work/probe.json" <<'EOF' || fail "$(cat "$work/probe.json")"
import json, sys
run, asked = (json.loads(line) for line in open(sys.argv[1]))
seconds = [float(row["snapshot"]["estimate"]["remaining"]["median"].removesuffix("s")) for row in (run, asked)]
assert asked["model"].startswith("phase models"), asked["model"]
assert 0.9 < seconds[1] / seconds[0] < 1, seconds
EOF
sed -n 's/^\$ tidemark \(what-if .*\)/\1/p' "$here/../../docs/tours/other-settings.md" >"$work/tour"
while read -r example; do
  (cd "$here/../.." && eval "\"$tidemark\" $example") >"$work/tour.out" || fail "a command of the tour: $example"
  grep -q '^as it is: 1 executor, 2 slots' "$work/tour.out" || fail "$(cat "$work/tour.out")"
done <"$work/tour"
[ "$(wc -l <"$work/tour")" -ge 4 ] || fail "the tour has no commands: $(cat "$work/tour")"
# A search for settings. Each row is within the limits and names what binds it.
"$tidemark" what-if "$again" --find time --limit cores=4 -o jsonl >"$work/found.json" || fail "no settings are found"
python3 - "$work/found.json" <<'PY' || fail "$(cat "$work/found.json")"
import json, sys
run, *found = map(json.loads, open(sys.argv[1]))
assert 1 <= len(found) <= 5, found
for row in found:
    settings = row["settings"]
    assert int(settings["spark.executor.instances"]) * int(settings["spark.executor.cores"]) <= 4, settings
    assert row["binding"] and row["core_hours"] > 0, row
hours = [row["core_hours"] for row in found]
assert hours == sorted(hours, reverse=True), "each next row is cheaper"
PY
wrong_setting() { # WHY OPTION...
  local status=0 why=$1
  shift
  "$tidemark" what-if "$@" >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = 2 ] || fail "$*: exit code $status"
  grep -q "$why" "$work/err" || fail "$*: $(cat "$work/err")"
}
wrong_setting 'spark.executor.memory: "4x" is not a size' "$again" --conf spark.executor.memory=4x
wrong_setting '^tidemark: --memory: "4x" is not a size' "$again" --memory 2g,4x
wrong_setting 'ui.port: not a Spark setting' "$again" --conf ui.port=4040
"$tidemark" what-if "$again" --conf spark.ui.port=4040 >"$work/set.txt" || fail "no estimate with a setting that no model covers"
grep -q 'spark.ui.port=4040: the effect of this setting is not modelled' "$work/set.txt" || fail "$(cat "$work/set.txt")"
wrong_setting '^tidemark: --cores and --conf spark.executor.cores=4 both set' "$again" --cores 2 --conf spark.executor.cores=4
wrong_setting '^tidemark: --conf spark.executor.memory: given twice' "$again" --conf spark.executor.memory=1g spark.executor.memory=2g
wrong_setting '^tidemark: --param k: given twice' "$again" --learn "$again" --param k=1 --param k=2
wrong_setting 'the log of a MapReduce job; pass logs of the Spark application' "$again" --data 2 --learn "$here/../data/two-path-on-yarn.tidemark-log"
wrong_setting 'must be KEY=VALUE' "$again" --conf spark.executor.memory
wrong_setting '^tidemark: --limit requires --find' "$again" --limit cores=4
wrong_setting '^tidemark: --limit core=4: unknown limit; did you mean cores?' "$again" --find time --limit core=4
wrong_setting '^tidemark: --limit cores=0: ' "$again" --find time --limit cores=0
wrong_setting "^tidemark: $work/nosuch: No such file or directory" "$work/nosuch"
wrong_setting '^tidemark: logs/nosuch is not a file, .* --find requires an event log' logs/nosuch --find time
without_file_or_master() {
  local status=0
  "$tidemark" "$@" nosuch --master 127.0.0.1:9 2>"$work/err" || status=$?
  [ "$status" = 3 ] && grep -q '^tidemark: nosuch is not a file; no master answers at 127.0.0.1:9' "$work/err" ||
    fail "$*: exit code $status: $(cat "$work/err")"
}
without_file_or_master what-if
without_file_or_master why
without_file_or_master contention
without_file_or_master compare "$again"
status=0
"$tidemark" what-if app-1/sql/3 --master 127.0.0.1:9 2>"$work/err" || status=$?
[ "$status" = 3 ] || fail "the id of a query is no path: exit code $status: $(cat "$work/err")"
wrong_setting '^tidemark: some-job is not a file, .* --find requires an event log' some-job --find time
wrong_setting '^tidemark: some-job is not a file, .* --memory requires an event log' some-job --executors 4 --memory 2g
wrong_setting '^tidemark: some-job is not a file, .* --partitions requires an event log' some-job --partitions 8
printf 'cluster: {slots: 2}\nstages: [{name: scan, tasks: 4, task_seconds: 10}]\n' >"$work/plan.yaml"
wrong_setting 'plan.yaml is not a log; for a plan, use .*, not --executors or --cores' "$work/plan.yaml" --executors 4 --cores 2
wrong_setting 'is neither a Spark event log nor a Hadoop history file' "$again" --data 2 --learn "$work/nonsense"
wrong_setting '^tidemark: --learn has no effect on the unchanged run' "$again" --learn "$again"
wrong_setting 'combinations of settings; pass at most 1000' "$again" --learn "$again" --partitions "$(seq -s, 2000)"

# A master follows running applications through their logs, and continues after it was killed.
mkdir -p "$work/spark/eventlog_v2_app"
follow() {
  rm -f "$work/serve.err"
  "$tidemark" serve --listen 127.0.0.1:0 --data-dir "$work/master" --spark-logs "$work/spark" \
    2>"$work/serve.err" &
  master_pid=$!
  pids+=("$master_pid")
  wait_for 60 grep -q 'listening on' "$work/serve.err"
  master=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$work/serve.err" | head -n 1)
}
running() { "$tidemark" get jobs --master "$master" -o jsonl | grep -q "$application.*JOB_STATE_RUNNING"; }
application=local-1795466270213
follow
: >"$work/spark/eventlog_v2_app/appstatus_app.inprogress"
cp "$rolling/events_1_$application.zstd" "$work/spark/eventlog_v2_app/"
wait_for 60 running
# An estimate with more executors from now on. Local mode has one.
asked() { "$tidemark" what-if "$application" --executors 1,3 --master "$master" "$@"; }
wait_for 60 asked
asked >"$work/now.txt" || fail "no estimate of other executors"
grep -q '^as it is: 1 executor' "$work/now.txt" || fail "$(cat "$work/now.txt")"
grep -q '^3 executors' "$work/now.txt" || fail "$(cat "$work/now.txt")"
asked -o jsonl >"$work/now.json" || fail "no JSON"
[ "$(grep -c '"slots":[0-9]*,"executors":[13]' "$work/now.json")" = 3 ] || fail "$(cat "$work/now.json")"
wrong_setting "^tidemark: $application is not a file, .* --cores requires an event log" "$application" --executors 2 --cores 2 --master "$master"
wrong_setting "^tidemark: $application is a job, and jobs do not support --data-factor; use --slots, or pass a plan, a Spark event log" \
  "$application" --data-factor 2 --master "$master"
wrong_setting '^tidemark: --executors: must be at most' "$application" --executors 600000 --master "$master"
kill -9 "$master_pid"
wait "$master_pid" 2>/dev/null || true
follow
wait_for 60 running
cp "$rolling/events_2_$application.zstd" "$work/spark/eventlog_v2_app/"
timeout 60 "$tidemark" watch "$application" --master "$master" -o jsonl >"$work/watched.json" ||
  fail "the application did not end: $(tail -n 1 "$work/watched.json")"
tail -n 1 "$work/watched.json" | grep JOB_STATE_SUCCEEDED >/dev/null || fail "it ended otherwise"
"$tidemark" get stages "$application" --master "$master" -o jsonl >"$work/stages.json"
grep -q 'groupByKey' "$work/stages.json" || fail "its stages are not known: $(cat "$work/stages.json")"
! grep -q 'log of' "$work/serve.err" || fail "events were refused: $(cat "$work/serve.err")"

# A SQL execution and a job can be watched by name; a missing one is reported.
for group in sql/0 job/5; do
  "$tidemark" watch "$application/$group" --master "$master" -o jsonl >"$work/group.json" ||
    fail "$group did not succeed: $(cat "$work/group.json")"
  grep -q "\"job_id\":\"$application/$group\".*JOB_STATE_SUCCEEDED" "$work/group.json" ||
    fail "$group is not shown: $(cat "$work/group.json")"
done
status=0
"$tidemark" watch "$application/sql/7" --master "$master" 2>"$work/group.err" || status=$?
[ "$status" = 5 ] || fail "sql/7: exit code $status"
grep -q "job $application has no sql/7" "$work/group.err" || fail "$(cat "$work/group.err")"
