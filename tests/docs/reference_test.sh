#!/usr/bin/env bash
# The pages of the reference are what the program and its protos say. With --update they are made anew.
set -euo pipefail
write=$1 source=$2 status=0
descriptors=$(mktemp)
trap 'rm -f "$descriptors"' EXIT
(cd "$source/proto" && protoc -I . --include_imports --include_source_info -o "$descriptors" tidemark/v1/*.proto)
for page in settings metrics messages; do
  made=$("$write" "$page" "$descriptors")
  file=$source/docs/reference/$page.md
  if [[ ${3:-} == --update ]]; then
    printf '%s\n' "$made" >"$file"
  elif ! diff <(printf '%s\n' "$made") "$file"; then
    status=1
  fi
done
((status == 0)) || echo "FAILED: docs/reference is not what the code says: ./dev docs --reference" >&2
exit "$status"
