#!/usr/bin/env bash
# A master is killed while a job and a watcher run. The next master continues with the same data: the job ends as
# usual, and the watcher gets growing sequences and one final snapshot.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

start_master --data-dir "$work/data"
"$tidemark" run example two-path --input "$data/graphs/musae-github.txt.zst" --output-format count --slots 1 \
  --param directions=2 --reducers 2 --job-id killed --master "$master" -o quiet >"$work/summary" \
  2>"$work/run.err" &
run=$!
pids+=("$run")
known() { "$tidemark" get jobs --master "$master" | grep -qw killed; }
wait_for 60 known
"$tidemark" watch killed --master "$master" -o jsonl >"$work/watch.json" 2>"$work/watch.err" &
watch=$!
pids+=("$watch")
wait_for 60 test -s "$work/watch.json"

# The job must not end before the first kill, or the test proves nothing.
for kill in first second third; do
  kill -9 "$master_pid"
  wait "$master_pid" 2>/dev/null || true
  start_master --data-dir "$work/data" "$master"
  [ "$kill" != first ] || grep -q 'info jobs recovered jobs=1 ' "$work/serve.err" ||
    fail "it did not take up the job: $(cat "$work/serve.err")"
  known || fail "it forgot the job after the $kill kill: $(cat "$work/serve.err")"
  sleep 0.3
done

wait "$run" || fail "the job failed: $(cat "$work/run.err")"
wait "$watch" || fail "the watcher failed: $(cat "$work/watch.err")"
[ "$(grep -c JOB_STATE_SUCCEEDED "$work/watch.json")" = 1 ] || fail "not one final snapshot"
sed -n 's/.*"sequence":"\([0-9]*\)".*/\1/p' "$work/watch.json" >"$work/sequences"
[ -s "$work/sequences" ] || fail "no sequences"
sort -n -u -C "$work/sequences" || fail "sequences do not only grow: $(tr '\n' ' ' <"$work/sequences")"
