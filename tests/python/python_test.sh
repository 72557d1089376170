#!/usr/bin/env bash
# Builds the Python package as source and wheel, installs the wheel in its own environment, and tests it
# there. $1 is the tidemark binary. $2 is a folder whose environment later runs reuse.
set -euo pipefail
tidemark=$1
folder=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/python/environment.sh"
make_environment "$folder"

cd "$folder"
log=$folder/log
# Copies the sources, so that no file is written into the source tree.
rm -rf source dist
cp -rL "$root/python" source
rm -rf source/build source/*.egg-info
"$python" -m build --no-isolation -o dist source >"$log" 2>&1 || { cat "$log"; exit 1; }
"$python" -m pip install -q --disable-pip-version-check --no-index --force-reinstall --no-deps dist/*.whl
"$python" -m pip check

# Runs outside of the source folder, so that the installed package is tested.
TIDEMARK=$tidemark TIDEMARK_PROGRAM=$tidemark "$python" -m pytest -q -p no:cacheprovider --import-mode=importlib \
  --rootdir "$root/tests/python" "$root/tests/python"
