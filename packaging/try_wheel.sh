#!/usr/bin/env bash
# Installs the wheel as a new user does, without root, on bare systems that have only Python, and runs its demo there.
#
#   packaging/try_wheel.sh WHEEL [RELEASE...]
#
# RELEASE is a release of Debian (default: bullseye, bookworm and trixie, with glibc 2.31, 2.36 and 2.41). Needs root and debootstrap, and uses apt's mirror or $MIRROR.
# Prints the time to the first bar. The systems are below $WORK (default: a temporary directory); KEEP=1 keeps them.
set -euo pipefail
wheel=$(realpath "$1")
releases=("${@:2}")
((${#releases[@]})) || releases=(bullseye bookworm trixie)
work=${WORK:-$(mktemp -d)}
trap '[[ ${KEEP:-} ]] || rm -rf "$work"' EXIT

mirror() {
  # shellcheck disable=SC2016  # apt-get's
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | head -n 1
}
fail() { echo "FAILED: $*" >&2; exit 1; }

for release in "${releases[@]}"; do
  root=$work/$release
  [[ -x $root/usr/bin/python3 ]] || debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates \
    "$release" "$root" "${MIRROR:-$(mirror)}" >"$work/$release.log"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  cp "$wheel" "$root/tmp/"
  # shellcheck disable=SC2016  # the inner shell's
  unshare --mount --pid --fork bash -c '
    mount -t proc proc "$1/proc"
    exec chroot --userspec=nobody:nogroup "$1" env -i HOME=/tmp/home PIP_CERT=/etc/ssl/certs/ca-certificates.crt LC_ALL=C.UTF-8 PATH=/usr/bin:/bin bash -euo pipefail -c "
      python3 -m venv /tmp/home/venv
      /tmp/home/venv/bin/pip install -q --disable-pip-version-check /tmp/tidemark-*.whl
      export PATH=/tmp/home/venv/bin:\$PATH
      tidemark --version
      python -c \"import tidemark; print(tidemark.__version__)\"
      begin=\$(date +%s.%N)
      tidemark demo -o plain 2>&1 | while read -r line; do
        echo \"\$(date +%s.%N) \$begin \$line\"
      done"
  ' try "$root" >"$work/$release.said" 2>&1 || fail "$release: $(tail -n 5 "$work/$release.said")"
  awk -v release="$release" '
    NF < 4 && /^tidemark /  {print release ": " $0}
    /two-path/ && !bar {bar = 1; printf "%s: first bar after %.1f s\n", release, $1 - $2}
    /succeeded/ {printf "%s: end after %.1f s\n", release, $1 - $2}' "$work/$release.said"
  grep -q succeeded "$work/$release.said" || fail "$release: $(tail -n 5 "$work/$release.said")"
done
