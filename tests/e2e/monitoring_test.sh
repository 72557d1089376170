#!/usr/bin/env bash
# The rules for Prometheus fire as expected, and the rules and the dashboard query existing metrics.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
packaging=$here/../../packaging
PATH=$here/../../.cache/tools/prometheus/usr/bin:$PATH  # of ./dev setup monitoring

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$tidemark" serve --listen 127.0.0.1:0 --set "metrics.listen=127.0.0.1:$port" 2>"$work/serve.err" &
pids+=("$!")
wait_for 60 grep -q 'listening on' "$work/serve.err"
curl -sS "http://127.0.0.1:$port/metrics" >"$work/metrics"

python3 - "$work/metrics" "$packaging/prometheus/tidemark.rules.yaml" "$packaging/grafana/tidemark.json" <<'CHECK' ||
import json, re, sys
served, rules, dashboard = sys.argv[1:]
known = set()
for line in open(served):
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split()
        known |= {name + end for end in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
asked = set(re.findall(r"\btidemark_\w+", open(rules).read()))
panels = json.load(open(dashboard))["panels"]
for panel in panels:
    assert panel["targets"], f"{panel['title']} asks for nothing"
    for target in panel["targets"]:
        found = re.findall(r"\btidemark_\w+|\bup\b", target["expr"])
        assert found, f"{panel['title']} shows nothing of ours: {target['expr']}"
        asked |= {name for name in found if name != "up"}
assert len(asked) > 20 and len(panels) > 10, "too few to be all"
alerts = set(re.findall(r"- alert: (\w+)", open(rules).read()))
fire = set(re.findall(r"alertname: (\w+)\n +exp_alerts:\n", open(rules.replace(".yaml", ".test.yaml")).read()))
assert alerts == fire, f"no test in which it fires: {alerts ^ fire}"
missing = sorted(asked - known)
assert not missing, f"no master has: {', '.join(missing)}"
CHECK
  fail "the rules or the dashboard ask for what is not there"

if command -v promtool >/dev/null; then
  cd "$packaging/prometheus"
  promtool check rules tidemark.rules.yaml >/dev/null || fail "the rules cannot be loaded"
  promtool test rules tidemark.rules.test.yaml || fail "rules do not fire as they should"
  promtool check metrics <"$work/metrics" || fail "Prometheus would not call metrics so"
fi

# A real Prometheus scrapes the master, evaluates the rules, and answers the queries of the dashboard.
if command -v prometheus >/dev/null; then
  server=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  cat >"$work/prometheus.yml" <<CONFIG
global: {scrape_interval: 200ms, evaluation_interval: 200ms}
scrape_configs: [{job_name: tidemark, static_configs: [{targets: ["127.0.0.1:$port"]}]}]
rule_files: ["$(realpath "$packaging/prometheus/tidemark.rules.yaml")"]
CONFIG
  prometheus --config.file "$work/prometheus.yml" --storage.tsdb.path "$work/series" \
    --web.listen-address "127.0.0.1:$server" 2>"$work/prometheus.err" &
  pids+=("$!")
  wait_for 60 bash -c "curl -sS 'http://127.0.0.1:$server/api/v1/query?query=up' | grep -q '\"1\"'"
  python3 - "http://127.0.0.1:$server" "$packaging/grafana/tidemark.json" <<'CHECK' ||
import json, sys, time, urllib.error, urllib.parse, urllib.request
server, dashboard = sys.argv[1:]
def ask(what, **fields):
    try:
        with urllib.request.urlopen(f"{server}/api/v1/{what}?{urllib.parse.urlencode(fields)}") as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        sys.exit(f"{fields}: {error.read().decode()}")
def rules():
    return [rule for group in ask("rules")["groups"] for rule in group["rules"]]
until = time.time() + 30
while any(rule["health"] == "unknown" for rule in rules()) and time.time() < until:
    time.sleep(0.2)
wrong = [f"{rule['name']}: {rule['health']} {rule.get('lastError', '')}" for rule in rules() if rule["health"] != "ok"]
assert len(rules()) > 5 and not wrong, wrong
fires = [rule["name"] for rule in rules() if rule["state"] != "inactive"]
assert not fires, f"a master without jobs is complained of: {fires}"
shown = 0
for panel in json.load(open(dashboard))["panels"]:
    for target in panel["targets"]:
        query = target["expr"].replace("$instance", ".*").replace("$__rate_interval", "1m")
        shown += len(ask("query", query=query)["result"]) > 0
assert shown > 5, f"only {shown} questions have an answer"
CHECK
    fail "Prometheus does not understand the rules or the dashboard"
fi
