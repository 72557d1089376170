#!/usr/bin/env bash
# A job that fails because of its data reports each retry of a task, and the failure once at its end.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

printf '1 2\n2 x\n' >"$work/edges.txt"
# The missing master does not cause the failure.
for options in "-o plain" "-o quiet" "--master 127.0.0.1:1"; do
  status=0
  # shellcheck disable=SC2086  # several words
  "$tidemark" run example two-path --input "$work/edges.txt" --slots 1 --maps 1 --reducers 1 \
    $options >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = 1 ] || fail "$options: exit code $status: $(cat "$work/err")"
  [ "$(grep -c 'map task 0 failed and will be retried.*: edges.txt:2: ' "$work/err")" = 3 ] ||
    fail "$options: three retries are not reported: $(cat "$work/err")"
  [ "$(grep -c 'map task 0 failed 4 times.*: edges.txt:2: ' "$work/err")" = 1 ] ||
    fail "$options: the end is not reported once: $(cat "$work/err")"
done
