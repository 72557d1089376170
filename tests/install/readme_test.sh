#!/usr/bin/env bash
# The program in docs/tours/embedding.md equals examples/embedding/main.cc without its first comment.
set -euo pipefail
# shellcheck disable=SC2016  # sed's dollars, not the shell's
diff <(sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$1/docs/tours/embedding.md") \
  <(sed '1,/^#include/{/^#include/!d}' "$1/examples/embedding/main.cc") ||
  { echo "FAILED: docs/tours/embedding.md shows another program than examples/embedding/main.cc" >&2; exit 1; }
