#!/usr/bin/env bash
# include_rules_test.sh must report exactly the faults that were built into broken/, and house.py its
# cycle.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if found=$(bash include_rules_test.sh "$PWD/broken"); then
  echo "broken/ was not objected to"
  exit 1
fi
diff -u broken/expected_faults.txt <(echo "$found")

if rooms=$(python3 house.py "$PWD/broken"); then
  echo "house.py reports no cycle in broken/"
  exit 1
fi
grep -qx 'cycle: cli <-> streaming' <<<"$rooms"
