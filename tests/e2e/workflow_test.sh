#!/usr/bin/env bash
# Real jobs as a DAG on shared slots, watched as one workflow at a master that is killed and restarted.
# The second argument is the example engine (examples/local_mapreduce).
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
engine=$2

sequences_only_grow() {
  sed -n 's/.*"sequence":"\([0-9]*\)".*/\1/p' "$1" >"$work/sequences"
  [ -s "$work/sequences" ] || fail "no sequences in $1"
  sort -n -u -C "$work/sequences" || fail "sequences do not only grow: $(tr '\n' ' ' <"$work/sequences")"
}
one_final() { [ "$(grep -c '"state":"JOB_STATE_SUCCEEDED"' "$1")" = 1 ] || fail "not one final snapshot"; }

# --- an error in a file is reported without a query
echo '{id: x, jobs: [{name: a, after: b}, {name: b, after: a}]}' >"$work/cycle.yaml"
! "$tidemark" submit "$work/cycle.yaml" 2>"$work/err" || fail "a cycle was submitted"
grep -q 'a cycle: a waits for b waits for a' "$work/err" || fail "not the cycle: $(cat "$work/err")"

# --- jobs of other programs, attached by id; the master is killed under them
start_master --data-dir "$work/data"
cat >"$work/pair.yaml" <<'YAML'
id: pair
workflow: two jobs
cluster: {slots: 2}
jobs:
  - {name: first, job_id: pair-1}
  - {name: second, after: first}
YAML
[ "$("$tidemark" submit "$work/pair.yaml" --master "$master")" = pair ] || fail "not submitted"
"$tidemark" submit "$work/pair.yaml" --master "$master" >/dev/null || fail "not repeatable"
"$tidemark" watch pair --master "$master" -o jsonl >"$work/pair.json" 2>"$work/watch.err" &
watch=$!
pids+=("$watch")
run_job() {
  "$tidemark" run example word-count --input "$data/graphs/wiki-vote.txt.zst" --output-format count --slots 2 \
    --reducers 2 --job-id "$1" --master "$master" -o quiet >/dev/null 2>"$work/run.err" ||
    fail "job $1 failed: $(cat "$work/run.err")"
}
wait_for 60 test -s "$work/pair.json"
run_job pair-1
wait_for 60 grep -q '"state":"CHILD_STATE_SUCCEEDED"' "$work/pair.json"
kill -9 "$master_pid"
wait "$master_pid" 2>/dev/null || true
start_master --data-dir "$work/data" "$master"
grep -q 'info workflows recovered workflows=1' "$work/serve.err" || fail "not recovered: $(cat "$work/serve.err")"
"$tidemark" attach pair second pair-2 --master "$master" || fail "not attached"
! "$tidemark" attach pair third pair-3 --master "$master" 2>/dev/null || fail "no such job"
run_job pair-2
wait "$watch" || fail "the watcher failed: $(cat "$work/watch.err")"
sequences_only_grow "$work/pair.json"
one_final "$work/pair.json"
code=0
"$tidemark" watch nobody --master "$master" 2>"$work/err" || code=$?
[ "$code" = 5 ] || fail "exit code $code for an unknown job: $(cat "$work/err")"
code=0
"$tidemark" watch $'x\e]0;title\a' --master "$master" 2>"$work/err" || code=$?
[ "$code" = 5 ] || fail "exit code $code for an odd id: $(cat "$work/err")"
! grep -q $'[\e\a]' "$work/err" || fail "a message controls the terminal"
[ "$("$tidemark" get jobs pair --master "$master" -o json | grep -c CHILD_STATE_SUCCEEDED)" = 1 ] ||
  fail "get jobs does not show the workflow"
"$tidemark" get stages pair-1 --master "$master" | grep -q '^reduce  *100 %' || fail "no stages"
"$tidemark" why pair --master "$master" | grep -q '^second  *pair-2 ' || fail "the decisive jobs are not shown"
for question in "why pair/second" "contention pair" "contention pair/second"; do
  code=0
  # shellcheck disable=SC2086
  "$tidemark" $question --master "$master" 2>"$work/err" || code=$?
  [ "$code" = 2 ] && grep -q 'pair is a workflow .* pass one of its jobs: pair-1, pair-2' "$work/err" ||
    fail "exit code $code for $question: $(cat "$work/err")"
done
code=0
"$tidemark" get tasks pair --master "$master" >"$work/out" 2>"$work/err" || code=$?
[ "$code" = 2 ] && [ ! -s "$work/out" ] &&
  grep -q 'pair is a workflow and has no tasks; pass one of its jobs: pair-1, pair-2' "$work/err" ||
  fail "exit code $code for the tasks of a workflow: $(cat "$work/out" "$work/err")"
"$tidemark" what-if absent.yaml 2>/dev/null && fail "a missing plan is accepted"
"$tidemark" what-if "$work/pair.yaml" --master "$master" --slots 1,8 >"$work/what-if" ||
  fail "no estimate"
grep -q '^as it is: [0-9]* slot' "$work/what-if" || fail "not as it is: $(cat "$work/what-if")"
grep -q '^8 slots' "$work/what-if" || fail "not both scenarios: $(cat "$work/what-if")"
! "$tidemark" what-if pair-1 --master "$master" | grep "slots' time" || fail "the use of slots is shown for a job outside a workflow"
code=0
"$tidemark" what-if pair-1 --slots 4 --master "$master" 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q 'pair-1 has ended, so --slots would have no effect; omit it to see how it ended' "$work/err" ||
  fail "exit code $code of slots for a job that has ended: $(cat "$work/err")"
