#!/usr/bin/env bash
# Builds the connector for Spark and runs its unit tests (unit), or applications on a version of Spark
# (3.5.7, 4.0.1, 4.3.0), or only some of them (4.0.1-some). $2 is the tidemark binary.
set -euo pipefail
suite=$1
tidemark=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

skip() { echo "SKIPPED: $*"; exit 77; }

for tool in java javac mvn; do
  command -v "$tool" >/dev/null && continue
  skip "the Spark connector needs a JDK and Maven, and there is no $tool." \
    "On Debian: ./dev setup, or apt-get install default-jdk-headless maven."
done

maven() { # MODULE...
  mvn --batch-mode --no-transfer-progress -q -f "$root/agent/pom.xml" -am -pl "$@"
}

# PyPI's package pyspark is a whole Spark; pip keeps it in .cache/tools.
spark_home() {
  local home=$root/.cache/tools/spark-$1 log
  if ! [[ -x $home/pyspark/bin/spark-submit ]]; then
    log=$(mktemp)
    rm -rf "$home" "$home.new"
    /usr/bin/python3 -m pip install -q --no-deps --no-compile --disable-pip-version-check \
      --target "$home.new" "pyspark==$1" >"$log" 2>&1 ||
      skip "no Spark $1: pip cannot install pyspark: $(tail -n 1 "$log")"
    mv "$home.new" "$home"
    rm -f "$log"
  fi
  spark=$home/pyspark
}

# The first build fetches what Spark is compiled against; later ones need no network.
case $suite in
  unit) maven spark package -Dtest='org.tidemark.spark.*Test' -Dsurefire.failIfNoSpecifiedTests=false ;;
  [0-9]*)
    some=()
    [[ $suite != *-some ]] || some=(-Dit.test='OneJarIT,SparkIT#aLocal*+executors*+keyGroups*')
    spark_home "${suite%-some}"
    maven hadoop package -Dsurefire.skip=true # for a process with both connectors
    maven spark verify -Dsurefire.skip=true "${some[@]}" -Dtidemark.command="$tidemark" -Dtidemark.spark.home="$spark"
    ;;
  *) echo "no such suite: $suite" >&2; exit 2 ;;
esac
