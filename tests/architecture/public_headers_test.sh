#!/usr/bin/env bash
# public_headers_test.sh ROOT: at least 40 % of the non-blank lines of each public header are comments. The first line
# is a comment that describes the header.
set -euo pipefail
cd "$1"
# shellcheck disable=SC2016  # $0 is that of awk
passing=$(find agent client master proto transport -path '*/include/tidemark/*.h' -print0 | sort -z | xargs -0 awk '
    FNR == 1 {files++; if ($0 !~ /^\/\/ /) {print FILENAME ": no comment at its head"; faults++}}
    NF {lines[FILENAME]++}
    /^ *\/\// {comments[FILENAME]++}
    END {
      for (file in lines) {
        share = int(100 * comments[file] / lines[file])
        if (share < 40) {print file ": " share " of 100 lines are comments"; faults++}
      }
      if (!files || faults) exit 1
      print files
    }') || { echo "$passing"; exit 1; }
echo "$passing public headers"
