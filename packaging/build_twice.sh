#!/usr/bin/env bash
# Checks that equal sources give equal packages: builds the packages of HEAD twice, without a cache, in folders of
# different depth, and compares them byte by byte.
#
#   packaging/build_twice.sh [FOLDER]
#
# Needs two release builds and some gigabytes below FOLDER (default: a temporary one). KEEP=1 keeps them.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(realpath "${1:-$(mktemp -d)}")
one=$work/one two=$work/deeper/in/another/two
finish() { [[ ${KEEP:-} ]] || rm -rf "$one" "$work/deeper" "$work/differ"; }
trap finish EXIT
unpack() { [[ $1 == *.whl ]] && python3 -m zipfile -e "$1" "$2" || dpkg-deb --raw-extract "$1" "$2"; }

for folder in "$one" "$two"; do
  mkdir -p "$(dirname "$folder")"
  git clone -q "$source" "$folder"
  echo "== building in $folder ($SECONDS s)"
  (cd "$folder" && CCACHE_DISABLE=1 ./dev packages)
done

differing=0
for package in "$one"/build/deb/*.{deb,whl}; do
  name=$(basename "$package")
  if cmp -s "$package" "$two/build/deb/$name"; then
    echo "same: $(sha256sum "$package" | cut -d ' ' -f 1)  $name"
    continue
  fi
  differing=1
  echo "DIFFERENT: $name"
  mkdir -p "$work/differ/$name"
  unpack "$package" "$work/differ/$name/one"
  unpack "$two/build/deb/$name" "$work/differ/$name/two"
  (cd "$work/differ/$name" && diff -rq one two) || true
done
echo "== $SECONDS s"
((differing == 0))