code=0
"$tidemark" what-if pair --data-factor 2 --policy fair --master "$master" 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q 'pair has ended, so --data-factor and --policy would have no effect; omit them' "$work/err" ||
  fail "exit code $code of other data for a workflow that has ended: $(cat "$work/err")"
"$tidemark" forget pair --master "$master" >"$work/out" || fail "not forgotten"
grep -q '^removed pair; the history, if there is one, keeps the run$' "$work/out" || fail "$(cat "$work/out")"
"$tidemark" forget pair --master "$master" | grep -q '^there was no job pair$' || fail "an unknown job"
! "$tidemark" get jobs pair --master "$master" 2>/dev/null || fail "it is still there"

# --- a plan changes while it waits
cat >"$work/changing.yaml" <<'YAML'
id: changing
jobs: [{name: one}, {name: two, after: one}]
YAML
echo 'jobs: [{name: three, after: [one, four]}, {name: four}]' >"$work/more.yaml"
"$tidemark" submit "$work/changing.yaml" --master "$master" >/dev/null || fail "not submitted"
"$tidemark" workflow add changing "$work/more.yaml" --cancel two --master "$master" || fail "not changed"
shows() { "$tidemark" get jobs changing --master "$master" -o jsonl | grep -q "$1"; }
for word in three four CHILD_STATE_CANCELLED; do
  wait_for 60 shows "$word"
done
"$tidemark" workflow cancel changing --master "$master" || fail "not cancelled"
code=0
"$tidemark" watch changing --master "$master" -o quiet || code=$?
[ "$code" = 1 ] || fail "exit code $code of a workflow that was cancelled"
"$tidemark" what-if changing --master "$master" >"$work/out" || fail "what-if of a workflow that was cancelled"
grep -q '^changing: killed (the workflow was cancelled); there is nothing to estimate$' "$work/out" ||
  fail "not that it was cancelled: $(cat "$work/out")"
code=0
"$tidemark" what-if changing --slots 4 --master "$master" 2>"$work/err" || code=$?
[ "$code" = 2 ] &&
  grep -q 'changing was killed (the workflow was cancelled), so --slots would have no effect' "$work/err" ||
  fail "exit code $code of slots for a workflow that was cancelled: $(cat "$work/err")"

# --- DAGs of the example engine, on slots that its jobs share
run_workflow() { "$engine" workflow "$1" "$work/$2.out" "id=$2" "master=$master" slots=2 "${@:3}"; }
watch_workflow() { "$tidemark" watch "$1" --wait --master "$master" -o jsonl >"$work/$1.json" 2>"$work/$1.err"; }
watch_workflow log &
watch=$!
pids+=("$watch")
run_workflow web-log log visits=60000 >"$work/log" 2>"$work/run.err" || fail "web-log failed: $(cat "$work/run.err")"
wait "$watch" || fail "the watcher failed: $(cat "$work/log.err")"
sequences_only_grow "$work/log.json"
one_final "$work/log.json"
started() { awk -v name="$1.started_seconds" '$1 == name {print $2}' "$work/log"; }
ended() {
  awk -v name="$1" '$1 == name ".started_seconds" {start = $2}
                    $1 == name ".elapsed_seconds" {print start + $2}' "$work/log"
}
awk -v a="$(started histogram)" -v b="$(ended pages)" -v c="$(ended visitors)" \
  'BEGIN {exit !(a + 0.01 >= b && a + 0.01 >= c)}' || fail "histogram did not wait: $(cat "$work/log")"
[ "$(awk '$1 == "parse.output_records" {print $2}' "$work/log")" = 59912 ] ||
  fail "parse wrote other records: $(cat "$work/log")"

# The second run uses the past runs of all three jobs.
awk 'BEGIN {for (i = 0; i < 20000; i++) print i % 300, (i * 7) % 911}' >"$work/graph"
seq 1 20000 >"$work/words"
for run in first second; do
  watch_workflow "$run" &
  watch=$!
  pids+=("$watch")
  run_workflow graph-and-words "$run" "input=$work/graph" "input=$work/words" policy=fair >"$work/gw" 2>&1 ||
    fail "graph-and-words failed: $(cat "$work/gw")"
  wait "$watch" || fail "the watcher failed: $(cat "$work/$run.err")"
  one_final "$work/$run.json"
done
! head -n 1 "$work/second.json" | grep -q BASIS_GUESS || fail "the second run uses no past run"
head -n 1 "$work/first.json" | grep -q BASIS_GUESS || fail "the first run has past runs"

# --- an unknown name is an error
! run_workflow nosuch nosuch 2>"$work/nosuch.err" || fail "an unknown workflow ran"
grep -q 'unknown workflow nosuch' "$work/nosuch.err" || fail "no name: $(cat "$work/nosuch.err")"

# --- a failed job ends its workflow
echo 'not a visit' >"$work/broken"
! run_workflow web-log broken "input=$work/broken" >"$work/out" 2>"$work/broken.err" || fail "a broken workflow succeeded"
grep -q 'job parse: map task 0 failed 4 times' "$work/broken.err" || fail "no reason: $(cat "$work/broken.err")"
