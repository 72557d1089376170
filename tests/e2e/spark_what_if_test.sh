#!/usr/bin/env bash
# A real master follows running Spark applications through their logs. The test compares estimates with other
# executors, and from past runs with other parameters, with the truth.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
logs=$work/spark
recordings=$here/../data/spark
mkdir "$logs"
make() { python3 "$here/spark_what_if.py" "$@"; }
# Writes to a file, because a reader that closes a pipe early kills the writer.
state_of() { "$tidemark" get jobs "$1" --master "$master" -o jsonl >"$work/job" && grep -q "JOB_STATE_$2" "$work/job"; }

"$tidemark" serve --listen 127.0.0.1:0 --data-dir "$work/data" --spark-logs "$logs" 2>"$work/serve.err" &
pids+=("$!")
wait_for 60 grep -q 'listening on' "$work/serve.err"
master=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$work/serve.err" | head -n 1)

# --- other executors for the second run of a program: at 42.6 s two of four tasks of a stage are done,
# and five stages remain.
first=local-1795466270213
second=local-1795466322781
cut=42.6
make again "$recordings/eventlog_v2_$first" "$logs/first.inprogress" 60
# --- four runs of a program with different parameters
make clusters "$logs/a.inprogress" 40 10 800
make clusters "$logs/b.inprogress" 20 5 600
make clusters "$logs/c.inprogress" 40 15 400
make clusters "$logs/d.inprogress" 60 10 200
for id in "$first" clusters-40-10 clusters-20-5 clusters-40-15 clusters-60-10; do
  wait_for 60 state_of "$id" SUCCEEDED
done

begin=$(date +%s%N)
make later "$recordings/$second.zst" "$logs/second.inprogress" "$cut" 9
wait_for 60 state_of "$second" RUNNING
mv "$logs/second.inprogress.rest" "$work/rest"
left_ms=$((9000 - ($(date +%s%N) - begin) / 1000000))
[ "$left_ms" -le 0 ] || sleep "$(printf '%d.%03d' $((left_ms / 1000)) $((left_ms % 1000)))"
cat "$work/rest" >>"$logs/second.inprogress"
asked() {
  "$tidemark" what-if "$second" --executors 1,2,4 --master "$master" -o jsonl >"$work/rows" &&
    "$tidemark" get stages "$second" --master "$master" >"$work/stages" && grep -q '^groupByKey.* 2/4' "$work/stages"
}
wait_for 60 asked
make judge "$recordings/$second.zst" "$cut" "$work/rows" || fail "$(cat "$work/rows")"

# --- the fifth run, with new parameters: 4 s, and 20 times 1 + 8 s
timeout 60 "$tidemark" watch clusters-80-20 --wait --master "$master" -o jsonl >"$work/watched" &
pids+=("$!")
make clusters "$logs/e.inprogress" 80 20 0 begun
wait_for 60 grep -q '"started_at".*}$' "$work/watched"
make judge_first "$work/watched" 184 || fail "$(head -n 1 "$work/watched")"
