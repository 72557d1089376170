#!/usr/bin/env bash
# Common commands: defaults, descriptions, tasks below a bar, continuous lists, workflows.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

"$tidemark" run example --help >"$work/help"
grep -A1 '^  word-count$' "$work/help" | grep -q 'counts words, with a combiner' || fail "word-count is not described"
grep -A1 '^  natural-join$' "$work/help" | grep -q '2 input files' || fail "the input of natural-join is not described"

start_master --data-dir "$work/data"
echo "to be or not to be" >"$work/text"
"$tidemark" run example word-count --input "$work/text" --master "$master" --job-id short -o quiet >"$work/summary" ||
  fail "a job without --slots and --reducers does not run"
! grep -q 'took' "$work/summary" || fail "a short job has a paragraph about its costs"

# Running tasks below a bar outside a terminal.
"$tidemark" watch long --wait --tasks --master "$master" -o bar >"$work/ended" 2>"$work/bar" &
watch=$!
pids+=("$watch")
"$tidemark" run example synthetic --slots 2 --reducers 2 --param n=45000 complexity=2 sigma=1.4 \
  --master "$master" --job-id long -o quiet >/dev/null
wait "$watch" || fail "the watcher failed: $(tail -n 3 "$work/bar")"
grep -q '  reduce task [01]' "$work/bar" || fail "no line of a running task: $(tail -n 20 "$work/bar")"

"$tidemark" watch long --tasks --master "$master" -o plain >/dev/null 2>"$work/err" || fail "no plain lines"
grep -q -- '--tasks has no effect without a bar (-o bar); .*tidemark get tasks long' "$work/err" ||
  fail "no warning about tasks without a bar: $(cat "$work/err")"
code=0
"$tidemark" watch --tasks --timeout 0.5 --master "$master" -o quiet 2>"$work/err" || code=$?
[ "$code" = 7 ] && grep -q -- '--tasks has no effect without a job ID' "$work/err" || fail "$code: $(cat "$work/err")"

code=0
"$tidemark" watch never --wait --timeout 0.5 --master "$master" -o quiet 2>"$work/err" || code=$?
[ "$code" = 7 ] && grep -q 'the job did not report' "$work/err" || fail "$code: $(cat "$work/err")"

# Ended jobs.
at() { "$tidemark" "$@" --master "$master"; }
at get tasks long >"$work/tasks" || fail "no tasks of an ended job"
grep -q '^reduce task [01] .* finished$' "$work/tasks" || fail "no ended task: $(cat "$work/tasks")"
at get tasks long -o jsonl >"$work/tasks"
grep -q '"state":"ATTEMPT_STATE_FINISHED"' "$work/tasks" || fail "no JSON of ended tasks: $(head -n 2 "$work/tasks")"
at get stages long -o wide >"$work/stages"
grep -q '^reduce .*B/s' "$work/stages" || fail "no throughput: $(cat "$work/stages")"
at compare short long >"$work/compared" || fail "no comparison"
grep -q '^time .* +.* s (+' "$work/compared" && grep -q '^long took .* longer' "$work/compared" ||
  fail "$(cat "$work/compared")"
at compare short long -o jsonl >"$work/compared"
grep -q '"what":"time","unit":"seconds"' "$work/compared" || fail "no JSON of a comparison"
code=0
at compare long 2>"$work/err" || code=$?
[ "$code" = 5 ] && grep -q 'no successful past run of synthetic' "$work/err" || fail "$code: $(cat "$work/err")"

[ "$(TIDEMARK_MASTER=$master "$tidemark" complete get tasks lo)" = long ] || fail "the id of a job is not completed"
code=0
at deadline long 2h 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q 'job long has ended' "$work/err" || fail "$code: $(cat "$work/err")"

# A master in the process keeps past runs, also of one id.
for _ in 1 2; do
  "$tidemark" run example word-count --input "$work/text" --data-dir "$work/kept" --job-id again -o quiet >/dev/null ||
    fail "no job with a data directory"
done
[ -s "$work/kept/history.sqlite" ] || fail "the runs are not kept"

# A continuous list.
"$tidemark" get jobs --watch --master "$master" -o jsonl >"$work/list" 2>/dev/null &
pids+=("$!")
for job in long short; do wait_for 60 grep -q "\"job_id\":\"$job\"" "$work/list"; done
kill "$!"
code=0
"$tidemark" get jobs --watch --master "$master" -o json 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q -- '--watch requires -o table or -o jsonl' "$work/err" || fail "$code: $(cat "$work/err")"

# Workflows.
cat >"$work/plan.yaml" <<'PLAN'
id: nightly
jobs:
  - name: parse
  - name: count
    after: [parse]
PLAN
cat >"$work/more.yaml" <<'PLAN'
jobs:
  - name: report
    after: [count]
PLAN
# The next snapshot contains a change.
shows() { at get jobs nightly "${@:2}" | grep -q -- "$1"; }
at submit "$work/plan.yaml" >/dev/null || fail "the plan is rejected"
at get workflows >"$work/workflows"
grep -q '^nightly' "$work/workflows" || fail "the workflow is not listed: $(cat "$work/workflows")"
! grep -q 'long' "$work/workflows" || fail "a job is listed as a workflow"
at workflow add nightly "$work/more.yaml" || fail "no job is added"
wait_for 60 shows '"name":"report"' -o json || fail "the job is not there"
at deadline nightly 2030-01-31T07:30:00Z || fail "no deadline is set"
wait_for 60 shows 2030-01-31T07:30:00 -o json || fail "the deadline is not there"
at workflow cancel nightly report || fail "a job is not cancelled"
wait_for 60 shows CHILD_STATE_CANCELLED -o json || fail "the job is not cancelled"
code=0
at workflow cancel nightly '' 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q 'NAME must not be empty' "$work/err" || fail "$code: $(cat "$work/err")"
at workflow cancel nightly || fail "the workflow is not cancelled"
wait_for 60 shows killed || fail "the workflow continues"
