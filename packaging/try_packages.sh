#!/usr/bin/env bash
# Tests the packages as a new user meets them, on a Debian 12 with only the history of a master of version 0.1. Boots
# it, installs the packages, and checks the first job's bar and its estimate, the service, the page, a hanging master,
# an upgrade with its data, and a purge.
#
#   packaging/try_packages.sh NEW_DEBS [OLD_DEBS]
#
# The arguments are directories with packages; the upgrade starts from the older ones. Needs root and debootstrap, and
# uses apt's mirror or $MIRROR. The system is below $WORK (default: a temporary directory); KEEP=1 keeps it. Without
# the right to create cgroups, limits of memory and tasks are set but not enforced.
set -euo pipefail
new=$(realpath "$1")
old=$(realpath "${2:-$1}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${WORK:-$(mktemp -d)}
root=$work/root
init=

say() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
finish() {
  [[ -z $init ]] || kill -KILL "$init" 2>/dev/null || true
  wait 2>/dev/null || true
  [[ ${KEEP:-} ]] || { umount -R "$root/dev" 2>/dev/null || true; rm -rf "$root"; }
}
trap finish EXIT

# Runs a command in the system, before it is booted and while it runs.
offline() { chroot "$root" env DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
inside() { nsenter -t "$init" -m -u -i -n -p -r -w env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
mirror() {
  # shellcheck disable=SC2016  # apt-get's
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' 'Component: main' | head -n 1
}
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN {printf "%.1f", b - a}'; }
wait_for() {
  local until=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < until)) || fail "timed out waiting for: $*"
    sleep 0.5
  done
}

if [[ ! -x $root/usr/bin/systemctl ]]; then
  say "a bare Debian 12"
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,curl,ca-certificates bookworm "$root" \
    "${MIRROR:-$(mirror)}" >"$work/debootstrap.log"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/debs/old" "$root/debs/new"
cp "$old"/tidemark_*.deb "$root/debs/old/tidemark.deb"
cp "$new"/tidemark_*.deb "$root/debs/new/tidemark.deb"
cp "$new"/python3-tidemark_*.deb "$root/debs/new/python3-tidemark.deb"

# Creates the state of version 0.1, whose unit had the same directory.
mkdir -p "$root/var/lib/tidemark"
python3 - "$here/../tests/data/history-0.1.sql" "$root/var/lib/tidemark/history.sqlite" <<'LOAD'
import pathlib, sqlite3, sys
sqlite3.connect(sys.argv[2]).executescript(pathlib.Path(sys.argv[1]).read_text())
LOAD

say "fetch what the packages need"
begin=$(now)
offline apt-get update -q >"$work/apt.log"
for packages in /debs/old/tidemark.deb "/debs/new/tidemark.deb /debs/new/python3-tidemark.deb"; do
  # shellcheck disable=SC2086  # one word each
  offline apt-get install -y -q --no-install-recommends --download-only $packages >>"$work/apt.log"
done
fetched=$(since "$begin")

say "boot"
# shellcheck disable=SC2016  # the inner shell's variables
unshare --mount --uts --ipc --net --pid --fork --kill-child bash -c '
  mount --make-rprivate /
  mount --bind "$1" "$1"
  cd "$1"
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount -t tmpfs tmpfs run
  mount -t tmpfs tmpfs dev
  for node in null zero full random urandom tty; do touch dev/$node; mount --bind /dev/$node dev/$node; done
  ln -s /proc/self/fd dev/fd
  mkdir dev/pts
  mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  mkdir -p sys/fs/cgroup
  mount -t tmpfs tmpfs sys/fs/cgroup 2>/dev/null || true
  mount -t cgroup2 cgroup2 sys/fs/cgroup 2>/dev/null || true
  exec chroot . env -i container=other /lib/systemd/systemd --system --log-target=console --show-status=no
' boot "$root" >"$work/boot.log" 2>&1 </dev/null &
outer=$!
wait_for 10 pgrep -P "$outer"
init=$(pgrep -P "$outer")
wait_for 60 inside systemctl is-active multi-user.target

say "apt install, and the first job"
begin=$(now)
inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
  /debs/old/tidemark.deb >>"$work/apt.log"
wait_for 30 inside systemctl is-active tidemark
installed=$(since "$begin")
bar=
# shellcheck disable=SC2094
while read -r line; do
  [[ -n $bar || $line != \[* ]] || bar=$(since "$begin")
  echo "$line" >>"$work/first"
done < <(inside tidemark run example synthetic --param n=2000 complexity=2 sigma=1.4 --slots 1 --reducers 2 \
  --job-id first --master 127.0.0.1:7411 -o plain 2>&1)
[[ -n $bar ]] || fail "the first job shows no bar: $(cat "$work/first")"
grep -E '^\[|succeeded' "$work/first" | tail -n 3
echo "fetching: $fetched s; from apt install to a running service: $installed s, to the first bar: $bar s," \
  "to the end of the first job: $(since "$begin") s"
has_succeeded() { inside tidemark get jobs | grep "^$1 .*succeeded"; }
wait_for 10 has_succeeded first
inside tidemark get jobs

say "the history of three runs of 0.1"
runs() {
  python3 -c 'import sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(" ".join(row[0] for row in connection.execute("SELECT job_id FROM job ORDER BY ended_at")))' \
    "$root/var/lib/private/tidemark/history.sqlite"
}
all_are_kept() { [[ $(runs) == "synthetic-1 synthetic-2 synthetic-3 first" ]]; }
wait_for 10 all_are_kept
runs
grep -E '^\[.*left' "$work/first" | head -n 1
! grep -E '^\[.*left' "$work/first" | head -n 1 | grep -q 'a guess' || fail "the forecast of the first job is a guess despite three past runs"

say "a master that hangs"
mkdir -p "$root/etc/systemd/system/tidemark.service.d"
printf '[Service]\nWatchdogSec=4\n' >"$root/etc/systemd/system/tidemark.service.d/quick.conf"
inside systemctl daemon-reload
inside systemctl restart tidemark
pid=$(inside systemctl show tidemark -p MainPID --value)
inside sh -c "kill -STOP $pid"
wait_for 30 bash -c "[[ \$(nsenter -t $init -m -p -r systemctl show tidemark -p MainPID --value) != $pid ]]"
wait_for 30 inside systemctl is-active tidemark
inside tidemark get jobs | grep -q first || fail "the job is lost"

say "upgrade"
echo '# mine' >>"$root/etc/tidemark/tidemark.yaml"
inside dpkg-query --show tidemark
# Also treats packages of an equal version as an upgrade.
inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends --reinstall --allow-downgrades \
  -o Dpkg::Options::=--force-confold /debs/new/tidemark.deb 2>&1 | tail -n 3
inside dpkg-query --show tidemark
wait_for 30 inside systemctl is-active tidemark
inside tidemark get jobs | grep -q 'first .*succeeded' || fail "the upgrade has lost the job"
inside tidemark run example synthetic --param n=2000 complexity=2 sigma=1.4 --slots 1 --reducers 2 --job-id second \
  --master 127.0.0.1:7411 -o plain 2>&1 | grep -E '^\[|succeeded' | tail -n 2
grep -q '# mine' "$root/etc/tidemark/tidemark.yaml" || fail "the upgrade has overwritten the settings"

say "what is installed"
inside tidemark version
for file in /usr/share/bash-completion/completions/tidemark /usr/share/zsh/vendor-completions/_tidemark \
  /usr/share/fish/vendor_completions.d/tidemark.fish /etc/tidemark/tidemark.yaml \
  /usr/share/tidemark/proto/tidemark/v1/job.proto /usr/share/tidemark/prometheus/tidemark.rules.yaml \
  /usr/share/tidemark/grafana/tidemark.json; do
  offline test -s "$file" || fail "$file is not installed"
done
offline bash -c '. /usr/share/bash-completion/completions/tidemark; complete -p tidemark'
offline systemd-analyze verify tidemark.service
read -ra engines < <(sed -n "s/^set(TIDEMARK_ENGINES \(.*\))$/\1/p" "$here/../CMakeLists.txt")
for engine in "${engines[@]}"; do
  said=$(inside tidemark run "$engine" -- true 2>&1 || true)
  [[ $said != *"--jar is missing"* ]] || fail "run $engine does not find its connector: $said"
done
inside systemctl show tidemark -p ActiveState,MemoryMax,TasksMax,WatchdogUSec,ExecStartPre --no-pager | cut -c1-200

say "the page, and the package for Python"
printf 'web:\n  listen: 127.0.0.1:7480\n' >>"$root/etc/tidemark/tidemark.yaml"
inside systemctl restart tidemark
inside curl -sf --compressed http://127.0.0.1:7480/ | grep -o '<title>.*</title>' || fail "there is no page"
inside curl -sf http://127.0.0.1:7480/api/jobs | grep -q first || fail "the page's API does not show the job"
inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
  /debs/new/python3-tidemark.deb >>"$work/apt.log"
inside python3 -c 'import tidemark
with tidemark.Client() as client:
    print(tidemark.__version__, [(job.job_id, str(job.state)) for job in client.list()])' |
  grep first || fail "the package for Python does not show the job"

say "purge"
rm -r "$root/etc/systemd/system/tidemark.service.d"
inside env DEBIAN_FRONTEND=noninteractive dpkg --purge tidemark 2>&1 | tail -n 3
for left in /var/lib/tidemark /var/lib/private/tidemark /etc/tidemark /usr/bin/tidemark /lib/systemd/system/tidemark.service; do
  [[ ! -e $root$left ]] || fail "a purge leaves $left"
done
if inside systemctl is-active tidemark; then fail "a purge leaves the service"; fi
say "all checks passed"
