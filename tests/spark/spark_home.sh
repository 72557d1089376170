#!/usr/bin/env bash
# Prints where Spark $1 is: PyPI's package pyspark is a whole Spark, which pip keeps in .cache/tools.
# Exits with 1 and the reason where pip cannot install it.
set -euo pipefail
version=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
home=$root/.cache/tools/spark-$version

if ! [[ -x $home/pyspark/bin/spark-submit ]]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  rm -rf "$home" "$home.new"
  /usr/bin/python3 -m pip install -q --no-deps --no-compile --disable-pip-version-check \
    --target "$home.new" "pyspark==$version" >"$log" 2>&1 || {
    echo "pip cannot install pyspark $version: $(tail -n 1 "$log")" >&2
    exit 1
  }
  mv "$home.new" "$home"
fi
echo "$home/pyspark"
