"""The program `tidemark`, which a wheel for Linux contains, and a master in a process of its own.

The program computes answers that need no connection, and renders sentences. Its JSON is the interface.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import importlib.metadata
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from typing import Any, Deque, Dict, List, Mapping, Optional, Sequence, Type

from tidemark import errors

# The exit codes of cli/master_call.h that have a class of errors.
_ERRORS: Dict[int, Type[errors.TidemarkError]] = {
    2: errors.RefusedError,
    3: errors.UnreachableError,
    5: errors.NotFoundError,
    6: errors.DeniedError,
}
_STARTS_WITHIN_S = 30.0
_ENDS_WITHIN_S = 5.0
_LINES_MAX = 20


@functools.lru_cache(maxsize=None)
def program() -> str:
    """Returns the path of the program: TIDEMARK_PROGRAM, the program of this package, or the one in PATH.

    Raises FileNotFoundError if there is none.
    """
    given = os.environ.get("TIDEMARK_PROGRAM", "")
    if given:
        return given
    for file in importlib.metadata.files("tidemark") or ():
        if file.name == "tidemark" and file.parent.name == "bin":
            return str(pathlib.Path(str(file.locate())).resolve())
    found = shutil.which("tidemark")
    if found is None:
        raise FileNotFoundError(
            "this package has no program for this system; install Tidemark on Linux (docs/install.md), or set "
            "TIDEMARK_PROGRAM to its path"
        )
    return os.path.realpath(found)


def jar() -> str:
    """Returns the path of Spark's connector beside the program, or an empty text if there is none."""
    try:
        prefix = pathlib.Path(program()).parent.parent
    except FileNotFoundError:
        return ""
    file = prefix / "share" / "tidemark" / "jars" / "tidemark-spark.jar"
    return str(file) if file.is_file() else ""


