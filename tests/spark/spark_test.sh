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

# The first build fetches what Spark is compiled against; later ones need no network.
case $suite in
  unit) maven spark package -Dtest='org.tidemark.spark.*Test' -Dsurefire.failIfNoSpecifiedTests=false ;;
  [0-9]*)
    some=()
    [[ $suite != *-some ]] || some=(-Dit.test='OneJarIT,SparkIT#aLocal*+executors*+keyGroups*')
    spark=$(bash "$root/tests/spark/spark_home.sh" "${suite%-some}") || skip "no Spark ${suite%-some}"
    maven hadoop package -Dsurefire.skip=true # for a process with both connectors
    maven spark verify -Dsurefire.skip=true "${some[@]}" -Dtidemark.command="$tidemark" -Dtidemark.spark.home="$spark"
    ;;
  *) echo "no such suite: $suite" >&2; exit 2 ;;
esac
