"""Resumes a stream of a master after breaks of the connection and restarts of the master.

The pauses and messages are the same as in client/follower.cc.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Iterator, Optional

import grpc

from tidemark import _wire, errors

_FIRST_PAUSE_S = 0.2
# A stream that lasts this long is considered recovered.
_LONGEST_PAUSE_S = 2.0
# Longest delay that a master can request.
_LONGEST_DELAY_S = 60.0
# A master is reported if it sends nothing for this long and for three times its longest pause.
_SILENT_AFTER_S = 10.0

# A retry cannot succeed after one of these status codes.
_FATAL = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
)


class OutOfTime(Exception):
    """The timeout has passed."""


class Follower:
    """Reads the streams of one watch."""

    def __init__(
        self,
        address: str,
        *,
        patience_s: float,
        timeout_s: Optional[float],
        interval_s: float,
        waits_for_job: bool,
        on_trouble: Callable[[str], None],
    ) -> None:
        self._address = address
        self._patience_s = patience_s
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._silent_after_s = max(_SILENT_AFTER_S, 2 * interval_s)
        self._waits_for_job = waits_for_job
        self._on_trouble = on_trouble
        self._pause_s = _FIRST_PAUSE_S
        self._troubled_since: Optional[float] = None
        self._ended = threading.Event()
        self._lock = threading.Lock()  # Guards the fields below. Held during on_trouble.
        self._has_responded = False
        self._reported_code: Optional[grpc.StatusCode] = None
        self._is_silent = False  # True if a silence was reported.
        self._waiting_since: Optional[float] = None
        self._longest_pause_s = 0.0

    def follow(self, open_stream: Callable[[Optional[float]], Any]) -> Iterator[Any]:
        """Yields the responses of a stream and of its successors until the generator is closed.

        `open_stream` takes the remaining time in seconds. Raises TidemarkError if a retry cannot
        succeed or the patience is exhausted, and OutOfTime after the timeout.
        """
        watcher = threading.Thread(target=self._report_silence, daemon=True)
        watcher.start()
        try:
            while True:
                began = time.monotonic()
                has_response = False
                try:
                    for response in self._read(open_stream):
                        has_response = True
                        yield response
                    code, reason, delay_s = (
                        grpc.StatusCode.UNAVAILABLE,
                        "the master ended the stream",
                        0.0,
                    )
                except grpc.RpcError as error:
                    code, reason = error.code(), error.details() or ""
                    delay_s = _wire.retry_after_s(error)
                if has_response and time.monotonic() - began >= _LONGEST_PAUSE_S:
                    # A single response does not prove recovery, since a failing master may break
                    # every stream after its first response.
                    self._troubled_since = None
                    self._pause_s = _FIRST_PAUSE_S
                self._handle_trouble(code, reason)
                self._sleep(max(self._pause_s, min(delay_s, _LONGEST_DELAY_S)))
                self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
        finally:
            self._ended.set()

    def _read(self, open_stream: Callable[[Optional[float]], Any]) -> Iterator[Any]:
        stream = open_stream(self._remaining_s())
        try:
            self._note_wait()
            for response in stream:
                self._note_response()
                yield response
                self._note_wait()  # The time that a slow caller takes does not count.
        finally:
            with self._lock:
                self._waiting_since = None
            stream.cancel()

    def _note_wait(self) -> None:
        with self._lock:
            self._waiting_since = time.monotonic()

    def _note_response(self) -> None:
        with self._lock:
            was_away = self._reported_code is not None
            self._reported_code = None
            if was_away or self._is_silent:
                self._on_trouble("reconnected to the master")
            self._is_silent = False
            if self._has_responded and not was_away and self._waiting_since is not None:
                pause = time.monotonic() - self._waiting_since
                self._longest_pause_s = max(self._longest_pause_s, pause)
            self._has_responded = True
            self._waiting_since = None

    def _report_silence(self) -> None:
        """Reports a stream that is open but delivers no messages."""
        while not self._ended.wait(self._silent_after_s / 10):
            with self._lock:
                if self._waiting_since is None or self._is_silent or self._awaits_job():
                    continue
                pause = time.monotonic() - self._waiting_since
                if pause < max(self._silent_after_s, 3 * self._longest_pause_s):
                    continue
                self._is_silent = True
                self._on_trouble(
                    f"no response from the master at {self._address} for {pause:.0f} s"
                )

    def _awaits_job(self) -> bool:
        return self._waits_for_job and not self._has_responded

    def _handle_trouble(self, code: grpc.StatusCode, reason: str) -> None:
        """Raises if the problem ends the watch, and reports it otherwise."""
        if self._remaining_s() == 0:
            raise OutOfTime
        # A proxy or the master cancelled the stream, not this client.
        if code == grpc.StatusCode.CANCELLED:
            code, reason = grpc.StatusCode.UNAVAILABLE, reason or "the stream was cancelled"
        if code in _FATAL or not (self._has_responded or self._waits_for_job):
            raise errors.describe(self._address, code, reason)
        now = time.monotonic()
        if self._troubled_since is None:
            self._troubled_since = now
        what = self._describe(code, reason)
        if not self._awaits_job() and now - self._troubled_since >= self._patience_s:
            kind = (
                errors.NotFoundError
                if code == grpc.StatusCode.NOT_FOUND
                else errors.UnreachableError
            )
            raise kind(f"{what}; stopped retrying after {self._patience_s:.0f} s")
        is_expected = self._awaits_job() and code == grpc.StatusCode.NOT_FOUND
        with self._lock:
            if self._reported_code != code and not is_expected:
                self._reported_code = code
                self._on_trouble(f"{what}; retrying")

    def _describe(self, code: grpc.StatusCode, reason: str) -> str:
        if code == grpc.StatusCode.NOT_FOUND:
            return f"the master at {self._address} no longer has the job"
        what = "disconnected from" if self._has_responded else "cannot reach"
        return f"{what} the master at {self._address}: {errors.plain_reason(reason)}"

    def _remaining_s(self) -> Optional[float]:
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)

    def _sleep(self, seconds: float) -> None:
        remaining_s = self._remaining_s()
        time.sleep(seconds if remaining_s is None else min(seconds, remaining_s))
        if self._remaining_s() == 0:
            raise OutOfTime