def run(*words: str, timeout_s: Optional[float] = None) -> str:
    """Runs the program and returns its standard output. Raises a TidemarkError with its message if it fails.

    Raises subprocess.TimeoutExpired after `timeout_s`.
    """
    ended = subprocess.run(
        [program(), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=timeout_s,
    )
    if ended.returncode == 0:
        return ended.stdout
    said = ended.stderr.strip().splitlines() or [f"the program exited with status {ended.returncode}"]
    message = "\n".join(line[len("tidemark: ") :] if line.startswith("tidemark: ") else line for line in said)
    raise _ERRORS.get(ended.returncode, errors.TidemarkError)(message)


def answers(command: str, *words: str, timeout_s: Optional[float] = None) -> List[Any]:
    """Runs a command of the program and returns the values in its JSON."""
    found = json.loads(run(command, "-o", "json", *words, timeout_s=timeout_s))
    return found if isinstance(found, list) else [found]


def options(given: Mapping[str, Any]) -> List[str]:
    """Returns options of the program: {"tls_ca": "ca.crt"} becomes --tls-ca ca.crt. Omits None and empty lists.

    The elements of a list are separated by commas, and the items of a mapping become KEY=VALUE.

    Raises ValueError for a token.
    """
    if given.get("token") is not None:
        raise ValueError("pass token_file; other users of this host can read a token on a command line")
    words: List[str] = []
    for name, value in given.items():
        if value is None or value is False or (isinstance(value, (list, tuple, dict)) and not value):
            continue
        words.append("--" + name.replace("_", "-"))
        if isinstance(value, Mapping):
            words += [f"{key}={item}" for key, item in value.items()]
        elif isinstance(value, (list, tuple)):
            words.append(",".join(map(str, value)))
        elif value is not True:
            words.append(str(value))
    return words


class Master:
    """A master on the loopback interface, whose process ends with this one, since that closes its standard input."""

    def __init__(self, listen: str = "127.0.0.1:0", options: Sequence[str] = ()) -> None:
        words = ["serve", "--listen", listen, "--end-with-stdin", "--set", "web.listen=127.0.0.1:0", *options]
        # A separate session keeps Ctrl-C of a terminal from the master.
        self._process = subprocess.Popen(
            [program(), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        self.address = ""
        self.page = ""
        self._lines: Deque[str] = collections.deque(maxlen=_LINES_MAX)
        self._listens = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        if not self._listens.wait(_STARTS_WITHIN_S) or not self.address:
            self.close()
            said = "\n".join(self._lines) or "it printed no message"
            raise errors.UnreachableError(f"the master of this process did not start: {said}")

    def is_running(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the master. Idempotent."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def leave(self) -> None:
        """Closes the copy of the pipe in a forked process, which would keep the master running."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._lines.append(line.strip())
            if "listening on " in line:
                self.address = line.rpartition("listening on ")[2].strip()
            elif "page at " in line:
                self.page = line.rpartition("page at ")[2].strip()
            # The line about the page follows that about the address.
            if self.address and ("page at " in line or "API at " in line):
                self._listens.set()
        self._listens.set()


_lock = threading.Lock()
_embedded: Optional[Master] = None


def embedded_master() -> Master:
    """Returns the master of this process. Starts it at the first call, and again if it has ended.

    The next one listens on the same address if possible, since connectors retry that address. Sets TIDEMARK_MASTER and
    TIDEMARK_TOKEN_FILE, so that all calls of this process and `!tidemark` in a notebook use that master. Other users
    of this host have no token. Past runs stay in the user's cache unless TIDEMARK_KEEP_RUNS is "0".
    """
    global _embedded
    with _lock:
        if _embedded is None or not _embedded.is_running():
            folder = _cache()
            _embedded = _successor(_embedded, folder)
            os.environ["TIDEMARK_MASTER"] = _embedded.address
            os.environ["TIDEMARK_TOKEN_FILE"] = str(folder / "token")
            is_seen = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
            if _embedded.page and is_seen:
                print(f"Tidemark's page: {_embedded.page} (it asks for the token in {folder / 'token'})", file=sys.stderr)
        return _embedded


def _successor(before: Optional[Master], folder: pathlib.Path) -> Master:
    if before is not None:
        before.close()
    tokens = f"tokens={folder / 'tokens'}"
    options = [tokens, *_data_options(folder)]
    # Another process may use the port or the data directory.
    for listen in dict.fromkeys((before.address if before else "127.0.0.1:0", "127.0.0.1:0")):
        with contextlib.suppress(errors.UnreachableError):
            return Master(listen, options)
    return Master(options=[tokens])


def _data_options(folder: pathlib.Path) -> List[str]:
    """Returns the options of a data directory, or none if that is switched off or unusable."""
    runs = folder / "runs"
    try:
        if os.environ.get("TIDEMARK_KEEP_RUNS", "") != "0":
            runs.mkdir(mode=0o700, exist_ok=True)
            return ["limits.jobs=100", "history.bytes=64MiB", "--data-dir", str(runs)]
    except OSError:
        pass
    return []


def _cache() -> pathlib.Path:
    """Returns the user's folder for a token and past runs, or a temporary folder if it is another user's or not writable."""
    try:
        cache = os.environ.get("XDG_CACHE_HOME", "") or pathlib.Path.home() / ".cache"
        folder = pathlib.Path(cache, "tidemark")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            raise PermissionError(folder)  # Its owner could replace the token.
        _keep_token(folder)
    except (OSError, RuntimeError):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-"))
        _keep_token(folder)
    return folder


def _keep_token(folder: pathlib.Path) -> None:
    """Makes sure that the files `token`, for clients, and `tokens`, for masters, contain the user's token."""
    token = folder / "token"
    if not token.exists():
        made = _private_file(folder, secrets.token_urlsafe(32))
        try:
            with contextlib.suppress(FileExistsError):  # Another process was faster.
                os.link(made, token)
            os.unlink(made)
        except OSError:  # The file system has no hard links.
            os.replace(made, token)
    os.replace(_private_file(folder, f"admin * {token.read_text('utf-8').strip()}"), folder / "tokens")


def _private_file(folder: pathlib.Path, line: str) -> str:
    opened, name = tempfile.mkstemp(dir=folder)
    with open(opened, "w", encoding="utf-8") as file:
        file.write(line + "\n")
    return name


def _leave_after_fork() -> None:
    global _embedded, _lock
    _lock = threading.Lock()
    if _embedded is not None:
        _embedded.leave()
    _embedded = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_after_fork)


def last_address() -> str:
    """Returns the address of the master of this process, which may have ended, or an empty text."""
    return _embedded.address if _embedded is not None else ""
