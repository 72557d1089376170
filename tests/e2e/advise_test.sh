#!/usr/bin/env bash
# Recommends results to store from Spark event logs: two queries of one application share an aggregation.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
corpus=$here/../fuzz/corpus/spark_plans
mkdir "$work/logs"
log=$work/logs/app-1
tail -c +2 "$corpus/sql" >"$log" # its first byte is the fuzz target's

"$tidemark" advise "$log" >"$work/out" 2>"$work/err" || fail "no advice: $(cat "$work/err")"
grep -q '^1\. keep Aggregate of file:/data/events: saves ' "$work/out" || fail "$(cat "$work/out")"
grep -q 'used by m, count at M.scala:7: 2 times' "$work/out" || fail "no users: $(cat "$work/out")"
grep -q 'Filter of file:/data/events, 2 uses, .*: advised results already save this time' "$work/out" ||
  fail "no reason: $(cat "$work/out")"
grep -q '^2 plans of 1 application over 59.0 s' "$work/out" || fail "$(cat "$work/out")"
grep -q 'shorter than a week' "$work/out" || fail "$(cat "$work/out")"

# A folder with an invalid log, and too little space for any result.
echo nothing >"$work/logs/README"
"$tidemark" advise "$work/logs" --space 10KiB --format json >"$work/json" 2>"$work/err" || fail "$(cat "$work/err")"
grep -q 'not read: .*README is neither a Spark event log nor a Hadoop history file' "$work/err" || fail "$(cat "$work/err")"
python3 - "$work/json" <<'PY' || fail "$(cat "$work/json")"
import json, sys
advice = json.load(open(sys.argv[1]))
kept = [point for point in advice["points"] if point["advised"]]
assert [point["kind"] for point in kept] == ["Aggregate"], kept
assert kept[0]["bytes_max"] <= 10 * 1024
assert 0 < kept[0]["saved_per_week"]["lower_s"] <= kept[0]["saved_per_week"]["expected_s"]
assert kept[0]["uses"][1]["line"] == "count at M.scala:7" and not kept[0]["uses"][1]["first_of_data"]
assert set(advice["policies"]) == {"advised", "lru", "lfu", "arc"}
assert all(point["why_not"] for point in advice["points"] if not point["advised"])
PY
"$tidemark" advise "$log" --space 100 >"$work/out" || fail "too little space is an error"
grep -q '^No intermediate result is worth keeping' "$work/out" || fail "$(cat "$work/out")"
grep -q 'it does not fit into the space' "$work/out" || fail "$(cat "$work/out")"
[ "$("$tidemark" advise "$log" -o jsonl | wc -l)" -ge 2 ] || fail "not a line for each result"

# Whole and truncated copies of a log count as one run.
mkdir "$work/copies"
head -n 10 "$log" >"$work/copies/a-cut"
cp "$log" "$work/copies/b"
cp "$log" "$work/copies/c"
"$tidemark" advise "$work/copies" >"$work/out" 2>"$work/err" || fail "$(cat "$work/err")"
grep -q 'used by m, count at M.scala:7: 2 times' "$work/out" || fail "copies are counted: $(cat "$work/out")"
grep -q '^2 plans of 1 application' "$work/out" || fail "$(cat "$work/out")"
grep -q 'a-cut: omitted, since .*copies/b is a log of the same run' "$work/err" || fail "$(cat "$work/err")"
grep -q 'copies/c: omitted, since .*copies/b is a log of the same run' "$work/err" || fail "$(cat "$work/err")"

# Another application with equal plans on equal data repeats the run.
mkdir "$work/runs"
cp "$log" "$work/runs/a"
sed 's/"App ID":"[^"]*"/"App ID":"another"/' "$log" >"$work/runs/b"
"$tidemark" advise "$work/runs" >"$work/out" 2>"$work/err" || fail "$(cat "$work/err")"
grep -q '^m ran 2 times with identical plans on identical data: keeping its results would have saved' "$work/out" ||
  fail "$(cat "$work/out")"

# A single run, a cyclic lineage, and a truncated or damaged log.
head -n 10 "$log" >"$work/one"
"$tidemark" advise "$work/one" >"$work/out" || fail "a single run is an error"
grep -q '^No intermediate result is worth keeping' "$work/out" || fail "$(cat "$work/out")"
grep -q 'used once' "$work/out" || fail "$(cat "$work/out")"
tail -c +2 "$corpus/lineage" >"$work/cycle"
"$tidemark" advise "$work/cycle" >"$work/out" || fail "other plans of the log can be compared"
grep -q '1 plan is omitted: operators read each other in a cycle' "$work/out" || fail "$(cat "$work/out")"

refused() { # WORDS OPTION...
  local code=0 words=$1
  shift
  "$tidemark" advise "$@" >"$work/out" 2>"$work/err" || code=$?
  [ "$code" = 2 ] || fail "$*: exit code $code"
  grep -q -- "$words" "$work/err" || fail "$*: $(cat "$work/err")"
}
head -n 1 "$log" >"$work/empty"
refused 'none of its events has a time' "$work/empty"
refused 'neither a Spark event log' "$work/logs/README"
refused 'at least 1 byte' "$log" --space 0
refused '^tidemark: --space must be a size of at least 1 byte, such as 10GiB, not much' "$log" --space much
refused 'at least 1 byte, .* not -1' "$log" --space -1
refused 'must be json, jsonl, table or wide' "$log" -o yaml

[ "$("$tidemark" complete adv)" = advise ] || fail "the command is not completed"
"$tidemark" complete advise --s | grep -qx -- --space || fail "its options are not completed"
"$tidemark" advise --help | grep -q -- '--read-rate' || fail "no help"
echo ok
