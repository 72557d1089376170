#!/usr/bin/env bash
# Builds the connector for Tez and runs its unit tests (unit), or DAGs and a script of Pig with a real master,
# on a cluster that the test starts and stops (yarn; skipped unless TIDEMARK_ENGINES=1). $2 is the tidemark binary.
# $3 is the version of Tez and optional.
set -euo pipefail
suite=$1
tidemark=$2
version=${3:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/tests/hadoop/engines/jars.sh"

skip() { echo "SKIPPED: $*"; exit 77; }

for tool in java javac mvn; do
  command -v "$tool" >/dev/null && continue
  skip "the Tez connector needs a JDK and Maven, and there is no $tool." \
    "On Debian: ./dev setup, or apt-get install default-jdk-headless maven."
done
[[ $suite == unit || ${TIDEMARK_ENGINES:-} == 1 ]] || skip "set TIDEMARK_ENGINES=1 to run DAGs of a real Tez"

maven() {
  mvn --batch-mode --no-transfer-progress -q -f "$root/agent/pom.xml" -pl tez -am \
    ${version:+-Dtez.version="$version"} "$@"
}

# The first build downloads Tez. Later builds need no network.
case $suite in
  unit) maven package -Dtest='org.tidemark.tez.*Test' -Dsurefire.failIfNoSpecifiedTests=false ;;
  yarn)
    pig=$(jars pig)
    maven verify -Dsurefire.skip=true -Dit.test=YarnDagIT,ScriptIT \
      -Dfailsafe.failIfNoSpecifiedTests=false -Dtidemark.command="$tidemark" \
      -Dtidemark.pig="$pig" ;;
  *) echo "no such suite: $suite" >&2; exit 2 ;;
esac
