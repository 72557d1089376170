"""The address of the master and the credentials of a client.

They come from arguments or otherwise from the environment, like those of the command-line tool.
"""

from __future__ import annotations

import ipaddress
import os
import re
import urllib.parse
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import grpc

Path = Union[str, "os.PathLike[str]"]

DEFAULT_MASTER = "127.0.0.1:7411"

_MASTER_PORT = "7411"
_PAGE_PORT = "7412"


@dataclass(frozen=True)
class Access:
    address: str
    token: Optional[str] = field(repr=False)
    token_file: str
    tls_ca: str
    tls_certificate: str
    tls_key: str
    tls_server_name: str


def access(
    master: Optional[str],
    token: Optional[str],
    token_file: Optional[Path],
    tls_ca: Optional[Path],
    tls_certificate: Optional[Path],
    tls_key: Optional[Path],
    tls_server_name: Optional[str],
) -> Access:
    """Returns the access that arguments and the environment define.

    Raises ValueError if the arguments conflict.
    """

    def argument_or_environment(value: Optional[Path], variable: str) -> str:
        return os.fspath(value) if value is not None else os.environ.get(variable, "")

    if token is not None and token_file is not None:
        raise ValueError("pass token or token_file, not both")
    found = Access(
        address=argument_or_environment(master, "TIDEMARK_MASTER") or DEFAULT_MASTER,
        token=token,
        token_file=(
            "" if token is not None else argument_or_environment(token_file, "TIDEMARK_TOKEN_FILE")
        ),
        tls_ca=argument_or_environment(tls_ca, "TIDEMARK_TLS_CA"),
        tls_certificate=argument_or_environment(tls_certificate, "TIDEMARK_TLS_CERTIFICATE"),
        tls_key=argument_or_environment(tls_key, "TIDEMARK_TLS_KEY"),
        tls_server_name=argument_or_environment(tls_server_name, "TIDEMARK_TLS_SERVER_NAME"),
    )
    fault = _address_fault(found.address)
    if fault:
        raise ValueError(f"master {fault}" if fault.startswith("must") else f"master: {fault}")
    if bool(found.tls_certificate) != bool(found.tls_key):
        raise ValueError("tls_certificate and tls_key go together: pass both, or neither")
    if found.tls_certificate and not found.tls_ca:
        raise ValueError("a client certificate is used only over TLS: pass tls_ca too")
    return found


def _address_fault(address: str) -> str:
    """Returns the fault of a master's address, with a remedy, as in transport/listen_address.cc.

    Returns an empty text for a valid address.
    """
    form = "must be host:port or unix:PATH"
    if address.startswith("unix-abstract:"):
        return ""
    if address.startswith("unix:"):
        path = address[len("unix:") :]
        is_url = path.startswith("//")
        path = path[2:] if is_url else path
        if path and (path.startswith("/") or not is_url):
            return ""
        return (
            "must be unix: and the path of a socket, such as unix:/run/tidemark.sock, "
            f"not {address}"
        )
    if "://" in address:
        return _url_fault(form, address)
    if _is_port(address):
        return f"host missing; did you mean 127.0.0.1:{address}?"
    host, port = _split(address)
    if not address.startswith("[") and ":" in host:
        if not _is_ipv6(address) and not _is_ipv6(host):
            return f"{form}, not {address}"
        has_port = _is_ipv6(host) and _is_port(port)
        meant = f"[{host}]:{port}" if has_port else f"[{address}]:{_MASTER_PORT}"
        return f"{form}, and an IPv6 address must be in brackets; did you mean {meant}?"
    if not host and ":" in address:
        return f"host missing; did you mean 127.0.0.1:{port if _is_port(port) else _MASTER_PORT}?"
    if not _is_host(host):
        return f"{form}, such as 127.0.0.1:{_MASTER_PORT}, not {address}"
    if not port:
        return f"port missing; did you mean {host}:{_MASTER_PORT}?"
    return "" if _is_port(port) else f"the port must be from 1 to 65535, not {port}"


