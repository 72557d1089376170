#!/usr/bin/env bash
# Compares docs/reference with the program and its protos. --update rewrites the pages. docs/reference/settings.txt
# has one line per setting: the key, a tab, the text.
set -euo pipefail
write=$1 source=$2 status=0
descriptors=$(mktemp)
trap 'rm -f "$descriptors"' EXIT
(cd "$source/proto" && protoc -I . --include_imports --include_source_info -o "$descriptors" tidemark/v1/*.proto)

# Appends the column of descriptions to the table of settings. Fails if a setting has none, or a description no setting.
describe() {
  awk -F '\t' '
    NR == FNR {text[$1] = $2; next}
    /^\| setting / {print $0 " meaning |"; next}
    /^\|---/ {print $0 "---|"; next}
    match($0, /^\| `[^`]+`/) {
      key = substr($0, 4, RLENGTH - 4)
      if (!(key in text)) {print "docs/reference/settings.txt lacks " key >"/dev/stderr"; faults++}
      print $0 " " text[key] " |"
      delete text[key]
      next
    }
    {print}
    END {
      for (key in text) {print "docs/reference/settings.txt has an unknown setting: " key >"/dev/stderr"; faults++}
      exit faults > 0
    }' "$source/docs/reference/settings.txt" -
}

for page in settings metrics messages; do
  made=$("$write" "$page" "$descriptors" | if [[ $page == settings ]]; then describe; else cat; fi)
  file=$source/docs/reference/$page.md
  if [[ ${3:-} == --update ]]; then
    printf '%s\n' "$made" >"$file"
  elif ! diff <(printf '%s\n' "$made") "$file"; then
    status=1
  fi
done
((status == 0)) || echo "FAILED: docs/reference differs from the code; run ./dev docs --reference" >&2
exit "$status"
