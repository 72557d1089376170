#!/usr/bin/env bash
# A master with a full disk reports it, keeps running, affects no job, and continues when there is space.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

disk=$work/disk
mkdir "$disk"
# Exit code 77 means skipped (see CMakeLists.txt).
if ! mount -t tmpfs -o size=4m tmpfs "$disk" 2>/dev/null; then
  echo "SKIPPED: only root may mount the small disk this needs"
  exit 77
fi
unmount_and_finish() {
  finish_processes
  umount -l "$disk"
  rm -rf "$work"
}
trap unmount_and_finish EXIT

start_master --data-dir "$disk/data"
"$tidemark" run example two-path --input "$data/graphs/musae-github.txt.zst" --output-format count --slots 1 \
  --reducers 2 --job-id full --master "$master" -o quiet >"$work/summary" 2>"$work/run.err" &
run=$!
pids+=("$run")
known() { "$tidemark" get jobs --master "$master" | grep -qw full; }
wait_for 60 known

# Fills the disk.
dd if=/dev/zero of="$disk/filler" bs=1k 2>/dev/null || true
wait_for 60 grep -q 'cannot write the journal' "$work/serve.err"
wait_for 60 known
rm "$disk/filler"
wait_for 60 grep -q 'journal writable again' "$work/serve.err"
wait "$run" || fail "the job failed: $(cat "$work/run.err")"
[ "$(grep -c 'cannot accept events now' "$work/run.err")" = 1 ] ||
  fail "the run did not say once why: $(cat "$work/run.err")"
"$tidemark" watch full --master "$master" -o jsonl >"$work/watch.json"
[ "$(grep -c JOB_STATE_SUCCEEDED "$work/watch.json")" = 1 ] || fail "no final snapshot"
