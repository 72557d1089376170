#!/usr/bin/env bash
# The types in the page are those of the OpenAPI document, and the page keeps to them.
set -euo pipefail
node=$1 write_openapi=$2 page=$3
api=$(mktemp)
trap 'rm -f "$api"' EXIT
"$write_openapi" >"$api"
diff -u "$page/src/messages.ts" <("$node" "$page/types.mjs" "$api") || {
  echo "make it anew: tidemark_write_openapi > api.json; node types.mjs api.json > src/messages.ts" >&2
  exit 1
}
[ -e "$page/node_modules/typescript" ] || exit 77
cd "$page" && "$node" node_modules/typescript/bin/tsc --noEmit
