#!/usr/bin/env bash
# Checks `tidemark doctor` with a healthy master, without a master, and with another server at the address, and
# that the unit in packaging/ runs it with the settings of the master.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
cd "$work"
umask 077
mkdir data free

make_key() { openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:prime256v1 -out "$1"; }
make_certificates() {
  make_key ca.key && make_key server.key
  openssl req -x509 -key ca.key -days 60 -subj /CN=authority -out ca.pem
  openssl req -new -key server.key -subj /CN=master -out server.csr
  openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 60 \
    -extfile <(echo subjectAltName=DNS:master.example) -out server.pem
}
make_certificates >openssl.log 2>&1 || fail "no certificates: $(cat openssl.log)"
echo "agent * 2f0d6b1c9e8a47d3" >tokens
tls=(tls.certificate=server.pem tls.key=server.key)

# serve ADDRESS WORD...: starts a master and sets $address.
serve() {
  rm -f serve.err
  "$tidemark" serve --listen "$@" 2>serve.err &
  pids+=("$!")
  wait_for 60 grep -q 'listening on' serve.err
  address=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' serve.err | head -n 1)
}

# doctor EXIT_CODE WORDS WORD...: allows only warnings and failures that start with WORDS.
doctor() {
  local expected=$1 words=$2 code=0
  shift 2
  "$tidemark" doctor --listen "$@" >said || code=$?
  [ "$code" = "$expected" ] || fail "exit code $code of doctor --listen $*: $(cat said)"
  grep -qE -- "^$words" said || fail "no line \"$words\" from doctor --listen $*: $(cat said)"
  ! grep -vE -- "^(ok|$words)" said || fail "unexpected findings of doctor --listen $*"
}

# A healthy master with each kind of authentication, at each form of its address.
serve 0.0.0.0:0 --data-dir data --allow-insecure-remote
doctor 0 "ok    master       a healthy master runs at 0.0.0.0:[0-9]* and has 0 jobs" \
  "$address" --data-dir data --allow-insecure-remote
serve "[::]:0" --data-dir data2 --allow-insecure-remote --set tokens=tokens
doctor 0 "ok    master       a healthy master runs at" \
  "$address" --data-dir data2 --allow-insecure-remote --set tokens=tokens
serve 0.0.0.0:0 --data-dir data3 --set "${tls[@]}" tokens=tokens
doctor 0 "ok    master       a healthy master runs at" \
  "$address" --data-dir data3 --set "${tls[@]}" tokens=tokens
serve 0.0.0.0:0 --data-dir data4 --set "${tls[@]}" tls.client_ca=ca.pem
doctor 0 "warn  master       0.0.0.0:[0-9]* is in use" \
  "$address" --data-dir data4 --set "${tls[@]}" tls.client_ca=ca.pem

# No server, and another server.
doctor 0 "ok    master       no master runs at 127.0.0.1:0; the address is free" 127.0.0.1:0 --data-dir free
openssl s_server -www -accept 127.0.0.1:0 -cert server.pem -key server.key >other.out 2>&1 &
pids+=("$!")
wait_for 60 grep -q '^ACCEPT ' other.out
other=$(sed -n 's/^ACCEPT //p' other.out | head -n 1)
doctor 1 "FAIL  master       cannot listen on $other" "$other" --data-dir free
doctor 1 "FAIL  web          cannot listen on $other" 127.0.0.1:0 --data-dir free --set "web.listen=$other"
doctor 1 "FAIL  metrics      cannot listen on $other" 127.0.0.1:0 --data-dir free --set "metrics.listen=$other"
doctor 1 "FAIL  history_logs $work/none: No such file or directory" 127.0.0.1:0 --data-dir free --set "history_logs=$work/none"
doctor 0 "ok    web          127.0.0.1:0 is free" 127.0.0.1:0 --data-dir free --set web.listen=127.0.0.1:0

# The doctor rejects the same settings as `serve`, for the same reason.
refused() {
  local reason=$1 code=0
  shift
  "$tidemark" doctor --listen "$@" >said || code=$?
  [ "$code" = 1 ] && grep -qF -- "$reason" said || fail "doctor --listen $*: code $code: $(cat said)"
  code=0
  timeout 60 "$tidemark" serve --listen "$@" >said 2>&1 || code=$?
  [[ $code == [12] ]] && grep -qF -- "$reason" said || fail "serve --listen $*: code $code: $(cat said)"
}
refused "cannot listen on $other: Address already in use; use another address" "$other" --data-dir free
refused "not an address of this host; use an address" 192.0.2.1:7411 --data-dir free --allow-insecure-remote
refused "the host name nosuch.invalid cannot be resolved" nosuch.invalid:7411 --data-dir free \
  --allow-insecure-remote
refused "web.listen 127.0.0.1:7499 collides with listen 127.0.0.1:7499; use different ports" \
  127.0.0.1:7499 --data-dir free --set web.listen=127.0.0.1:7499
refused "cannot listen on unix:/proc/tidemark: " unix:/proc/tidemark --data-dir free
refused "/proc/tidemark" 127.0.0.1:0 --data-dir /proc/tidemark/data
# Only an unprivileged user cannot use a port below 1024.
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ] &&
  setpriv --reuid 65534 --regid 65534 --clear-groups "$tidemark" version >/dev/null 2>&1 &&
  [ "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start 2>/dev/null || echo 0)" -gt 1 ]; then
  for command in doctor serve; do
    timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups \
      "$tidemark" "$command" --listen 127.0.0.1:1 >said 2>&1 || true
    grep -qF "cannot listen on 127.0.0.1:1: Permission denied: this user may not listen on ports below 1024" said ||
      fail "$command at a port below 1024: $(cat said)"
  done
fi

# A hanging master keeps its socket and its data directory.
serve "unix:$work/socket" --data-dir data5
kill -STOP "${pids[-1]}"
held="process ${pids[-1]} uses data5"
# Some hosts do not report the owner of a lock.
read -r major minor inode < <(stat -c '%Hd %Ld %i' data5/LOCK)
lock=$(printf ' %s %02x:%02x:%s ' "${pids[-1]}" "$major" "$minor" "$inode")
grep -qF "$lock" /proc/locks 2>/dev/null || held="cannot listen on unix:.*in use"
doctor 1 "FAIL  master       $held" "unix:$work/socket" --data-dir data5
[[ $held == cannot* ]] ||
  doctor 1 "FAIL  master       process ${pids[-1]} uses data5, but no process listens at unix:" \
    "unix:$work/other" --data-dir data5
kill -CONT "${pids[-1]}"
doctor 0 "ok    master       a healthy master runs at unix:" "unix:$work/socket" --data-dir data5

# The unit: the doctor checks what the master will run.
unit=$here/../../packaging/tidemark.service.in
words_of() { sed -n "s/^$1=.*tidemark $2 //p" "$unit"; }
[ -n "$(words_of ExecStart serve)" ] &&
  [ "$(words_of ExecStart serve)" = "$(words_of ExecStartPre doctor)" ] ||
  fail "the doctor of the unit checks other settings than the master uses"
echo ok
