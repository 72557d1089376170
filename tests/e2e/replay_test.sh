#!/usr/bin/env bash
# A replay of the event log publishes the live snapshots to the last byte.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

"$tidemark" run example two-path --input "$data/graphs/facebook-combined.txt.zst" --output-dir "$work/out" \
  --output-format deflate --slots 2 --reducers 4 --log-dir "$work" -o jsonl \
  >"$work/live.json" 2>"$work/run.err" || fail "the run failed: $(cat "$work/run.err")"
! grep -v '^{' "$work/live.json" || fail "there is more than JSON on standard output"
grep -q '^reduce_output_checksum ' "$work/run.err" || fail "no result on standard error"
log=$(echo "$work"/*.tidemark-log)
"$tidemark" replay "$log" -o jsonl >"$work/replay.out"
grep '^{' "$work/replay.out" >"$work/replay.json"
cmp "$work/live.json" "$work/replay.json" || fail "the replay differs from the live snapshots"
tail -n 1 "$work/live.json" | grep JOB_STATE_SUCCEEDED >/dev/null || fail "no final snapshot"

# A master runs only the indicator tidemark. --compare adds the methods of papers, also to its log, and does not
# change the estimates of tidemark.
! grep -q nearestfit "$work/live.json" || fail "nearestfit ran although nobody asked for it"
"$tidemark" replay "$log" --compare -o jsonl >"$work/compared.json"
tail -n 1 "$work/compared.json" | grep nearestfit >/dev/null || fail "--compare does not add nearestfit"
"$tidemark" replay "$here/../data/two-path-on-yarn.tidemark-log" --compare -o plain >"$work/lines" 2>&1
grep -q ', method: key groups; .*nearestfit ≈ [0-9]* %' "$work/lines" ||
  fail "no line of a running job shows its method and the progress by NearestFit"
estimates() { sed 's/"\(counts\|notes\)".*//; s/.*"estimate"//' "$1"; }
[ "$(estimates "$work/live.json")" = "$(estimates "$work/compared.json")" ] ||
  fail "--compare changes what tidemark says"

# An invalid log causes exactly one message.
echo 'not a log' >"$work/no-log"
! "$tidemark" replay "$work/no-log" 2>"$work/no-log.err" || fail "a file that is no log was replayed"
[ "$(wc -l <"$work/no-log.err")" = 1 ] && grep -q 'is neither a Spark event log nor a Hadoop history file' "$work/no-log.err" ||
  fail "not said once: $(cat "$work/no-log.err")"

# A torn tail is reported, and everything before it is shown.
head -c -3 "$log" >"$work/torn.tidemark-log"
status=0
"$tidemark" replay "$work/torn.tidemark-log" -o jsonl >"$work/torn.out" 2>"$work/torn.err" || status=$?
[ "$status" = 4 ] || fail "a torn log must exit with 4, not $status"
grep -q 'torn record' "$work/torn.err" || fail "a torn log must be named"
lines=$(wc -l <"$work/live.json")
head -n $((lines - 1)) "$work/live.json" | cmp - <(grep '^{' "$work/torn.out") ||
  fail "a torn log must still show what is whole"
status=0
"$tidemark" compare "$log" "$work/torn.tidemark-log" >"$work/compared" 2>"$work/err" || status=$?
[ "$status" = 4 ] && grep -q 'torn record' "$work/err" || fail "a torn log is compared with exit code $status"
grep -q '^torn.tidemark-log has no reported end' "$work/compared" || fail "$(cat "$work/compared")"

# Damage in the middle loses only the damaged records. Replays and watchers report it.
cp "$log" "$work/damaged.tidemark-log"
middle=$(($(wc -c <"$log") / 2))
printf 'damage' | dd of="$work/damaged.tidemark-log" bs=1 seek="$middle" conv=notrunc status=none
status=0
"$tidemark" replay "$work/damaged.tidemark-log" -o jsonl >"$work/damaged.out" \
  2>"$work/damaged.err" || status=$?
[ "$status" = 4 ] || fail "a damaged log must exit with 4, not $status"
status=0
"$tidemark" why "$work/damaged.tidemark-log" >"$work/why.out" 2>"$work/why.err" || status=$?
[ "$status" = 4 ] || fail "why of a damaged log must exit with 4, not $status: $(cat "$work/why.err")"
status=0
"$tidemark" contention "$work/damaged.tidemark-log" >"$work/contention.out" \
  2>"$work/contention.err" || status=$?
[ "$status" = 4 ] && grep -q '^tidemark: event log .*: damaged at byte' "$work/contention.err" ||
  fail "contention of a damaged log must exit with 4, not $status: $(cat "$work/contention.err")"
grep -q 'damaged at byte' "$work/damaged.err" || fail "damage must be named"
[ "$(grep -c '^{' "$work/damaged.out")" -ge $((lines - 2)) ] || fail "what follows damage must be shown"
tail -n 1 "$work/damaged.out" | grep 'log of this job was damaged' >/dev/null || fail "snapshots must tell of damage"
# Lost output is an error with a message; a closed pipe is an error without one.
lost() {
  status=0
  timeout 60 "$tidemark" "$@" >/dev/full 2>"$work/full.err" || status=$?
  [ "$status" = 1 ] || fail "exit code $status when $1 cannot write"
  [ "$(tail -n 1 "$work/full.err")" = \
    "tidemark: cannot write to standard output: No space left on device" ] ||
    fail "$1 did not say that it cannot write: $(cat "$work/full.err")"
}
printf 'stages: [{name: a, tasks: 2, task_seconds: 1}]\n' >"$work/stages.yaml"
lost --version
lost replay "$log" -o jsonl
lost replay "$log" -o plain
lost what-if "$work/stages.yaml"
lost run example word-count --input "$work/stages.yaml" --slots 1 --reducers 1 -o quiet
mkfifo "$work/pipe"
head -n 0 "$work/pipe" & # opens, reads nothing, and goes
exec 3>"$work/pipe"
wait $!
status=0
"$tidemark" replay "$log" -o jsonl >&3 2>"$work/gone.err" || status=$?
exec 3>&-
[ "$status" = 141 ] || fail "exit code $status when nobody reads"
[ ! -s "$work/gone.err" ] || fail "words for nobody: $(cat "$work/gone.err")"
echo "replay equals live: $lines snapshots"
