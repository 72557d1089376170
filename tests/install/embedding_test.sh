#!/usr/bin/env bash
# The program succeeds, and prints its progress and the remaining time.
set -euo pipefail
said=$("$1") || { echo "FAILED: exit code $?: $said" >&2; exit 1; }
echo "$said"
grep -qE '^ *[1-9][0-9]? % done, [0-9.]+ s left$' <<<"$said" ||
  { echo "FAILED: no progress between the beginning and the end" >&2; exit 1; }
tail -n 1 <<<"$said" | grep -q '^100 % done' || { echo "FAILED: it does not end" >&2; exit 1; }
