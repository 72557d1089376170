#!/usr/bin/env bash
# Real jobs as a DAG on shared slots, watched as one workflow: at a master that is killed on the way,
# then at one inside the process, which has learnt from the first run.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

sequences_only_grow() {
  sed -n 's/^{"workflow_id":"[^"]*","name":"[^"]*","sequence":"\([0-9]*\)".*/\1/p' "$1" >"$work/sequences"
  [ -s "$work/sequences" ] || fail "no sequences in $1"
  sort -n -u -C "$work/sequences" || fail "sequences do not only grow: $(tr '\n' ' ' <"$work/sequences")"
}
progress_never_goes_back() {
  sed -n 's/^.*"fraction_done":\([0-9.e-]*\),"fraction_done_lower".*/\1/p' "$1" >"$work/fractions"
  [ -s "$work/fractions" ] || fail "no fractions in $1"
  sort -g -C "$work/fractions" || fail "progress goes back: $(tr '\n' ' ' <"$work/fractions")"
}
one_final() { [ "$(grep -c '"state":"JOB_STATE_SUCCEEDED"' "$1")" = 1 ] || fail "not one final snapshot"; }

# --- what is wrong with a file is said, before anybody is asked
echo '{id: x, jobs: [{name: a, after: b}, {name: b, after: a}]}' >"$work/cycle.yaml"
! "$tidemark" workflow submit "$work/cycle.yaml" 2>"$work/err" || fail "a cycle was submitted"
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
[ "$("$tidemark" workflow submit "$work/pair.yaml" --master "$master")" = pair ] || fail "not submitted"
"$tidemark" workflow submit "$work/pair.yaml" --master "$master" >/dev/null || fail "not repeatable"
"$tidemark" workflow watch pair --master "$master" --progress json >"$work/pair.json" 2>"$work/watch.err" &
watch=$!
pids+=("$watch")
run_job() {
  "$tidemark" run word-count --input "$data/graphs/wiki-vote.txt.zst" --output-format count --slots 2 \
    --reducers 2 --job-id "$1" --master "$master" --progress quiet >/dev/null 2>"$work/run.err" ||
    fail "job $1 failed: $(cat "$work/run.err")"
}
wait_for 20 test -s "$work/pair.json"
run_job pair-1
wait_for 20 grep -q '"state":"WORKFLOW_JOB_STATE_SUCCEEDED"' "$work/pair.json"
kill -9 "$master_pid"
wait "$master_pid" 2>/dev/null || true
start_master --data-dir "$work/data" "$master"
grep -q 'recovered 1 workflows' "$work/serve.err" || fail "forgotten: $(cat "$work/serve.err")"
"$tidemark" workflow attach pair second pair-2 --master "$master" || fail "not attached"
! "$tidemark" workflow attach pair third pair-3 --master "$master" 2>/dev/null || fail "no such job"
run_job pair-2
wait "$watch" || fail "the watcher ended badly: $(cat "$work/watch.err")"
sequences_only_grow "$work/pair.json"
progress_never_goes_back "$work/pair.json"
one_final "$work/pair.json"
"$tidemark" workflow watch nobody --master "$master" 2>/dev/null && fail "a workflow that is none"

# --- DAGs of the example engine, on slots that its jobs share
"$tidemark" workflow run web-log --visits 60000 --slots 2 --master "$master" --id log --progress json \
  >"$work/log.json" 2>"$work/log" || fail "web-log failed: $(cat "$work/log")"
! grep -v '^{' "$work/log.json" || fail "there is more than JSON on standard output"
sequences_only_grow "$work/log.json"
progress_never_goes_back "$work/log.json"
one_final "$work/log.json"
started() { awk -v name="$1.started_seconds" '$1 == name {print $2}' "$work/log"; }
ended() {
  awk -v name="$1" '$1 == name ".started_seconds" {start = $2}
                    $1 == name ".elapsed_seconds" {print start + $2}' "$work/log"
}
awk -v a="$(started histogram)" -v b="$(ended pages)" -v c="$(ended visitors)" \
  'BEGIN {exit !(a + 0.01 >= b && a + 0.01 >= c)}' || fail "histogram did not wait: $(cat "$work/log")"
[ "$(awk '$1 == "parse.output_records" {print $2}' "$work/log")" = 59912 ] ||
  fail "parse wrote something else: $(cat "$work/log")"

# A second run of an id would be shown the end of the first.
code=0
"$tidemark" workflow run web-log --visits 60000 --slots 2 --master "$master" --id log \
  >"$work/again" 2>"$work/again.err" || code=$?
[ "$code" = 2 ] && grep -q -- '--id log: the master has a workflow of that id already' "$work/again.err" ||
  fail "exit code $code of a second run of an id: $(cat "$work/again" "$work/again.err")"

awk 'BEGIN {for (i = 0; i < 20000; i++) print i % 300, (i * 7) % 911}' >"$work/graph"
seq 1 20000 >"$work/words"
for run in first second; do
  "$tidemark" workflow run graph-and-words --input "$work/graph" "$work/words" --slots 2 --policy fair \
    --data-dir "$work/own" --progress json >"$work/gw-$run.json" 2>"$work/gw" ||
    fail "graph-and-words failed: $(cat "$work/gw")"
  one_final "$work/gw-$run.json"
done
# The second run knows all three jobs from the first.
! head -n 1 "$work/gw-second.json" | grep -q WORKFLOW_BASIS_GUESS || fail "nothing was learnt"
head -n 1 "$work/gw-first.json" | grep -q WORKFLOW_BASIS_GUESS || fail "the first run knew too much"

# --- a job that fails takes its workflow with it
echo 'not a visit' >"$work/broken"
! "$tidemark" workflow run web-log --input "$work/broken" --slots 2 --master "$master" --id broken \
  --progress plain >"$work/out" 2>"$work/broken.err" || fail "a broken workflow succeeded"
grep -q 'job parse failed' "$work/broken.err" || fail "not the failure: $(cat "$work/broken.err")"
