#!/usr/bin/env bash
# A faulty master changes neither the output nor the exit code of a job. The script prints the additional time of
# each run, which depends on other load; `./dev bench faults` measures it.
# usage: faults_test.sh TIDEMARK FAULTY_PEER
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
peer=$2

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

# end_job NAME: waits for the job and compares it with the run without a fault.
end_job() {
  local status=0
  wait "$run" || status=$?
  local took_ms=$(($(now_ms) - began_ms))
  [ "$status" = 0 ] || fail "$1: exit code $status: $(cat "$work/$1.err")"
  : "${calm_ms:=$took_ms}"
  printf '%-12s %6d ms, %+d ms\n' "$1" "$took_ms" "$((took_ms - calm_ms))"
  diff -r "$work/calm" "$work/$1" || fail "$1: another output"
  diff <(results calm) <(results "$1") || fail "$1: another result"
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

# reports_once NAME WORDS: requires exactly one line of the run with these words.
reports_once() {
  [ "$(grep -c "$2" "$work/$1.err")" = 1 ] || fail "$1: not printed once, '$2': $(cat "$work/$1.err")"
}

for mode in unreachable silent hangup garbage; do
  start_peer "$mode"
  run_job "$mode" --master "$address"
  end_job "$mode"
done
reports_once silent 'no response from the master at'
run_job absent --master "127.0.0.1:1"
end_job absent
reports_once absent 'no response from the master at 127.0.0.1:1 for .*: Connection refused'

start_master --data-dir "$work/data"
run_job watched --master "$master"
end_job watched
for mode in slow corrupt; do
  start_peer "$mode" "${master##*:}"
  run_job "$mode" --master "$address"
  end_job "$mode"
done

# The master is stopped after the first report, and then killed.
disown "$master_pid"  # bash would tell of its end
known() { "$tidemark" get jobs --master "$master" | grep -qw "$1"; }
for signal in STOP KILL; do
  run_job "$signal" --master "$master" --job-id "$signal"
  wait_for 60 known "$signal"
  kill "-$signal" "$master_pid"
  end_job "$signal"
  if [ "$signal" = STOP ]; then kill -CONT "$master_pid"; fi
done

# A master that requires another token.
(umask 077 && echo "admin * a-token-of-sixteen-or-more" >"$work/tokens")
echo "a-token-that-it-does-not-know" >"$work/token"
"$tidemark" serve --listen 127.0.0.1:0 --set "tokens=$work/tokens" 2>"$work/refusing.err" &
pids+=("$!")
wait_for 60 grep -q 'listening on' "$work/refusing.err"
refusing=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$work/refusing.err")
run_job refused --master "$refusing" --token-file "$work/token"
end_job refused
reports_once refused 'the master at .* rejects events: this master rejects the token'
code=0
"$tidemark" get jobs --master "$refusing" --token-file "$work/token" 2>"$work/get.err" || code=$?
[ "$code" = 6 ] || fail "exit code $code of get jobs with another token: $(cat "$work/get.err")"
grep -q 'without a valid token' "$work/refusing.err" || fail "the master did not reject the token"
! grep -q 'a-token-' "$work/refusing.err" "$work/refused.err" || fail "a token was logged"
