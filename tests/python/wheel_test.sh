#!/usr/bin/env bash
# Packs what is built into a wheel, installs it without a network in a fresh environment, and runs it there. $1 is the
# tidemark binary. $2 is a folder whose environment later runs reuse. With $3, a version of Spark, also executes
# notebooks with that PySpark. With $4, a folder, draws the picture of a notebook there instead of running the tests.
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
/usr/bin/python3 -m venv fresh
fresh/bin/python -m pip install -q --no-index --no-deps --disable-pip-version-check "$wheel"
# The packages that pip would download.
"$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
  >"$(fresh/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/downloads.pth"

if [[ ${4:-} ]]; then
  spark=$(bash "$root/tests/spark/spark_home.sh" "$spark")
  "$python" -m pip install -q --disable-pip-version-check nbconvert
  PYTHONPATH=$(dirname "$spark"):$(echo "$spark"/python/lib/py4j-*.zip) fresh/bin/python "$root/docs/images/notebook_picture.py" "$4"
  exit
fi

version=$(fresh/bin/tidemark --version)
[[ $version == "tidemark $(fresh/bin/python -c 'import tidemark; print(tidemark.__version__)')" ]] || fail "$version"
# All libraries, also the C library, are in the wheel.
lib=$work/fresh/lib/tidemark
loader=("$lib"/ld-linux-*)
other=$("${loader[0]}" --library-path "$lib" --list "$lib/tidemark" |
  awk -v own="$lib/" '$2 == "=>" && index($3, own) != 1 {print $1}')
[[ -z $other ]] || fail "libraries of the system: $other"
ln -s fresh/bin/tidemark link
[[ $(./link --version) == "$version" ]] || fail "a link to the program does not start it"
# A library of the system may need a newer C library than that of the wheel, so only commands preload it.
LD_PRELOAD=/none fresh/bin/tidemark --version >said 2>preload
[[ $(grep -c 'cannot be preloaded' preload) == 1 ]] || fail "not only the shell preloads a library: $(cat preload)"
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
