#!/usr/bin/env bash
# Rules for Prometheus fire when they should, and ask, as the dashboard does, for metrics that a master has.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
packaging=$here/../../packaging

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$tidemark" serve --listen 127.0.0.1:0 --set "metrics.listen=127.0.0.1:$port" 2>"$work/serve.err" &
pids+=("$!")
wait_for 30 grep -q 'listening on' "$work/serve.err"
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
