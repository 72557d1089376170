#!/usr/bin/env bash
# What a stranger sees of the packages, on a Debian 12 that has nothing: installs them, boots systemd, and looks
# at the service, its page, a job, an upgrade with its data, a hanging master, and what a purge leaves.
#
#   packaging/try_packages.sh NEW_DEBS [OLD_DEBS]
#
# Directories with the packages; with the older ones the upgrade is from those. As root, with debootstrap and a
# mirror. The system is below $WORK (default: a temporary directory) and is left there with KEEP=1.
set -euo pipefail
new=$(realpath "$1")
old=$(realpath "${2:-$1}")
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

# Within the system, before it is booted and while it runs.
offline() { chroot "$root" env DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
inside() { nsenter -t "$init" -m -u -i -n -p -r -w env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
wait_for() {
  local until=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < until)) || fail "waited in vain for: $*"
    sleep 0.5
  done
}

if [[ ! -x $root/usr/bin/systemctl ]]; then
  say "a bare Debian 12"
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,curl,ca-certificates bookworm "$root" \
    "${MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.log"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/debs/old" "$root/debs/new"
cp "$old"/tidemark_*.deb "$root/debs/old/"
cp "$new"/tidemark_*.deb "$new"/python3-tidemark_*.deb "$root/debs/new/"

say "apt install"
begin=$SECONDS
offline apt-get update -q
offline apt-get install -y -q --no-install-recommends /debs/old/tidemark_*.deb
offline apt-get install -y -q --no-install-recommends /debs/new/python3-tidemark_*.deb
offline tidemark version
for file in /usr/share/bash-completion/completions/tidemark /usr/share/man/man1/tidemark.1.gz \
  /etc/tidemark/tidemark.yaml /usr/share/tidemark/proto/tidemark/v1/job.proto; do
  # minbase leaves out manuals
  offline test -e "$file" || [[ $file == */man/* ]] || fail "$file is not installed"
done
for engine in hadoop spark; do
  said=$(offline tidemark run $engine -- true 2>&1 || true)
  [[ $said != *"--jar is missing"* ]] || fail "run $engine does not find its connector: $said"
done

say "boot"
printf 'web:\n  listen: 127.0.0.1:7480\n' >>"$root/etc/tidemark/tidemark.yaml"
mkdir -p "$root/etc/systemd/system/tidemark.service.d"
printf '[Service]\nWatchdogSec=4\n' >"$root/etc/systemd/system/tidemark.service.d/quick.conf"
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
  mkdir -p sys/fs/cgroup
  mount -t tmpfs tmpfs sys/fs/cgroup 2>/dev/null || true
  mount -t cgroup2 cgroup2 sys/fs/cgroup 2>/dev/null || true
  exec chroot . env -i container=other /lib/systemd/systemd --system --log-target=console --show-status=no
' boot "$root" >"$work/boot.log" 2>&1 </dev/null &
outer=$!
wait_for 10 pgrep -P "$outer"
init=$(pgrep -P "$outer")
wait_for 60 inside systemctl is-active multi-user.target
wait_for 30 inside systemctl is-active tidemark
inside systemctl show tidemark -p ActiveState,MemoryMax,TasksMax,WatchdogUSec,ExecStartPre --no-pager | cut -c1-200

say "the first job"
inside tidemark run example synthetic --param n=2000 complexity=2 sigma=1.4 --slots 1 --reducers 2 --job-id first \
  --master 127.0.0.1:7411 -o plain 2>&1 | grep -E '^\[|succeeded' | tail -n 3
echo "from apt install to the first job's end: $((SECONDS - begin)) s"
inside tidemark get jobs | tee "$work/jobs"
grep -q 'first .*succeeded' "$work/jobs" || fail "the service does not know the job"
inside curl -sf http://127.0.0.1:7480/api/jobs | grep -q first || fail "the page's API does not show the job"

inside python3 -c 'import tidemark
with tidemark.Client() as client:
    print(tidemark.__version__, [(job.job_id, str(job.state)) for job in client.list()])' |
  grep first || fail "the package for Python does not show the job"

say "a master that hangs"
pid=$(inside systemctl show tidemark -p MainPID --value)
inside kill -STOP "$pid"
wait_for 30 bash -c "[[ \$(nsenter -t $init -m -p -r systemctl show tidemark -p MainPID --value) != $pid ]]"
wait_for 30 inside systemctl is-active tidemark
inside tidemark get jobs | grep -q first || fail "the job is lost"

say "upgrade"
inside env DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i /debs/new/tidemark_*.deb 2>&1 | tail -n 3
wait_for 30 inside systemctl is-active tidemark
inside tidemark get jobs | grep -q 'first .*succeeded' || fail "the upgrade has lost the job"
grep -q 7480 "$root/etc/tidemark/tidemark.yaml" || fail "the upgrade has overwritten the settings"

say "purge"
rm -r "$root/etc/systemd/system/tidemark.service.d"
inside env DEBIAN_FRONTEND=noninteractive dpkg --purge tidemark 2>&1 | tail -n 3
for left in /var/lib/tidemark /var/lib/private/tidemark /etc/tidemark /usr/bin/tidemark /lib/systemd/system/tidemark.service; do
  [[ ! -e $root$left ]] || fail "a purge leaves $left"
done
if inside systemctl is-active tidemark; then fail "a purge leaves the service"; fi
say "all is well"
