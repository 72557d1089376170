#!/usr/bin/env bash
# The program in README.md is examples/embedding/main.cc, but for the comment at its head.
set -euo pipefail
# shellcheck disable=SC2016  # sed's dollars, not the shell's
diff <(sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$1/README.md") \
  <(sed '1,/^#include/{/^#include/!d}' "$1/examples/embedding/main.cc") ||
  { echo "FAILED: README.md shows another program than examples/embedding/main.cc" >&2; exit 1; }
