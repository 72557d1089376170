"""What goes wrong with a master, in words that say what to do."""

from __future__ import annotations

import grpc


class TidemarkError(Exception):
    """A master did not do what it was asked for."""


class NotFoundError(TidemarkError, LookupError):
    """The master has no such job, or no such group of it."""


class UnreachableError(TidemarkError, ConnectionError):
    """No master answers, or it has stayed away for too long."""


class DeniedError(TidemarkError, PermissionError):
    """The master wants another token or certificate, or this one may not do that."""


class RefusedError(TidemarkError, ValueError):
    """The master does not take the request, such as one to forget a job that runs."""


class NotEndedError(TidemarkError, TimeoutError):
    """The job has not ended within the timeout."""


def plain_reason(reason: str) -> str:
    """gRPC wraps what the system said into layers of its own words; the system's come last."""
    if "SETTINGS frame" in reason:
        return "something listens there but does not answer as a Tidemark master"
    is_wrapped = "last error" in reason or reason.startswith("failed to connect")
    return reason.rsplit(": ", 1)[-1] if is_wrapped else reason


def describe(address: str, code: grpc.StatusCode, reason: str) -> TidemarkError:
    """Why the master at the address did not do what it was asked for, and what to do."""
    words = reason.upper().replace(" ", "_")
    reason = plain_reason(reason)
    if code == grpc.StatusCode.UNAUTHENTICATED:
        what = "does not know the token" if "does not know" in reason else "requires a token"
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
            f"what answers at {address} is of another version, or no Tidemark master"
        )
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return UnreachableError(f"the master at {address} does not answer: {reason}")
    if code != grpc.StatusCode.UNAVAILABLE:
        return TidemarkError(f"the master at {address}: {reason}")
    # What a server that waits for a TLS handshake does with a client that does not begin one.
    if "SOCKET_CLOSED" in words:
        return UnreachableError(
            f"{address} closed the connection; probably the master wants TLS (tls_ca=)"
        )
    if "WRONG_VERSION_NUMBER" in words:
        return UnreachableError(f"the server at {address} does not use TLS; leave out tls_ca")
    if "CERTIFICATE_VERIFY_FAILED" in words:
        return UnreachableError(
            f"cannot verify the certificate of the master at {address}; "
            "check tls_ca and tls_server_name"
        )
    # The address is in use: no master can be started there.
    if "something listens there" in reason:
        return UnreachableError(
            f"what listens at {address} does not answer: a master that is stopped or hangs, or "
            "something else; see `tidemark doctor` on its host, or name another with master= or "
            "TIDEMARK_MASTER"
        )
    return UnreachableError(
        f"no master answers at {address} ({reason}); start one with `tidemark serve`, or name "
        "another with master= or TIDEMARK_MASTER"
    )


_REFUSALS = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.ALREADY_EXISTS,
)
