#!/usr/bin/env bash
# Packs what is built into a wheel, installs it without a network in a fresh environment, and runs it there. $1 is the
# tidemark binary. $2 is a folder whose environment later runs reuse. With $3, a version of Spark, also executes
# notebooks with that PySpark.
set -euo pipefail
tidemark=$1
folder=$2
spark=${3:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/python/environment.sh"
make_environment "$folder"

fail() { echo "FAILED: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# No checkout, other installation or setting may help.
cd "$work"
unset "${!TIDEMARK_@}" PYTHONPATH
export PATH=/usr/bin:/bin

protoc -I "$root/proto" --include_imports --descriptor_set_out=wire.binpb \
  tidemark/v1/job_service.proto tidemark/rpc/v1/error_details.proto
wheel=$(/usr/bin/python3 "$root/packaging/wheel.py" "$tidemark" wire.binpb .)
echo "$(stat -c %s "$wheel") bytes: $(basename "$wheel")"
[[ $wheel == *-py3-none-manylinux_2_*_"$(uname -m)".whl ]] || fail "the tag does not name the C library"

/usr/bin/python3 -m venv fresh
fresh/bin/python -m pip install -q --no-index --no-deps --disable-pip-version-check "$wheel"
# The packages that pip would download.
"$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
  >"$(fresh/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/downloads.pth"

version=$(fresh/bin/tidemark --version)
[[ $version == "tidemark $(fresh/bin/python -c 'import tidemark; print(tidemark.__version__)')" ]] || fail "$version"
# All libraries except the C library are in the wheel.
other=$(ldd fresh/bin/tidemark | awk -v own="$work/fresh/bin/../lib/tidemark/" '
  $2 == "=>" && index($3, own) != 1 && $1 !~ /^lib(c|m|pthread|dl|rt|resolv|util|anl|mvec)\.so/ {print $1}')
[[ -z $other ]] || fail "libraries of the system: $other"
cmp "$root/data/graphs/musae-github.txt.zst" fresh/share/tidemark/graphs/musae-github.txt.zst

# One node has a thousand neighbours.
awk 'BEGIN {for (i = 1; i <= 1000; i++) print 0 "\t" i "\n" i "\t" i % 100 + 1}' >graph
fresh/bin/tidemark demo --input graph -o plain >said 2>&1 || fail "$(cat said)"
grep -q '^This demo lists' said && grep -q 'two-path.*succeeded' said || fail "$(cat said)"

# Without a terminal, the page ends with its job.
fresh/bin/tidemark demo --web --input graph -o plain >said 2>&1 ||
  grep -q 'built without its page' said || fail "$(cat said)"
grep -q '^page: http://127.0.0.1:' said || grep -q 'built without its page' said || fail "$(cat said)"

if [[ $spark ]]; then
  spark=$(bash "$root/tests/spark/spark_home.sh" "$spark") || skip "no Spark $spark"
  [[ -f fresh/share/tidemark/jars/tidemark-spark.jar ]] || skip "the connector for Spark is not built"
fi
TIDEMARK_SPARK=$spark fresh/bin/python -m pytest -q -p no:cacheprovider --import-mode=importlib \
  --rootdir "$root/tests/notebook" "$root/tests/notebook"
