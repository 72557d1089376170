# shellcheck shell=bash
# shellcheck disable=SC2034  # used by those that source this
# Helpers of the end-to-end scripts. $1 is the path of the tidemark binary.
set -euo pipefail
tidemark=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
data=$here/../../data
work=$(mktemp -d)
pids=()

finish_processes() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
}
finish() {
  finish_processes
  rm -rf "$work"
}
trap finish EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# wait_for SECONDS COMMAND...: waits until the command succeeds.
wait_for() {
  local tries=$(($1 * 10))
  shift
  for ((i = 0; i < tries; i++)); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.1
  done
  fail "timed out waiting for: $*"
}

# start_master --log-dir|--data-dir DIRECTORY [ADDRESS]: sets $master to its address and $master_pid.
start_master() {
  # Prevents reading the address of the previous master before the shell truncates the file.
  rm -f "$work/serve.err"
  "$tidemark" serve --listen "${3:-127.0.0.1:0}" "$1" "$2" 2>"$work/serve.err" &
  master_pid=$!
  pids+=("$master_pid")
  wait_for 60 grep -q 'listening on' "$work/serve.err"
  master=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$work/serve.err" | head -n 1)
}
