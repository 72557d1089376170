#!/usr/bin/env bash
# A receiver gets one alert about a job that misses the deadline in the settings, even if the master restarts.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cat >"$work/receiver.py" <<'RECEIVER'
import http.server, sys
failures = 2
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global failures
        body = self.rfile.read(int(self.headers["Content-Length"]))
        failures -= 1
        self.send_response(200 if failures < 0 else 503)
        self.end_headers()
        if failures < 0:
            print(self.headers["Tidemark-Signature"] or "unsigned", body.decode(), flush=True)
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
print(server.server_port, file=sys.stderr, flush=True)
server.serve_forever()
RECEIVER
python3 "$work/receiver.py" >"$work/heard" 2>"$work/port" &
pids+=("$!")
wait_for 60 test -s "$work/port"

printf 's3cret\n' >"$work/secret"
chmod o= "$work/secret"
cat >"$work/tidemark.yaml" <<SETTINGS
listen: 127.0.0.1:0
data_dir: data
deadlines: ["synthetic*=1ms"]
alerts:
  webhooks: ["json=http://127.0.0.1:$(cat "$work/port")/hook"]
  on: [late, ended]
  texts: ["ended={job} has {state} after {elapsed}; braces: {{}}"]
  secret: secret
  allow_local: true
lineage:
  url: http://127.0.0.1:$(cat "$work/port")/lineage
  interval: 1s
SETTINGS

metrics=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
serve() {
  rm -f "$work/serve.err"
  OPENLINEAGE_PARENT_ID=airflow/dag.task/01977f2e-5b1c-7d3e-9a41-0c5f8e2b6d70 \
    "$tidemark" serve --config "$work/tidemark.yaml" --set "metrics.listen=127.0.0.1:$metrics" 2>"$work/serve.err" &
  master_pid=$!
  pids+=("$master_pid")
  wait_for 60 grep -q 'listening on' "$work/serve.err"
  master=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$work/serve.err" | head -n 1)
}

serve
"$tidemark" watch due --wait --master "$master" -o quiet &
waits=$!
"$tidemark" run example synthetic --slots 2 --reducers 2 --param n=3000 complexity=2 sigma=1.4 \
  --master "$master" --job-id due -o plain 2>"$work/lines" >/dev/null
grep -q ', was due [0-9][0-9]:[0-9][0-9]' "$work/lines" || fail "no deadline in the lines: $(cat "$work/lines")"
"$tidemark" get jobs due --master "$master" | grep -q 'late (due' || fail "the table does not show that it was late"
"$tidemark" get jobs due --master "$master" -o json | grep -q '"late_probability":1' || fail "no probability"
wait "$waits" || fail "the watcher missed the success of the job"
wait_for 60 grep -q '"kind":"ended"' "$work/heard"
wait_for 60 grep -q '"eventType":"COMPLETE"' "$work/heard"
grep -q '"text":"synthetic.* has succeeded after .*; braces: {}"' "$work/heard" ||
  fail "an alert lacks its text: $(cat "$work/heard")"
# The receiver gets an alert before the master counts its response.
counts_what_was_sent() {
  curl -sS "http://127.0.0.1:$metrics/metrics" >"$work/metrics" &&
    grep -qE '^tidemark_alerts_sent_total\{target="json"\} [12]$' "$work/metrics"
}
wait_for 60 counts_what_was_sent
grep -qE '^tidemark_alerts_retried_total\{target="(json|lineage)"\} [12]$' "$work/metrics" || fail "no attempt failed"
grep -q '^tidemark_alerts_failed_total{target="lineage"} 0$' "$work/metrics" || fail "$(grep alerts "$work/metrics")"
kill "$master_pid"
wait "$master_pid" || true
serve
sleep 2
[[ $(grep -c '"kind":"ended"' "$work/heard") == 1 ]] || fail "an end was reported more than once: $(cat "$work/heard")"
for type in START COMPLETE; do
  [[ $(grep -c "^unsigned .*\"eventType\":\"$type\"" "$work/heard") == 1 ]] || fail "not one $type: $(cat "$work/heard")"
done
grep '"eventType":"COMPLETE"' "$work/heard" | grep -q '"tidemark_progress":.*"fractionDone":1' || fail "no facet of progress"
grep '"eventType":"START"' "$work/heard" | grep -q '"parent":{.*"name":"dag.task"' || fail "no facet of the parent"
# Validates events with the schema of the facet, OpenLineage's client and, if given, its schema. The tools of
# ./dev lint packaging are required.
check=$here/../../.cache/tools/schemas/bin/check-jsonschema
if [[ -x $check ]]; then
  python3 - "$work" <<'SPLIT'
import json, sys
events = [json.loads(line.split(" ", 1)[1]) for line in open(f"{sys.argv[1]}/heard") if '"eventType"' in line]
assert len(events) >= 2, "too few events"
for number, event in enumerate(events):
    json.dump(event, open(f"{sys.argv[1]}/event-{number}.json", "w"))
    json.dump(event["run"]["facets"]["tidemark_progress"], open(f"{sys.argv[1]}/facet-{number}.json", "w"))
SPLIT
  "$check" --schemafile "$here/../../docs/openlineage/ProgressRunFacet.json" "$work"/facet-*.json ||
    fail "a facet violates its schema"
  [[ -z ${OPENLINEAGE_SCHEMA:-} ]] || "$check" --schemafile "$OPENLINEAGE_SCHEMA" "$work"/event-*.json ||
    fail "an event violates the schema of OpenLineage"
  # Older installations of the tools lack the client.
  ! compgen -G "$(dirname "$check")/../lib/python3*/site-packages/openlineage" >/dev/null ||
    "$(dirname "$check")/python" "$here/lineage_client.py" "$work"/event-*.json ||
    fail "an event differs from that of OpenLineage's client"
fi
[[ $(grep -c '"kind":"late"' "$work/heard") -le 1 ]] || fail "a delay was reported more than once: $(cat "$work/heard")"
signature=$(sed -n 's/^t=\([0-9]*\),v1=\([0-9a-f]*\) .*/\1 \2/p' "$work/heard" | head -n 1)
body=$(sed -n 's/^t=[^ ]* //p' "$work/heard" | head -n 1)
expected=$(printf '%s.%s' "${signature% *}" "$body" | openssl dgst -sha256 -hmac s3cret | awk '{print $NF}')
[[ ${signature#* } == "$expected" ]] || fail "the signature is not that of the message"
