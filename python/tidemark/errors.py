"""Errors of calls to a master. Their messages contain a remedy."""

from __future__ import annotations

import grpc


class TidemarkError(Exception):
    """The master did not carry out a request."""


class NotFoundError(TidemarkError, LookupError):
    """The job does not exist at the master, or the group does not exist in the job."""


class UnreachableError(TidemarkError, ConnectionError):
    """No master answers, or it has been unreachable for too long."""


class DeniedError(TidemarkError, PermissionError):
    """The master requires another token or certificate, or the token does not have the
    permission."""


class RefusedError(TidemarkError, ValueError):
    """The master rejects the request, such as one to forget a running job."""


class NotEndedError(TidemarkError, TimeoutError):
    """The job has not ended within the timeout."""


_ANSWERS_OTHERWISE = "the server there answers, but not as a Tidemark master"
_DOES_NOT_ANSWER = "a server listens there, but does not answer as a Tidemark master"
_UNKNOWN_HOST = "its host name cannot be resolved"
_USES_NO_TLS = "it does not use TLS"
_UNTRUSTED = "its certificate cannot be verified"
_OTHER_NAME = "its certificate is for a different name"
_NO_HANDSHAKE = "it did not complete the TLS handshake"
_CLOSED = "it closed the connection"
_NO_ANSWER = "it did not answer in time"

# Maps phrases of gRPC, its TLS library and its resolver to replacements, as in transport/channel.h.
_PHRASES = (
    ("Trying to connect an http1.x server", _ANSWERS_OTHERWISE),
    ("Failed parsing HTTP/2", _ANSWERS_OTHERWISE),
    ("missing selected ALPN", _ANSWERS_OTHERWISE),
    ("SETTINGS frame", _DOES_NOT_ANSWER),
    ("wrong version number", _USES_NO_TLS),
    ("WRONG_VERSION_NUMBER", _USES_NO_TLS),
    ("certificate verify failed", _UNTRUSTED),
    ("CERTIFICATE_VERIFY_FAILED", _UNTRUSTED),
    ("Hostname Verification Check failed", _OTHER_NAME),
    ("is not in peer certificate", _OTHER_NAME),
    ("Handshake read failed", _NO_HANDSHAKE),
    ("Socket closed", _CLOSED),
    ("recvmsg:Connection reset by peer", _CLOSED),
    ("Connection reset by peer", _CLOSED),
    ("Broken pipe", _CLOSED),
    ("Stream removed", _CLOSED),
    ("GOAWAY received", _CLOSED),
    ("keepalive watchdog timeout", _NO_ANSWER),
    ("Deadline Exceeded", _NO_ANSWER),
)


def plain_reason(reason: str) -> str:
    """Returns the cause of a failed call from gRPC's message.

    Replaces phrases of the libraries. Keeps messages of a master, and of the system, which gRPC
    puts last.
    """
    is_wrapped = "last error" in reason

    def contains(words: str) -> bool:
        return words in reason if is_wrapped else reason.startswith(words)

    end = reason.rsplit(": ", 1)[-1]
    if contains("DNS resolution failed") or contains("errors resolving") or contains("C-ares"):
        return f"{_UNKNOWN_HOST} ({end.split(']')[0]})"
    for words, plain in _PHRASES:
        if contains(words):
            return plain
    return end if is_wrapped else reason


def describe(address: str, code: grpc.StatusCode, reason: str) -> TidemarkError:
    """Returns the error of a call that failed, with its cause and a remedy."""
    reason = plain_reason(reason)
    if code == grpc.StatusCode.UNAUTHENTICATED:
        what = "rejects the token" if "rejects" in reason else "requires a token"
        return DeniedError(
            f"the master at {address} {what}; "
            "pass token_file= or token=, or set TIDEMARK_TOKEN_FILE"
        )
    if code == grpc.StatusCode.PERMISSION_DENIED:
        return DeniedError(f"the master at {address}: {reason}")
    if code == grpc.StatusCode.NOT_FOUND:
        return NotFoundError(reason)
    if code in _REFUSALS:
        return RefusedError(reason)
    if code == grpc.StatusCode.UNIMPLEMENTED:
        return TidemarkError(
            f"the server at {address} is not a Tidemark master, or runs a different version"
        )
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return UnreachableError(
            f"the server at {address} did not answer in time: it is stopped, hangs, is "
            "overloaded, or is not a master; run `tidemark doctor` on its host, or pass another "
            "address with master= or TIDEMARK_MASTER"
        )
    if code != grpc.StatusCode.UNAVAILABLE:
        return TidemarkError(f"the master at {address}: {reason}")
    return UnreachableError(_unreachable(address, reason))


# Describes what these causes mean for the caller, with a remedy.
_MEANINGS = {
    # A server that waits for a TLS handshake closes the connection of a client without TLS.
    _CLOSED: "{address} closed the connection; the master probably requires TLS (tls_ca=) or a "
    "client certificate (tls_certificate=)",
    _USES_NO_TLS: "the server at {address} does not use TLS; omit tls_ca",
    _UNTRUSTED: "cannot verify the certificate of the master at {address}; "
    "check tls_ca and tls_server_name",
    _OTHER_NAME: "the certificate of the master at {address} is for a different name; "
    "pass that name with tls_server_name=",
    _NO_HANDSHAKE: "the server at {address} did not complete the TLS handshake: it does not use "
    "TLS (omit tls_ca), requires a client certificate (tls_certificate=), or hangs",
    _ANSWERS_OTHERWISE: "the server at {address} is not a master: it speaks HTTP or another "
    "protocol; master= and TIDEMARK_MASTER take the address that `tidemark serve` prints "
    'after "listening on" (default port 7411; port 7412 serves the page)',
    # The address is in use, so no master can be started there.
    _DOES_NOT_ANSWER: "the server at {address} does not answer: it is stopped, hangs, or is not a "
    "master; run `tidemark doctor` on its host, or pass another address with master= or "
    "TIDEMARK_MASTER",
}


def _unreachable(address: str, reason: str) -> str:
    if reason in _MEANINGS:
        return _MEANINGS[reason].format(address=address)
    if reason.startswith(_UNKNOWN_HOST):
        return (
            f"cannot reach the master at {address}: {reason}; "
            "check the name in master= or TIDEMARK_MASTER"
        )
    return (
        f"no master answers at {address} ({reason}); start one with `tidemark serve`, or pass "
        "another address with master= or TIDEMARK_MASTER"
    )


_REFUSALS = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.ALREADY_EXISTS,
)
