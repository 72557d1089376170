#!/usr/bin/env bash
# Writes the types of the OpenAPI document as TYPES/messages.ts, and checks that the page compiles with them.
set -euo pipefail
node=$1 write_openapi=$2 page=$3 types=$4
mkdir -p "$types"
"$write_openapi" >"$types/api.json"
"$node" "$page/types.mjs" "$types/api.json" >"$types/messages.ts"
[ -e "$page/node_modules/typescript" ] || exit 77
printf '{"extends": "%s/tsconfig.json", "compilerOptions": {"rootDirs": ["%s/src", "."]}, "include": ["%s/src", "."]}\n' \
  "$page" "$page" "$page" >"$types/tsconfig.json"
"$node" "$page/node_modules/typescript/bin/tsc" --noEmit --project "$types"