def _url_fault(form: str, address: str) -> str:
    scheme, _, rest = address.partition("://")
    host, port = _split(re.split(r"[/?#]", rest, maxsplit=1)[0])
    fault = f"{form}, not the URL {address}"
    if _is_host(host):
        # The page of a master has its own port.
        is_kept = _is_port(port) and port != _PAGE_PORT
        fault += f"; did you mean {host}:{port if is_kept else _MASTER_PORT}?"
    return fault + (" tls_ca turns on TLS" if scheme == "https" else "")


def _split(address: str) -> tuple[str, str]:
    """Returns the host and the port, which may be empty. Brackets belong to the host."""
    host, colon, port = address.rpartition(":")
    return (host, port) if colon and "]" not in port else (address, "")


def _is_host(host: str) -> bool:
    bare = host[1:-1] if re.fullmatch(r"\[.+\]", host) else host.replace(":", "[")
    return re.fullmatch(r"[^\x00-\x20\x7f/\[\]]+", bare) is not None


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _is_port(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}", text) is not None and 1 <= int(text) <= 65535


def open_channel(how: Access) -> grpc.Channel:
    """Returns a channel that connects on the first call.

    Raises OSError if a file for TLS cannot be read.
    """
    options: list[tuple[str, Any]] = [
        # Proxies for web traffic are not used for masters.
        ("grpc.enable_http_proxy", 0),
        # Reconnect soon after a restart of the master.
        ("grpc.initial_reconnect_backoff_ms", 200),
        # This is also the timeout of a connection attempt.
        ("grpc.min_reconnect_backoff_ms", 2000),
        ("grpc.max_reconnect_backoff_ms", 2000),
        # Detects hosts that vanish without closing their connections.
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        # Sufficient for a snapshot with tens of thousands of stages.
        ("grpc.max_receive_message_length", 64 << 20),
    ]
    if not how.tls_ca:
        return grpc.insecure_channel(how.address, options)
    if how.tls_server_name:
        options.append(("grpc.ssl_target_name_override", how.tls_server_name))
    ca, key, certificate = map(_content, (how.tls_ca, how.tls_key, how.tls_certificate))
    return grpc.secure_channel(
        how.address, grpc.ssl_channel_credentials(ca, key, certificate), options
    )


def metadata(how: Access) -> list[tuple[str, str]]:
    """Returns the metadata of a call. A token file is read for each call.

    Raises ValueError if the file has no token, or the call would send it without TLS.
    """
    if how.token is None and not how.token_file:
        return []
    if not how.tls_ca and not _is_local(how.address):
        raise ValueError(f"the token is not sent to {how.address} without TLS: pass tls_ca")
    token = how.token if how.token is not None else _token_in(how.token_file)
    if not re.fullmatch(r"[!-~]+", token):
        raise ValueError("the token must be printable ASCII without spaces")
    return [("authorization", f"Bearer {token}")]


def about(job_id: str) -> list[tuple[str, str]]:
    """Returns metadata that contain the job of a call, for proxies that route by job."""
    return [("tidemark-job", urllib.parse.quote(job_id, safe=_VISIBLE))] if job_id else []


_VISIBLE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) != "%")


def _content(file: str) -> Optional[bytes]:
    if not file:
        return None
    with open(file, "rb") as opened:
        return opened.read()


def _token_in(file: str) -> str:
    with open(file, encoding="utf-8-sig", errors="replace") as opened:
        lines = [line.strip() for line in opened.read(1 << 20).splitlines()]
    tokens = [line for line in lines if line and not line.startswith("#")]
    if len(tokens) != 1:
        raise ValueError(f"{file} must contain exactly one token, alone on a line")
    return tokens[0]


def _is_local(address: str) -> bool:
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0]
    # The name 127.evil.example is not a local address.
    return host in ("localhost", "[::1]") or re.fullmatch(r"127\.[0-9.]+", host) is not None
