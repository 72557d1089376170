#!/usr/bin/env bash
# Checks that the types in the page equal the OpenAPI document, and that the page compiles with them.
set -euo pipefail
node=$1 write_openapi=$2 page=$3
api=$(mktemp)
trap 'rm -f "$api"' EXIT
"$write_openapi" >"$api"
diff -u "$page/src/messages.ts" <("$node" "$page/types.mjs" "$api") || {
  echo "messages.ts is outdated; run tidemark_write_openapi > api.json; node types.mjs api.json > src/messages.ts" >&2
  exit 1
}
[ -e "$page/node_modules/typescript" ] || exit 77
cd "$page" && "$node" node_modules/typescript/bin/tsc --noEmit
