#!/usr/bin/env bash
# History files of MapReduce jobs: replay, why, what-if, and past runs from the folder of a history server.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
histories=$here/../data/hadoop
binary=$histories/two-path-binary.jhist
text=$histories/two-path-text.jhist

# The job succeeds with all of its tasks in both forms of the file.
for log in "$binary" "$text"; do
  "$tidemark" replay "$log" -o jsonl >"$work/replay.out" 2>"$work/replay.err" || fail "$(cat "$work/replay.err")"
  [ ! -s "$work/replay.err" ] || fail "remarks on a complete file: $(cat "$work/replay.err")"
  tail -n 1 "$work/replay.out" | grep JOB_STATE_SUCCEEDED >/dev/null || fail "no final snapshot of $log"
done

"$tidemark" why "$binary" >"$work/why" || fail "why failed"
grep -q 'for garbage collection' "$work/why" || fail "why names no wait: $(cat "$work/why")"
grep -q '^[0-9].* passed before the first task: the start of the job' "$work/why" || fail "$(cat "$work/why")"
"$tidemark" replay "$binary" -o plain | tail -n 8 | tr '\n' ' ' >"$work/summary"
grep -q 'passed before the first task' "$work/summary" || fail "$(cat "$work/summary")"
! grep -q 'No known wait' "$work/summary" || fail "a false sentence: $(cat "$work/summary")"

# Three map tasks ran one after the other, and one attempt failed.
job=1700000000000_0001
event() { printf '{"type":"%s","event":{"%s":{%s}}}\n' "$1" "$1" "$2"; }
{
  printf 'Avro-Json\n{}\n'
  event JOB_SUBMITTED '"jobid":"job_'$job'","jobName":"waves","submitTime":1700000000000'
  event JOB_INITED '"launchTime":1700000001000,"totalMaps":3,"totalReduces":0'
  for i in 0 1 2 3; do
    attempt='"attemptId":"attempt_'$job'_m_00000'$((i % 3))'_'$((i / 3))'"'
    event MAP_ATTEMPT_STARTED "$attempt"',"trackerName":"a","startTime":17000000'$((10 + i))'000'
    how=FINISHED
    [ "$i" != 0 ] || how=FAILED
    event MAP_ATTEMPT_$how "$attempt"',"error":"disk full","finishTime":17000000'$((11 + i))'000'
  done
  event JOB_FINISHED '"finishTime":1700000014000'
} >"$work/waves.jhist"
"$tidemark" why "$work/waves.jhist" >"$work/why" || fail "why failed"
grep -qx 'map: 3 tasks, at most 1 at once; the last started 3.0 s after the first' "$work/why" || fail "$(cat "$work/why")"
grep -qx '1 attempt failed after 1.0 s in total; last failure: disk full' "$work/why" || fail "$(cat "$work/why")"

"$tidemark" what-if "$binary" --slots 1,8 --reducers 2 >"$work/what-if" || fail "what-if failed"
grep -q '^1 slot, 2 reduce tasks' "$work/what-if" || fail "no row for other reduce tasks: $(cat "$work/what-if")"
grep -q '^as it is: ' "$work/what-if" || fail "no row for the run: $(cat "$work/what-if")"

# refuses STATUS MESSAGE COMMAND...
refuses() {
  local expected=$1 message=$2 status=0
  shift 2
  "$tidemark" "$@" >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = "$expected" ] || fail "$*: status $status: $(cat "$work/err")"
  grep -q -- "$message" "$work/err" || fail "$*: not said: $message: $(cat "$work/err")"
}
refuses 2 'use --slots, --reducers' what-if "$binary" --executors 4
refuses 2 'a Spark application, which has no reduce tasks' what-if \
  "$here/../data/spark/local-1795466322781.zst" --reducers 4
printf 'Avro-Json\n{}\n' >"$work/empty.jhist"
refuses 2 'empty.jhist: the history has no JOB_SUBMITTED event' replay "$work/empty.jhist"
refuses 2 'requires data_dir' serve --listen 127.0.0.1:0 --history-logs "$histories"

# A damaged file is shown up to the damage, and one that ends early up to its end.
size=$(wc -c <"$binary")
head -c $((size / 2)) "$binary" >"$work/cut.jhist"
refuses 4 'cut.jhist: the file ends within an event' replay "$work/cut.jhist" -o jsonl
refuses 4 'cut.jhist: the file ends within an event' compare "$work/cut.jhist" "$binary"
cp "$binary" "$work/damaged.jhist"
head -c 200 /dev/zero | tr '\0' '\377' |
  dd of="$work/damaged.jhist" bs=1 seek=$((size * 3 / 4)) conv=notrunc status=none
refuses 4 'damaged.jhist: event ' replay "$work/damaged.jhist"
for command in why what-if; do
  refuses 4 'the file ends within an event' "$command" "$work/cut.jhist"
  [ -s "$work/out" ] || fail "$command: nothing was shown of a cut file"
done
sed '$d' "$text" >"$work/running.jhist"
refuses 0 'the history file does not contain the end of the job' replay "$work/running.jhist"
sed '9s/.*/nonsense/' "$text" >"$work/line.jhist"
refuses 4 'line 9 is not an event' replay "$work/line.jhist"

# The master learns each run once, and the next run of the job has a forecast from the first second.
mkdir -p "$work/done/2026/11/28"
id=$(grep -ao 'job_[0-9]*_[0-9]*' "$binary" | head -n 1 || true)
cp "$binary" "$work/done/2026/11/28/$id-1795-ada-two%2Dpath-1795-4-4-SUCCEEDED-default-1795.jhist"
"$tidemark" serve --listen 127.0.0.1:0 --data-dir "$work/data" --history-logs "$work/done" \
  --set history.age=87600h 2>"$work/serve.err" &
pids+=($!)
wait_for 20 grep -q '1 past run added to the history' "$work/serve.err"
"$tidemark" replay "$text" --history "$work/data" -o plain >"$work/again" 2>&1 || fail "$(cat "$work/again")"
grep -q 'past run' "$work/again" || fail "the second run does not use the first: $(head -5 "$work/again")"
