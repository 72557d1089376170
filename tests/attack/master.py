"""Runs the attacked `tidemark serve` on loopback, with TLS and tokens as the documentation recommends."""

import os
import pathlib
import resource
import socket
import ssl
import subprocess
import tempfile
import time

from http2 import Connection


def openssl(*arguments, folder):
    subprocess.run(("openssl",) + arguments, check=True, cwd=folder, capture_output=True)


def make_certificates(folder):
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj",
            "/CN=authority", folder=folder)
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")
    openssl("req", "-new", *key, "-keyout", "server.key", "-out", "server.csr", "-subj",
            "/CN=master", folder=folder)
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.crt",
            folder=folder)


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()


class Master:
    """A master that runs within a `with` block."""

    token = "token-of-the-good-job"
    timeout_s = 20

    def __init__(self, program, descriptors=4096, mutual_tls=False, metrics=False, page=False):
        self.directory = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.directory.name)
        make_certificates(folder)
        tokens = folder / "tokens"
        tokens.write_text(f"admin * {self.token}\n")
        for secret in (tokens, folder / "server.key"):
            secret.chmod(0o600)
        self.ca = str(folder / "ca.crt")
        self.client = (str(folder / "server.crt"), str(folder / "server.key")) if mutual_tls else ()
        settings = {"tls.certificate": folder / "server.crt", "tls.key": folder / "server.key",
                    "tokens": tokens}
        if mutual_tls:
            settings["tls.client_ca"] = folder / "ca.crt"
        if metrics:
            self.metrics = free_address()
            settings["metrics.listen"] = "%s:%d" % self.metrics
        if page:
            self.page = free_address()
            settings["web.listen"] = "%s:%d" % self.page
        command = [program, "serve", "--listen", "127.0.0.1:0", "--data-dir", str(folder / "data")]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, stderr=log, preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_NOFILE, (descriptors, descriptors)))
        self.address = self._wait_for_address()

    def _wait_for_address(self):
        for _ in range(1200):
            for line in self.log.read_text().splitlines():
                if "listening on" in line:
                    host, port = line.split()[-1].rsplit(":", 1)
                    return host, int(port)
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError("the master did not start: " + self.log.read_text())

    def connect(self, host):
        return Connection(self.address, self.ca, host, *(self.client or (None, None)),
                          timeout=self.timeout_s)

    def page_context(self):
        """Returns the TLS context for connections to the page."""
        return ssl.create_default_context(cafile=self.ca)

    def memory_mb(self, what="VmRSS"):
        """Returns the current memory of the process, or its peak for VmHWM."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(what + ":"):
                return int(line.split()[1]) / 1024
        return float("inf")

    def cpu_s(self):
        words = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def lives(self):
        return self.process.poll() is None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.directory.cleanup()
