#!/usr/bin/env bash
# Passes an invalid path to each option that takes a file or a folder. The command names the path and the fault
# and returns a usage error; it neither hangs nor crashes.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
cd "$work"

mkdir folder
touch empty
mkfifo pipe
echo text >file
echo text >unreadable
chmod 000 unreadable
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>openssl.err ||
  fail "no certificate: $(cat openssl.err)"
# A jar with empty classes of the connector.
base64 -d >connector.jar <<'JAR'
UEsDBBQAAAAAAAAAIQAAAAAAAAAAAAAAAAArAAAAb3JnL3RpZGVtYXJrL2hhZG9vcC9UaWRlbWFya0NvbGxlY3Rvci5jbGFz
c1BLAwQUAAAAAAAAACEAAAAAAAAAAAAAAAAAKQAAAG9yZy90aWRlbWFyay9oYWRvb3AvVGlkZW1hcmtTaHVmZmxlLmNsYXNz
UEsDBBQAAAAAAAAAIQAAAAAAAAAAAAAAAAAoAAAAb3JnL3RpZGVtYXJrL2hhZG9vcC9UaWRlbWFya1BvbGljeS5jbGFzc1BL
AQIUAxQAAAAAAAAAIQAAAAAAAAAAAAAAAAArAAAAAAAAAAAAAACAAQAAAABvcmcvdGlkZW1hcmsvaGFkb29wL1RpZGVtYXJr
Q29sbGVjdG9yLmNsYXNzUEsBAhQDFAAAAAAAAAAhAAAAAAAAAAAAAAAAACkAAAAAAAAAAAAAAIABSQAAAG9yZy90aWRlbWFy
ay9oYWRvb3AvVGlkZW1hcmtTaHVmZmxlLmNsYXNzUEsBAhQDFAAAAAAAAAAhAAAAAAAAAAAAAAAAACgAAAAAAAAAAAAAAIAB
kAAAAG9yZy90aWRlbWFyay9oYWRvb3AvVGlkZW1hcmtQb2xpY3kuY2xhc3NQSwUGAAAAAAMAAwAGAQAA1gAAAAAA
JAR

# Invalid paths, and the expected words. /proc/self/mem opens but cannot be read.
not_files=("no-such-file.yaml:No such file or directory" "folder:Is a directory|contains no Spark event log" "empty:empty"
  "/dev/null:Not a regular file" "pipe:Not a regular file" "/proc/self/mem:Input/output error")
[ "$(id -u)" = 0 ] || not_files+=("unreadable:Permission denied")
not_folders=("file:not an? (empty )?directory|actually a file" "/dev/null:not an? (empty )?directory|actually a file")

# try EXPECTED_WORDS PATH COMMAND...
try() {
  local words=$1 given=$2 code=0
  shift 2
  timeout 60 "$tidemark" "$@" >out 2>err </dev/null || code=$?
  [ "$code" -ge 1 ] && [ "$code" -le 3 ] || fail "exit code $code from $*: $(cat out err)"
  cat out err >said
  grep -qF -- "$given" said || fail "$given is not named by $*: $(cat said)"
  grep -qiE -- "$words" said || fail "no word of \"$words\" from $*: $(cat said)"
  [ "$(wc -l <said)" -le 6 ] || fail "too many words from $*: $(cat said)"
}

# with_each_file COMMAND...: replaces @ by each path.
with_each_file() {
  local kind given
  for kind in "${not_files[@]}"; do
    given=${kind%%:*}
    try "${kind#*:}" "$given" "${@//@/$given}"
  done
}
with_each_folder() {
  local kind given
  for kind in "${not_folders[@]}"; do
    given=${kind%%:*}
    try "${kind#*:}" "$given" "${@//@/$given}"
  done
}

nobody=127.0.0.1:1
job=(example word-count --slots 1 --reducers 1)
protected=(--tls-ca cert.pem)

with_each_file serve --listen 127.0.0.1:0 --config @
with_each_file doctor --listen 127.0.0.1:0 --config @
for command in serve doctor; do
  with_each_file "$command" --listen 127.0.0.1:0 --set tls.certificate=@ tls.key=key.pem
  with_each_file "$command" --listen 127.0.0.1:0 --set tls.certificate=cert.pem tls.key=@
  with_each_file "$command" --listen 127.0.0.1:0 \
    --set tls.certificate=cert.pem tls.key=key.pem tls.client_ca=@
  with_each_file "$command" --listen 127.0.0.1:0 --set tokens=@
  with_each_folder "$command" --listen 127.0.0.1:0 --data-dir @
  with_each_folder "$command" --listen 127.0.0.1:0 --log-dir @
done

# An error about a folder names the line of the setting.
for setting in data_dir log_dir; do
  printf 'listen: 127.0.0.1:0\n%s: file\n' $setting >folder.yaml
  try "folder.yaml:2: $setting: cannot create file: Not a directory" file serve --config folder.yaml
done

printf 'id: w\njobs:\n  - name: a\n' >jobs.yaml
for command in "get jobs" "watch job" "what-if jobs.yaml" "submit jobs.yaml" "attach w a job" \
  "workflow cancel w" "forget w"; do
  read -ra words <<<"$command"
  with_each_file "${words[@]}" --master $nobody --tls-ca @
  with_each_file "${words[@]}" --master $nobody "${protected[@]}" --tls-certificate @ --tls-key key.pem
  with_each_file "${words[@]}" --master $nobody "${protected[@]}" --tls-certificate cert.pem --tls-key @
  with_each_file "${words[@]}" --master $nobody "${protected[@]}" --token-file @
done

with_each_file replay @
with_each_file what-if @
with_each_file what-if @ --slots 2
with_each_file advise @
with_each_file submit @ --master $nobody
with_each_file workflow add w @ --master $nobody
with_each_file hadoop conf --jar @
with_each_file run hadoop --jar @ -- true
with_each_file hadoop conf --jar connector.jar --site @
with_each_folder run hadoop --jar connector.jar --log-dir @ -- true

with_each_folder run "${job[@]}" --input file --output-dir @
with_each_folder run "${job[@]}" --input file --log-dir @
with_each_folder profile node --directory @

# An empty file is a valid input, and files in /proc have length 0.
not_files=("${not_files[@]:0:2}" "${not_files[@]:3:2}" "${not_files[@]:6}")
with_each_file run "${job[@]}" --input @
echo ok
