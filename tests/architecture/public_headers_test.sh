#!/usr/bin/env bash
# public_headers_test.sh ROOT: of the lines of each public header that are not blank, at least 40 in 100
# bear a comment, and the first does, which says what the header is for.
set -euo pipefail
cd "$1"
# These two give way to the one API for all jobs.
# shellcheck disable=SC2016  # $0 is that of awk
passing=$(find agent master proto transport -path '*/include/tidemark/*.h' \
  ! -name snapshot.h ! -name workflow.h -print0 | sort -z | xargs -0 awk '
    FNR == 1 {files++; if ($0 !~ /^\/\/ /) {print FILENAME ": no comment at its head"; faults++}}
    NF {lines[FILENAME]++}
    /\/\// {comments[FILENAME]++}
    END {
      for (file in lines) {
        share = int(100 * comments[file] / lines[file])
        if (share < 40) {print file ": " share " of 100 lines bear a comment"; faults++}
      }
      if (!files || faults) exit 1
      print files
    }') || { echo "$passing"; exit 1; }
echo "$passing public headers"
