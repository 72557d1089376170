# shellcheck shell=bash
# Makes an environment with the tools of these tests and sets `python` to its interpreter, for scripts that source this
# file. $1 is the folder of the environment, which later runs reuse. Two tests may run at a time.

skip() { echo "SKIPPED: $*"; exit 77; }

make_environment() {
  local folder=$1 log lock
  local -r tools=(build setuptools grpcio-tools pytest nbclient ipykernel)
  python=$folder/environment/bin/python
  mkdir -p "$folder"
  log=$folder/log
  exec {lock}>"$folder/lock"
  flock "$lock"
  if ! cmp -s "$folder/environment/tools" <(echo "${tools[@]}"); then
    rm -rf "$folder/environment"
    /usr/bin/python3 -m venv "$folder/environment" >"$log" 2>&1 ||
      skip "no virtual environment: $(tail -n 1 "$log"). On Debian: ./dev setup, or apt-get install python3-venv"
    "$python" -m pip install -q --disable-pip-version-check "${tools[@]}" >"$log" 2>&1 ||
      skip "pip cannot install ${tools[*]}: $(tail -n 1 "$log")"
    echo "${tools[@]}" >"$folder/environment/tools"
  fi
  exec {lock}>&-
}
