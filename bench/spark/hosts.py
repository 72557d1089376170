"""Two hosts on this machine for the benchmarks of waits. They are network namespaces on a bridge, with one processor
each. This process and its children get nearly all processor time that they ask for.

A third host, the hub, runs masters and drivers. The network of the machine itself does not change. Needs root.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

import cluster

NETWORK = "10.77.0"
HUB = f"{NETWORK}.1"
STARTED_SECONDS = 60
SHARES = 20_000  # of the processors, compared with 1,024 of other programs
# At this bandwidth, only applications with large shuffles wait for the network.
USUAL_RATE = "400mbit"


def must(*words):
    return cluster.must([str(word) for word in words])


class Host:
    def __init__(self, number, namespace, processor):
        self.number = number
        self.namespace = namespace
        self.processor = processor
        self.address = f"{NETWORK}.{number + 1}"
        self.port = f"to{number}"  # on the side of the hub

    def within(self, *words):
        """Returns the command with a prefix that runs it on the processor of this host."""
        return ["ip", "netns", "exec", self.namespace, "taskset", "-c", str(self.processor), *map(str, words)]


class Hosts:
    """Creates the hosts on entry; on exit, removes them and ends their processes."""

    def __init__(self):
        if os.geteuid() != 0:
            raise SystemExit("hosts are network namespaces: run this as root")
        prefix = f"tidemark{os.getpid()}"
        self.hub = f"{prefix}hub"
        processors = sorted(os.sched_getaffinity(0))
        self.hosts = [Host(number, f"{prefix}h{number}", processors[(number - 1) % len(processors)])
                      for number in (1, 2)]
        self.processes = []

    def within_hub(self, *words):
        return ["ip", "netns", "exec", self.hub, *map(str, words)]

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *exception):
        self.remove()

    def make(self):
        self.group = cluster.measure.control_group("cpu")
        (self.group / "cpu.shares").write_text(str(SHARES))
        (self.group / "cgroup.procs").write_text(str(os.getpid()))
        must("ip", "netns", "add", self.hub)
        must(*self.within_hub("ip", "link", "set", "lo", "up"))
        must(*self.within_hub("ip", "link", "add", "bridge", "type", "bridge"))
        must(*self.within_hub("ip", "address", "add", f"{HUB}/24", "dev", "bridge"))
        must(*self.within_hub("ip", "link", "set", "bridge", "up"))
        for host in self.hosts:
            must("ip", "netns", "add", host.namespace)
            must("ip", "-n", self.hub, "link", "add", host.port, "type", "veth", "peer", "name", "eth0", "netns",
                 host.namespace)
            must("ip", "-n", self.hub, "link", "set", host.port, "master", "bridge", "up")
            must("ip", "-n", host.namespace, "address", "add", f"{host.address}/24", "dev", "eth0")
            must("ip", "-n", host.namespace, "link", "set", "lo", "up")
            must("ip", "-n", host.namespace, "link", "set", "eth0", "up")
            self.limit(host, USUAL_RATE)

    def limit(self, host, rate):
        """Limits the incoming bandwidth of a host."""
        must("tc", "-n", self.hub, "qdisc", "replace", "dev", host.port, "root", "tbf", "rate", rate, "burst", "64kb",
             "latency", "400ms")

    def start(self, command, log, **options):
        """Starts a process, which is ended on exit together with its children."""
        with open(log, "w") as said:
            process = subprocess.Popen(command, stderr=said, stdin=options.pop("stdin", subprocess.DEVNULL),
                                       stdout=options.pop("stdout", said), start_new_session=True, **options)
        self.processes.append(process)
        return process

    def end(self, process):
        cluster.measure.end_group(process)
        self.processes.remove(process)

    def remove(self):
        for process in reversed(self.processes):
            cluster.measure.end_group(process)
        for namespace in (self.hub, *(host.namespace for host in self.hosts)):
            # Ends remaining processes, such as executors that outlived their worker.
            left = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True).stdout
            for process in left.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
            subprocess.run(["ip", "netns", "delete", namespace], capture_output=True)
        with contextlib.suppress(AttributeError, OSError):
            (self.group.parent / "cgroup.procs").write_text(str(os.getpid()))
            self.group.rmdir()


class Standalone:
    """Spark's standalone cluster manager at the hub, and a worker with `slots` slots on each host.

    `disks` contains a folder for the shuffle files of each host.
    """

    def __init__(self, spark, hosts, slots, disks):
        self.spark, self.hosts, self.slots, self.disks = spark, hosts, slots, disks
        self.processes = []
        self.address = f"spark://{HUB}:7077"

    def __enter__(self):
        log = self.spark.folder / "manager.log"
        self.start(self.hosts.within_hub(), log, HUB, "master.Master", "--host", HUB, "--port", "7077", "--webui-port",
                   "8080")
        wait_until(log, "Starting Spark master")
        for host, disk in zip(self.hosts.hosts, self.disks):
            log = self.spark.folder / f"worker{host.number}.log"
            self.start(host.within(), log, host.address, "worker.Worker", "--host", host.address, "--cores", self.slots,
                       "--memory", "2g", "--webui-port", "8081", "--work-dir",
                       self.spark.folder / f"work{host.number}", self.address, disk=disk)
            wait_until(log, "Successfully registered with master")
        return self

    def __exit__(self, *exception):
        for process in reversed(self.processes):
            self.hosts.end(process)

    def start(self, within, log, address, name, *words, disk=None):
        environment = {**self.spark.environment(), "SPARK_LOCAL_IP": address,
                       **({"SPARK_LOCAL_DIRS": str(disk)} if disk else {})}
        command = [*within, self.spark.home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *words]
        self.processes.append(self.hosts.start([str(word) for word in command], log, env=environment,
                                               cwd=self.spark.folder))


def wait_until(log, text):
    deadline = time.monotonic() + STARTED_SECONDS
    while time.monotonic() < deadline:
        if text in pathlib.Path(log).read_text():
            return
        time.sleep(0.2)
    raise SystemExit(f"{log} does not contain {text}:\n{pathlib.Path(log).read_text()[-3000:]}")
