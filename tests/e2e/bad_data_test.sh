#!/usr/bin/env bash
# A job that fails for its data says so each time a task is tried again, and once at its end.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

printf '1 2\n2 x\n' >"$work/edges.txt"
for progress in plain quiet; do
  status=0
  "$tidemark" run two-path --input "$work/edges.txt" --slots 1 --maps 1 --reducers 1 \
    --progress "$progress" >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = 1 ] || fail "$progress: exit code $status: $(cat "$work/err")"
  [ "$(grep -c 'map task 0 failed and is tried again' "$work/err")" = 3 ] ||
    fail "$progress: three retries are not told: $(cat "$work/err")"
  [ "$(grep -c 'map task 0 failed 4 times' "$work/err")" = 1 ] ||
    fail "$progress: the end is not told once: $(cat "$work/err")"
done
