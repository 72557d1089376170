"""Goes on with a stream from a master through the master's absences.

As client/follower.cc does it, with the same pauses and words.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Iterator, Optional

import grpc

from tidemark import _wire, errors

_FIRST_PAUSE_S = 0.2
# Also how long a stream has to stand to count as a recovery.
_LONGEST_PAUSE_S = 2.0
# Of what a master asks to wait.
_LONGEST_DELAY_S = 60.0
# Without a word from the master; three times its longest pause so far if that is more.
_MUTE_AFTER_S = 10.0

# What another attempt cannot put right.
_FATAL = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
)


class OutOfTime(Exception):
    """The timeout has passed."""


class Follower:
    """For one watch."""

    def __init__(
        self,
        address: str,
        *,
        patience_s: float,
        timeout_s: Optional[float],
        interval_s: float,
        is_to_come: bool,
        on_trouble: Callable[[str], None],
    ) -> None:
        self._address = address
        self._patience_s = patience_s
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._mute_after_s = max(_MUTE_AFTER_S, 2 * interval_s)
        self._is_to_come = is_to_come
        self._on_trouble = on_trouble
        self._pause_s = _FIRST_PAUSE_S
        self._troubled_since: Optional[float] = None
        self._ended = threading.Event()
        self._lock = threading.Lock()  # guards what is below; held during on_trouble
        self._has_heard = False
        self._complained_of: Optional[grpc.StatusCode] = None
        self._is_mute = False  # and that was said
        self._listening_since: Optional[float] = None
        self._longest_pause_s = 0.0

    def follow(self, open_stream: Callable[[Optional[float]], Any]) -> Iterator[Any]:
        """What a stream brings, and the ones after it, until the generator is closed.

        `open_stream` takes the time that is left, in seconds. TidemarkError: what no other attempt
        can put right, or patience is at its end. OutOfTime.
        """
        listener = threading.Thread(target=self._note_muteness, daemon=True)
        listener.start()
        try:
            while True:
                began = time.monotonic()
                has_brought = False
                try:
                    for response in self._read(open_stream):
                        has_brought = True
                        yield response
                    code, reason, delay_s = (
                        grpc.StatusCode.UNAVAILABLE,
                        "the master ended the stream",
                        0.0,
                    )
                except grpc.RpcError as error:
                    code, reason = error.code(), error.details() or ""
                    delay_s = _wire.retry_after_s(error)
                if has_brought and time.monotonic() - began >= _LONGEST_PAUSE_S:
                    # One response is no recovery: a master may break each stream after its first.
                    self._troubled_since = None
                    self._pause_s = _FIRST_PAUSE_S
                self._note_trouble(code, reason)
                self._sleep(max(self._pause_s, min(delay_s, _LONGEST_DELAY_S)))
                self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
        finally:
            self._ended.set()

    def _read(self, open_stream: Callable[[Optional[float]], Any]) -> Iterator[Any]:
        stream = open_stream(self._left_s())
        try:
            self._listen()
            for response in stream:
                self._hear()
                yield response
                self._listen()  # a slow reader is not a silent master
        finally:
            with self._lock:
                self._listening_since = None
            stream.cancel()

    def _listen(self) -> None:
        with self._lock:
            self._listening_since = time.monotonic()

    def _hear(self) -> None:
        with self._lock:
            was_away = self._complained_of is not None
            self._complained_of = None
            if was_away or self._is_mute:
                self._on_trouble("the master is back")
            self._is_mute = False
            if self._has_heard and not was_away and self._listening_since is not None:
                pause = time.monotonic() - self._listening_since
                self._longest_pause_s = max(self._longest_pause_s, pause)
            self._has_heard = True
            self._listening_since = None

    def _note_muteness(self) -> None:
        """Says it when a stream that stands brings nothing."""
        while not self._ended.wait(self._mute_after_s / 10):
            with self._lock:
                if self._listening_since is None or self._is_mute or self._waits_for_job():
                    continue
                pause = time.monotonic() - self._listening_since
                if pause < max(self._mute_after_s, 3 * self._longest_pause_s):
                    continue
                self._is_mute = True
                self._on_trouble(
                    f"nothing heard from the master at {self._address} for {pause:.0f} s"
                )

    def _waits_for_job(self) -> bool:
        return self._is_to_come and not self._has_heard

    def _note_trouble(self, code: grpc.StatusCode, reason: str) -> None:
        """Raises what ends the watch."""
        if self._left_s() == 0:
            raise OutOfTime
        if code == grpc.StatusCode.CANCELLED:  # by a proxy, or by the master: neither speaks for us
            code, reason = grpc.StatusCode.UNAVAILABLE, reason or "the stream was cancelled"
        if code in _FATAL or not (self._has_heard or self._is_to_come):
            raise errors.describe(self._address, code, reason)
        now = time.monotonic()
        if self._troubled_since is None:
            self._troubled_since = now
        what = self._describe(code, reason)
        if not self._waits_for_job() and now - self._troubled_since >= self._patience_s:
            kind = (
                errors.NotFoundError
                if code == grpc.StatusCode.NOT_FOUND
                else errors.UnreachableError
            )
            raise kind(f"{what}; gave up after {self._patience_s:.0f} s")
        is_expected = self._waits_for_job() and code == grpc.StatusCode.NOT_FOUND
        with self._lock:
            if self._complained_of != code and not is_expected:
                self._complained_of = code
                self._on_trouble(f"{what}; retrying")

    def _describe(self, code: grpc.StatusCode, reason: str) -> str:
        if code == grpc.StatusCode.NOT_FOUND:
            return f"the master at {self._address} no longer knows the job"
        what = "lost contact with" if self._has_heard else "cannot reach"
        return f"{what} the master at {self._address}: {errors.plain_reason(reason)}"

    def _left_s(self) -> Optional[float]:
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)

    def _sleep(self, seconds: float) -> None:
        left_s = self._left_s()
        time.sleep(seconds if left_s is None else min(seconds, left_s))
        if self._left_s() == 0:
            raise OutOfTime
