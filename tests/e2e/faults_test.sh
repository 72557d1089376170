#!/usr/bin/env bash
# Whatever is wrong with the master, the job does the same: its output, its exit code and nearly its
# time. What each run took, less than what a run takes that nobody watches, is printed; how much that
# may be is bounded generously here, since the machine may be busy. `./dev bench faults` measures it.
# usage: faults_test.sh TIDEMARK FAULTY_PEER
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
peer=$2
# A master that is waited for by every task would take a minute.
longer_max_ms=20000

now_ms() { date +%s%3N; }

# run_job NAME OPTION...: runs the job in the background.
run_job() {
  began_ms=$(now_ms)
  "$tidemark" run example two-path --input "$data/graphs/facebook-combined.txt.zst" \
    --output-dir "$work/$1" --slots 2 --maps 6 --reducers 4 -o quiet "${@:2}" \
    >"$work/$1.summary" 2>"$work/$1.err" &
  run=$!
  pids+=("$run")
}

# end_job NAME: waits for it and compares it with the calm run.
end_job() {
  local status=0
  wait "$run" || status=$?
  local took_ms=$(($(now_ms) - began_ms))
  [ "$status" = 0 ] || fail "$1: exit code $status: $(cat "$work/$1.err")"
  : "${calm_ms:=$took_ms}"
  printf '%-12s %6d ms, %+d ms\n' "$1" "$took_ms" "$((took_ms - calm_ms))"
  diff -r "$work/calm" "$work/$1" || fail "$1: another output"
  diff <(results calm) <(results "$1") || fail "$1: another result"
  [ "$((took_ms - calm_ms))" -lt "$longer_max_ms" ] || fail "$1: took $took_ms ms"
}
results() { grep -v -e '^job_id' -e '_seconds' -e '^output ' "$work/$1.summary"; }

# start_peer MODE [PORT]: sets $address.
start_peer() {
  "$peer" "$@" 2>"$work/peer-$1" &
  pids+=("$!")
  wait_for 60 grep -q 'listening on' "$work/peer-$1"
  address=$(sed -n 's/.*listening on //p' "$work/peer-$1")
}

run_job calm --no-agent
end_job calm

# told NAME WORDS: exactly one line of what the run said is about this.
told() {
  [ "$(grep -c "$2" "$work/$1.err")" = 1 ] || fail "$1: not said once, '$2': $(cat "$work/$1.err")"
}

for mode in unreachable silent hangup garbage; do
  start_peer "$mode"
  run_job "$mode" --master "$address"
  end_job "$mode"
done
told silent 'no answer from the master at'
run_job absent --master "127.0.0.1:1"
end_job absent
told absent 'no answer from the master at 127.0.0.1:1 for .*: Connection refused'

start_master --data-dir "$work/data"
run_job watched --master "$master"
end_job watched
for mode in slow corrupt; do
  start_peer "$mode" "${master##*:}"
  run_job "$mode" --master "$address"
  end_job "$mode"
done

# Once it knows the job, the master is stopped, and then killed.
disown "$master_pid"  # bash would tell of its end
known() { "$tidemark" get jobs --master "$master" | grep -qw "$1"; }
for signal in STOP KILL; do
  run_job "$signal" --master "$master" --job-id "$signal"
  wait_for 60 known "$signal"
  kill "-$signal" "$master_pid"
  end_job "$signal"
  if [ "$signal" = STOP ]; then kill -CONT "$master_pid"; fi
done

# A master that wants another token.
(umask 077 && echo "admin * a-token-of-sixteen-or-more" >"$work/tokens")
echo "a-token-that-it-does-not-know" >"$work/token"
"$tidemark" serve --listen 127.0.0.1:0 --set "tokens=$work/tokens" 2>"$work/refusing.err" &
pids+=("$!")
wait_for 60 grep -q 'listening on' "$work/refusing.err"
refusing=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$work/refusing.err")
run_job refused --master "$refusing" --token-file "$work/token"
end_job refused
told refused 'the master at .* refuses what is reported: this master does not know the token'
code=0
"$tidemark" run workflow web-log --visits 100 --slots 1 --master "$refusing" \
  --token-file "$work/token" -o quiet 2>"$work/workflow.err" || code=$?
[ "$code" = 6 ] || fail "exit code $code of a workflow with another token: $(cat "$work/workflow.err")"
grep -q 'without a valid token' "$work/refusing.err" || fail "the master did not refuse the token"
! grep -q 'a-token-' "$work/refusing.err" "$work/refused.err" || fail "a token was logged"
