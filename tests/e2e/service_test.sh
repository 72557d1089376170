#!/usr/bin/env bash
# One master has two jobs and two watchers. A killed watcher and a killed worker affect nothing else.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

start_master --log-dir "$work"
run() {
  exec "$tidemark" run example two-path --input "$data/graphs/musae-github.txt.zst" --output-dir "$work/$1.out" \
    --output-format count --slots 1 --reducers 2 --job-id "$1" --master "$master" -o quiet \
    >"$work/$1.summary" 2>"$work/$1.err"
}
run one & one=$!
run two & two=$!
pids+=("$one" "$two")
known() { "$tidemark" get jobs --master "$master" | grep -qw "$1"; }
wait_for 60 known one
wait_for 60 known two

"$tidemark" watch one --master "$master" -o jsonl >"$work/watch-one.json" &
watch_one=$!
"$tidemark" watch two --master "$master" -o jsonl >"$work/watch-two.json" &
watch_two=$!
"$tidemark" watch one --master "$master" -o jsonl >"$work/victim.json" &
victim=$!
pids+=("$watch_one" "$watch_two" "$victim")
wait_for 60 test -s "$work/victim.json"
kill -9 "$victim"

# A second run of an id is rejected before it does any work.
echo "to be or not to be" >"$work/text"
again() {
  "$tidemark" run example word-count --input "$work/text" --output-dir "$work/again.$1" --job-id one \
    --master "$master" --slots 1 --reducers 1 -o jsonl >"$work/again.said" 2>&1
}
if again early; then fail "a second run took the id of one that goes on"; else code=$?; fi
[ "$code" = 2 ] && grep -q -- '--job-id one: another run of job one, started at .*, is still running' \
  "$work/again.said" || fail "exit code $code and: $(cat "$work/again.said")"
[ ! -e "$work/again.early/part-r-00000" ] || fail "it worked all the same"

# A reduce worker of job one dies; the runner starts another attempt.
reducing() { grep -q '"stage":1},"state":"STAGE_STATE_RUNNING"' "$work/watch-one.json"; }
wait_for 60 reducing
workers=$(cat /proc/"$one"/task/*/children)
kill -9 "${workers%% *}" || fail "job one has no worker to kill"

wait "$one" || fail "job one failed: $(cat "$work/one.err")"
wait "$two" || fail "job two failed: $(cat "$work/two.err")"
wait "$watch_one" || fail "the watcher of job one failed"
wait "$watch_two" || fail "the watcher of job two failed"
for job in one two; do
  [ "$(grep -c JOB_STATE_SUCCEEDED "$work/watch-$job.json")" = 1 ] ||
    fail "job $job must have exactly one final snapshot"
done
checksum() { sed -n 's/^reduce_output_checksum *//p' "$work/$1.summary"; }
grep -q '^failed_attempts *1$' "$work/one.summary" || fail "the killed worker was not noticed"
[ -n "$(checksum one)" ] && [ "$(checksum one)" = "$(checksum two)" ] ||
  fail "the killed worker changed the output"
# The waits of the jobs; the last 3 s follow later.
why_knows() {
  "$tidemark" why one --master "$master" >"$work/why" &&
    grep -q '^QUERY .* PROCESSOR' "$work/why" && grep -q '^one ' "$work/why"
}
wait_for 60 why_knows
"$tidemark" why one --master "$master" --format dot | grep -q '^digraph "one"' || fail "no graph"
if "$tidemark" why none --master "$master" 2>"$work/why.err"; then code=0; else code=$?; fi
[ "$code" = 5 ] && grep -q 'no file none, and no job none at' "$work/why.err" || fail "exit code $code: $(cat "$work/why.err")"
# After a run has ended, its id may be reused and shows only the new run.
again late || fail "job one cannot be run again: $(cat "$work/again.said")"
grep -q 'JOB_STATE_SUCCEEDED.*word-count' "$work/again.said" ||
  fail "the second run of job one was not shown to its end: $(cat "$work/again.said")"
if grep -q two-path "$work/again.said"; then fail "the second run of job one shows the first"; fi
# The runner and later readers show the same text.
"$tidemark" run example word-count --input "$work/text" --job-id due --deadline 1ms --master "$master" \
  --slots 1 --reducers 1 -o plain >/dev/null 2>"$work/due" || fail "job due failed: $(cat "$work/due")"
late=$(grep -o "[0-9][^ ]* s late (due [0-9:]*)" "$work/due" | tail -n 1 || true)
[ -n "$late" ] && "$tidemark" get jobs due --master "$master" | grep -qF -- "$late" ||
  fail "job due was late by another time than get jobs says: $(cat "$work/due")"
"$tidemark" get jobs --master "$master" | tee "$work/jobs"
grep -q one "$work/jobs" && grep -q two "$work/jobs" || fail "jobs must list both"

# A job with its own master ignores the connection options of the environment.
TIDEMARK_TLS_CA=$work/absent.crt "$tidemark" run example word-count --input "$work/text" --slots 1 --reducers 1 \
  -o jsonl >"$work/own.json" 2>"$work/own.err" || fail "with TIDEMARK_TLS_CA: $(cat "$work/own.err")"
grep -q JOB_STATE_SUCCEEDED "$work/own.json" || fail "no final snapshot: $(cat "$work/own.err")"
