#!/usr/bin/env bash
# A replay of the event log publishes the live snapshots to the last byte.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

"$tidemark" run two-path --input "$data/graphs/facebook-combined.txt.zst" --output "$work/out" \
  --output-format deflate --slots 2 --reducers 4 --log-dir "$work" --progress json \
  >"$work/run.out" 2>"$work/live.err"
grep '^{' "$work/live.err" >"$work/live.json" || fail "the run published no snapshot"
log=$(echo "$work"/*.tidemark-log)
"$tidemark" replay "$log" --progress json >"$work/replay.out"
grep '^{' "$work/replay.out" >"$work/replay.json"
cmp "$work/live.json" "$work/replay.json" || fail "the replay differs from the live snapshots"
tail -n 1 "$work/live.json" | grep -q JOB_STATE_SUCCEEDED || fail "no final snapshot"

# A torn tail keeps everything before it and says so.
head -c -3 "$log" >"$work/torn.tidemark-log"
status=0
"$tidemark" replay "$work/torn.tidemark-log" --progress json >"$work/torn.out" 2>"$work/torn.err" || status=$?
[ "$status" = 4 ] || fail "a torn log must exit with 4, not $status"
grep -q 'torn record' "$work/torn.err" || fail "a torn log must be named"
lines=$(wc -l <"$work/live.json")
head -n $((lines - 1)) "$work/live.json" | cmp - <(grep '^{' "$work/torn.out") ||
  fail "a torn log must still show what is whole"
echo "replay equals live: $lines snapshots"
