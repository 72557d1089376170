#!/usr/bin/env bash
# include_rules_test.sh ROOT: every #include of ROOT's C++ files must be allowed by the folder table
# of ROOT/docs/ARCHITECTURE.md. A file belongs to the longest folder of the table that it is below.
# System headers are always on the compiler's path, so link targets alone do not show their use.
set -euo pipefail
cd "$1"

mapfile -t cpp_files < <(
  find . \( -name build -o -name .cache -o -name .git -o -name broken \) -prune -o \
    -type f \( -name '*.h' -o -name '*.cc' \) -printf '%P\n' | sort)
((${#cpp_files[@]})) || { echo "no C++ files below $1"; exit 1; }

awk '
  # Patterns of the outside world in an #include.
  function world(header) {
    if (header ~ /^grpc|\.grpc\.pb\.h$/) return "gRPC"
    if (header ~ /^google\/|\.pb\.h$/) return "protobuf"
    if (header ~ /^(thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier)$/ ||
        header ~ /^(stop_token|pthread\.h|absl\/synchronization\/.*)$/) return "threads"
    if (header ~ /^(chrono|ctime|time\.h|sys\/time\.h|absl\/time\/clock\.h)$/) return "clock"
    if (header ~ /^(cstdio|fstream|iostream|filesystem|fcntl\.h|unistd\.h|sys\/.*)$/) return "files"
    return ""
  }
  function folder_of(file,   folder, best) {
    best = ""
    for (folder in allowed)
      if (index(file, folder) == 1 && length(folder) > length(best)) best = folder
    return best
  }
  function fault(what) { print FILENAME ":" FNR ": " what; faults++ }

  # Reads the table: | `folder/` | contents | `folder/`, `folder/`, gRPC |
  FILENAME == "docs/ARCHITECTURE.md" {
    if (split($0, cell, "|") == 5 && match(cell[2], /`[^`]+\/`/)) {
      folder = substr(cell[2], RSTART + 1, RLENGTH - 2)
      allowed[folder] = cell[4]
      rows++
    }
    next
  }
  FNR == 1 {
    home = folder_of(FILENAME)
    if (home == "") fault("is in no folder of docs/ARCHITECTURE.md")
  }
  home == "" || !/^[ \t]*#[ \t]*include[ \t]*[<"]/ { next }
  {
    header = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*[<"]/, "", header)
    sub(/[>"].*/, "", header)
    need = world(header)
    if (need == "") {
      target = header in exists ? header : public[header]
      if (target == "" || (need = folder_of(target)) == home) next
      need = "`" need "`"
    }
    if (index(allowed[home], need) == 0 && allowed[home] !~ /everything/)
      fault(home " may not include " header " (" need ")")
  }
  BEGIN {
    for (i = 2; i < ARGC; ++i) {
      exists[ARGV[i]] = 1
      if (match(ARGV[i], /\/include\//)) public[substr(ARGV[i], RSTART + RLENGTH)] = ARGV[i]
    }
  }
  END {
    if (rows == 0) { print "docs/ARCHITECTURE.md has no folder table"; faults++ }
    exit faults > 0
  }' docs/ARCHITECTURE.md "${cpp_files[@]}"
