#!/usr/bin/env bash
# Four masters run behind HAProxy, with two jobs and a watcher for each. One running job is moved to another
# master (docs/scale.md): its agents and its watcher follow, no event is lost, and the other job is not affected.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"

PATH=$PATH:/usr/sbin
# Exit code 77 means skipped (see CMakeLists.txt).
if ! command -v haproxy >/dev/null; then
  echo "SKIPPED: there is no HAProxy; ./dev setup proxy installs it"
  exit 77
fi

masters=(1 2 3 4)
address() { echo "unix:$work/master-$1.sock"; }
# start NUMBER: starts a master and sets pid_of[NUMBER].
start() {
  start_master --data-dir "$work/data-$1" "$(address "$1")"
  pid_of[$1]=$master_pid
}
stop() {
  kill "${pid_of[$1]}"
  wait "${pid_of[$1]}" 2>/dev/null || fail "master $1 failed"
}
pid_of=()
for number in "${masters[@]}"; do
  start "$number"
  export "TIDEMARK_MASTER_$number=unix@$work/master-$number.sock"
done

export TIDEMARK_PROXY=unix@$work/proxy.sock
proxy=unix:$work/proxy.sock
# The installed configuration with fewer connections, because a user may have few descriptors.
sed 's/maxconn 40000/maxconn 100/' "$here/../../packaging/proxy/haproxy.cfg" >"$work/haproxy.cfg"
haproxy -W -db -f "$work/haproxy.cfg" >"$work/haproxy.log" 2>&1 &
haproxy=$!
pids+=("$haproxy")
wait_for 60 test -S "$work/proxy.sock"

log_of() { ls "$work"/data-*/"$1.tidemark-log"; }
# Prints the number of the master that has the job.
master_of() { log_of "$1" | sed 's/.*data-\([0-9]\).*/\1/'; }
knows() { "$tidemark" get jobs --master "$(address "$1")" | grep -qw "^$2"; }

reducers=4
# start_job ID: starts a job and a watcher through the proxy.
start_job() {
  "$tidemark" run example synthetic --param n=12000 --slots 1 --reducers "$reducers" --job-id "$1" --master "$proxy" \
    -o quiet >"$work/$1.summary" 2>"$work/$1.err" &
  run_of[$1]=$!
  pids+=("${run_of[$1]}")
  "$tidemark" watch "$1" --wait --master "$proxy" -o jsonl >"$work/$1.json" 2>"$work/$1.watch.err" &
  watch_of[$1]=$!
  pids+=("${watch_of[$1]}")
}
declare -A run_of watch_of
start_job moved
start_job kept
# Each job has a reduce task that runs until the move is over. No short task may end while no master listens: the
# agent of an ending process waits for a fraction of a second, not for a restart of the master.
halt_reducer() {
  worker=$(cat /proc/"${run_of[$1]}"/task/*/children)
  worker=${worker// /}
  tr '\0' ' ' <"/proc/$worker/cmdline" | grep -q ' reduce ' && kill -STOP "$worker" &&
    grep -q '^State:\sT' "/proc/$worker/status" && worker_of[$1]=$worker
}
declare -A worker_of
for job in moved kept; do wait_for 60 halt_reducer "$job"; done
for job in moved kept; do wait_for 60 test -s "$work/$job.json"; done

from=$(master_of moved)
elsewhere=$(master_of kept)
[ "$from" != "$elsewhere" ] || fail "both ids hash to one master: give this test others"
for to in "${masters[@]}"; do
  if [ "$to" != "$from" ] && [ "$to" != "$elsewhere" ]; then break; fi
done

# The commands of docs/scale.md, without systemd.
stop "$from"
mv -n "$work/data-$from"/moved.tidemark-* "$work/data-$to"
stop "$to"
start "$to"
grep -q 'info jobs recovered jobs=1 ' "$work/serve.err" || fail "it did not take up the job: $(cat "$work/serve.err")"
sed -i "/^backend masters/a \\  use-server master-$to if { req.hdr(tidemark-job) -m str moved }" "$work/haproxy.cfg"
kill -USR2 "$haproxy"
reloaded() { [ "$(grep -c 'Loading success' "$work/haproxy.log")" = 2 ]; }
wait_for 60 reloaded
start "$from"
kill -CONT "${worker_of[@]}"

for job in moved kept; do
  wait "${run_of[$job]}" || fail "job $job failed: $(cat "$work/$job.err")"
  wait "${watch_of[$job]}" || fail "the watcher of job $job failed: $(cat "$work/$job.watch.err")"
  [ "$(grep -c JOB_STATE_SUCCEEDED "$work/$job.json")" = 1 ] || fail "not one final snapshot of job $job"
  # The sequence of one run only grows.
  [ "$(grep -o '"run_uid":"[^"]*"' "$work/$job.json" | sort -u | wc -l)" = 1 ] || fail "job $job became another run"
  sed -n 's/.*"sequence":"\([0-9]*\)".*/\1/p' "$work/$job.json" >"$work/sequences"
  sort -n -u -C "$work/sequences" || fail "sequences of job $job do not only grow: $(tr '\n' ' ' <"$work/sequences")"
  grep JOB_STATE_SUCCEEDED "$work/$job.json" >"$work/final"
  grep -q "\"stage\":1},\"state\":\"STAGE_STATE_DONE\"[^{]*\"finished_task_count\":\"$reducers\"" "$work/final" ||
    fail "job $job lacks the end of a reduce task: $(cat "$work/final")"
  grep -q '"lost_events":"0","dropped_events":"0","dropped_points":"0","anomalies":"0","rejected_events":"0"' \
    "$work/final" || fail "something of job $job was lost: $(cat "$work/final")"
done
grep -q 'disconnected from' "$work/moved.watch.err" || fail "the watcher of the moved job noticed nothing: was it moved?"
[ ! -s "$work/kept.watch.err" ] || fail "the watcher of the other job was disturbed: $(cat "$work/kept.watch.err")"

knows "$to" moved || fail "the new master does not know the job"
if knows "$from" moved; then fail "the old master still knows the job"; fi
knows "$elsewhere" kept || fail "the other job is not where it was"
