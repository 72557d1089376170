#!/usr/bin/env bash
# Builds the connector for Hadoop and runs one of its suites: unit, local (jobs in the client's own
# process), yarn (jobs on a cluster that the test starts and stops) or faults (both while masters and
# nodes fail; not among ctest's tests, for its time). $2 is the tidemark binary. Black holes need root.
# $3, unless it is left out, is the version of Hadoop.
set -euo pipefail
suite=$1
tidemark=$2
version=${3:-}
connector=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../agent/hadoop" && pwd)

for tool in java javac mvn; do
  command -v "$tool" >/dev/null && continue
  echo "SKIPPED: the Hadoop connector needs a JDK and Maven, and there is no $tool." \
    "On Debian: ./dev setup, or apt-get install default-jdk-headless maven."
  exit 77
done

maven() {
  mvn --batch-mode --no-transfer-progress -q -f "$connector/pom.xml" \
    ${version:+-Dhadoop.version="$version"} "$@"
}

# The first build fetches Hadoop; later ones need no network.
case $suite in
  unit) maven package ;;
  local) maven verify -Dsurefire.skip=true -Dit.test=LocalModeIT,RunCommandIT,SecureMasterIT \
    -Dtidemark.command="$tidemark" ;;
  yarn) maven verify -Dsurefire.skip=true -Dit.test=YarnIT -Dtidemark.command="$tidemark" ;;
  faults) maven verify -Dsurefire.skip=true -Dit.test=LocalFaultsIT,YarnFaultsIT \
    -Dtidemark.command="$tidemark" ;;
  *) echo "no such suite: $suite" >&2; exit 2 ;;
esac
