#!/usr/bin/env bash
# Runs the recipe of docs/advise.md for reuse on Spark $1, in two processes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

skip() { echo "SKIPPED: $*"; exit 77; }

command -v java >/dev/null || skip "the recipe needs a JDK"
spark=$(bash "$root/tests/spark/spark_home.sh" "$1") || skip "no Spark $1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'x,1\nx,3\ny,2\n' >"$work/a.csv"
printf 'x,7\nz,9\n' >"$work/b.csv"
run() {
  PYTHONPATH="$(dirname "$spark"):$(echo "$spark"/python/lib/py4j-*.zip)" SPARK_HOME=$spark SPARK_LOCAL_IP=127.0.0.1 \
    /usr/bin/python3 "$root/tests/spark/keep_recipe.py" "$root/docs/advise.md" "$work" 2>"$work/errors" \
    >"$work/$1" || { cat "$work/errors" >&2; exit 1; }
}

run first
[[ $(find "$work/kept" -name _SUCCESS | wc -l) == 4 ]] || { echo "a result is not stored alone" >&2; cat "$work/first" >&2; exit 1; }
grep -q "^mean [0-9a-f]* \[('x', 3.0), ('y', 2.0)\]$" "$work/first" || { cat "$work/first" >&2; exit 1; }

stored=$(find "$work/kept" -type f -printf '%p %T@\n' | sort)
run second
cmp "$work/first" "$work/second"
[[ $stored == "$(find "$work/kept" -type f -printf '%p %T@\n' | sort)" ]] || { echo "the second run wrote again" >&2; exit 1; }

# A changed file is other data.
printf 'x,1\nx,5\ny,2\n' >"$work/a.csv"
run third
grep -q "^mean [0-9a-f]* \[('x', 5.0), ('y', 2.0)\]$" "$work/third" || { cat "$work/third" >&2; exit 1; }
