"""Reads the progress and the predicted ends of jobs from a master."""

from __future__ import annotations

import contextlib
import difflib
import logging
from datetime import datetime, timedelta
from types import TracebackType
from typing import (
    Any,
    Callable,
    Dict,
    Generator,
    Generic,
    Iterable,
    Iterator,
    List,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
)

import grpc

from tidemark import _security, _wire, errors
from tidemark._following import Follower, OutOfTime
from tidemark._reading import read_snapshot
from tidemark._security import Path
from tidemark.job import EPOCH, JobKind, JobState, Snapshot, View

# Type of durations in arguments, which are seconds or a timedelta.
Seconds = Union[float, timedelta]
T = TypeVar("T")

_log = logging.getLogger("tidemark")


class Watch(Generic[T]):
    """Iterates over the values of a watch. Closing it, or leaving a `with` block, ends the call.

    Any thread may close it. If another thread waits for the next value, that closes the client with all its watches.
    """

    def __init__(self, values: Generator[T, None, None], client: Client) -> None:
        self._values = values
        self._client = client

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        return next(self._values)

    def close(self) -> None:
        try:
            self._values.close()
        except ValueError:  # Another thread is waiting for the next value.
            self._client.close()

    def __enter__(self) -> Watch[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client:
    """A connection to one master, which any number of threads may use concurrently.

    Defaults come from TIDEMARK_MASTER, TIDEMARK_TOKEN_FILE, TIDEMARK_TLS_CA and so on, as for the command line. Without
    tls_ca, the client does not use TLS, and sends a token only within this machine. The client connects at the first
    call. `answer_within` is the timeout of all calls except watches.

    Raises ValueError if arguments conflict and OSError if a file cannot be read. Each call reads the
    token_file again. Calls raise a TidemarkError.
    """

    def __init__(
        self,
        master: Optional[str] = None,
        *,
        token: Optional[str] = None,
        token_file: Optional[Path] = None,
        tls_ca: Optional[Path] = None,
        tls_certificate: Optional[Path] = None,
        tls_key: Optional[Path] = None,
        tls_server_name: Optional[str] = None,
        answer_within: Seconds = 10,
    ) -> None:
        self._access = _security.access(
            master, token, token_file, tls_ca, tls_certificate, tls_key, tls_server_name
        )
        self._answer_within_s = _seconds(answer_within)
        self._channel = _security.open_channel(self._access)
        self._methods = _wire.methods(self._channel)
        self._is_closed = False

    @property
    def address(self) -> str:
        return self._access.address

    def close(self) -> None:
        """Ends all calls, including watches."""
        self._is_closed = True
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"tidemark.Client({self.address!r})"

    def get(self, job_id: str, *, view: View = View.FULL) -> Snapshot:
        """Returns the newest snapshot of a job."""
        try:
            return self._read(self._ask("GetJob", job_id=job_id, view=_view(view)).snapshot)
        except errors.NotFoundError:
            pass
        raise self._no_such_job(job_id)

    def list(
        self,
        *,
        states: Iterable[JobState] = (),
        kinds: Iterable[JobKind] = (),
        user: str = "",
        queue: str = "",
        name_prefix: str = "",
        workflow_id: str = "",
        view: View = View.BASIC,
    ) -> List[Snapshot]:
        """Returns the newest snapshots of all jobs that match every filter, the newest job first."""
        wanted = _filter(states, kinds, user, queue, name_prefix, workflow_id)
        found: List[Snapshot] = []
        token = ""
        while True:
            page = self._ask("ListJobs", filter=wanted, view=_view(view), page_token=token)
            found += map(self._read, page.snapshots)
            if not page.next_page_token:
                return found
            if page.next_page_token == token:
                raise errors.TidemarkError(
                    f"the master at {self.address} returned the same page token twice"
                )
            token = page.next_page_token

    def watch(
        self,
        job_id: str,
        *,
        view: View = View.FULL,
        interval_min: Seconds = 0,
        wait_for_job: bool = False,
        timeout: Optional[Seconds] = None,
        patience: Seconds = 60,
        on_trouble: Optional[Callable[[str], None]] = None,
    ) -> Watch[Snapshot]:
        """Returns the snapshots of a job, from the newest one to the final one.

        An id such as "app-1/sql/3" selects a group of a job, here an SQL execution of a Spark application.

        The watch resumes after breaks of the network and restarts of the master, and repeats no snapshot. A slow caller
        skips to the newest snapshot. `on_trouble` receives messages about problems with the master, and about their
        end, from any thread. By default the logger "tidemark" receives them.

        wait_for_job: if True, waits without limit until the job and the master appear. timeout: limit for the whole
        watch; after it, the watch raises NotEndedError. patience: limit for the time in which a master that has
        answered is unreachable; after it,
            the watch raises UnreachableError.
        """
        return Watch(
            self._watch(
                job_id,
                view,
                dict(
                    patience_s=_seconds(patience),
                    timeout_s=None if timeout is None else _seconds(timeout),
                    interval_s=_seconds(interval_min),
                    waits_for_job=wait_for_job,
                    on_trouble=on_trouble or _log.warning,
                ),
            ),
            self,
        )

    def wait(
        self,
        job_id: str,
        *,
        view: View = View.FULL,
        wait_for_job: bool = False,
        timeout: Optional[Seconds] = None,
        patience: Seconds = 60,
        on_trouble: Optional[Callable[[str], None]] = None,
    ) -> Snapshot:
        """Returns the final snapshot of a job. Its arguments are the same as in watch()."""
        with self.watch(
            job_id,
            view=view,
            wait_for_job=wait_for_job,
            timeout=timeout,
            patience=patience,
            on_trouble=on_trouble,
        ) as snapshots:
            for snapshot in snapshots:
                if snapshot.final:
                    return snapshot
        raise AssertionError("a watch has ended without a final snapshot")

    def watch_all(
        self,
        *,
        states: Iterable[JobState] = (),
        kinds: Iterable[JobKind] = (),
        user: str = "",
        queue: str = "",
        name_prefix: str = "",
        workflow_id: str = "",
        view: View = View.BASIC,
        interval_min: Seconds = 0,
        timeout: Optional[Seconds] = None,
        patience: Seconds = 60,
        on_trouble: Optional[Callable[[str], None]] = None,
    ) -> Watch[Dict[str, Snapshot]]:
        """Yields all jobs that match every filter, by id, after each change. Does not end."""
        return Watch(
            self._watch_all(
                _filter(states, kinds, user, queue, name_prefix, workflow_id),
                view,
                dict(
                    patience_s=_seconds(patience),
                    timeout_s=None if timeout is None else _seconds(timeout),
                    interval_s=_seconds(interval_min),
                    waits_for_job=False,
                    on_trouble=on_trouble or _log.warning,
                ),
            ),
            self,
        )

    def forget(self, job_id: str) -> None:
        """Removes a job that has ended. With a data directory, the master's history keeps the run. An unknown job is not an error.

        Raises RefusedError if the job is running.
        """
        self._ask("ForgetJob", job_id=job_id)

    def set_deadline(self, job_id: str, at: datetime) -> None:
        """Sets or replaces the deadline of a running job or workflow. A time without a zone is local.

        Raises NotFoundError for an unknown job, and RefusedError if the job has ended.
        """
        since, second = at.astimezone() - EPOCH, timedelta(seconds=1)
        deadline_at = {"seconds": since // second, "nanos": since % second // timedelta(microseconds=1) * 1000}
        self._ask("SetDeadline", job_id=job_id, deadline_at=deadline_at)

    def _ask(self, method: str, **fields: Any) -> Any:
        request = _wire.request(method, **fields)
        try:
            return self._methods[method](
                request, timeout=self._answer_within_s, metadata=self._metadata(request)
            )
        except grpc.RpcError as error:
            trouble = self._trouble(error)
        raise trouble

    def _trouble(self, error: Any) -> errors.TidemarkError:
        code, reason = error.code(), error.details() or ""
        if code == grpc.StatusCode.CANCELLED:  # A proxy or the master cancelled the call.
            code = grpc.StatusCode.UNAVAILABLE
        return errors.describe(self.address, code, reason)

    def _read(self, message: Any) -> Snapshot:
        try:
            return read_snapshot(message)
        except ValueError as error:
            raise errors.TidemarkError(f"the master at {self.address}: {error}") from None

    def _stream(self, method: str, request: Any) -> Callable[[Optional[float]], Any]:
        return lambda remaining_s: self._methods[method](
            request, timeout=remaining_s, metadata=self._metadata(request)
        )

    def _metadata(self, request: Any) -> List[Tuple[str, str]]:
        about = _security.about(getattr(request, "job_id", ""))
        return about + _security.metadata(self._access)

    def _follower(self, options: Dict[str, Any]) -> Follower:
        report = options["on_trouble"]

        def report_unless_closed(message: str) -> None:
            if not self._is_closed:
                report(message)

        return Follower(self.address, **{**options, "on_trouble": report_unless_closed})

    def _watch(
        self, job_id: str, view: View, options: Dict[str, Any]
    ) -> Generator[Snapshot, None, None]:
        has_snapshot = False
        try:
            with contextlib.closing(self._watch_job(job_id, view, options)) as snapshots:
                for snapshot in snapshots:
                    has_snapshot = True
                    yield snapshot
            return
        except errors.NotFoundError:
            if has_snapshot:
                raise
        whole, group = self._group_in(job_id)
        if not group:
            raise self._no_such_job(job_id)
        least = View.STAGES if view == View.BASIC else view
        with contextlib.closing(self._watch_job(whole, least, options)) as snapshots:
            for snapshot in snapshots:
                of_group = snapshot.of_group(group)
                if of_group is None:
                    raise _no_such_group(snapshot, group)
                yield of_group
                if of_group.final:
                    return

    def _watch_job(
        self, job_id: str, view: View, options: Dict[str, Any]
    ) -> Generator[Snapshot, None, None]:
        request = _wire.request(
            "WatchJob",
            job_id=job_id,
            view=_view(view),
            interval_min=_duration(options["interval_s"]),
            wait_for_job=options["waits_for_job"],
        )
        responses = self._follower(options).follow(self._stream("WatchJob", request))
        with contextlib.closing(responses):  # type: ignore[type-var]
            try:
                for response in responses:
                    snapshot = self._read(response.snapshot)
                    request.resume_token = response.resume_token
                    request.wait_for_job = False  # A job that was removed is not awaited.
                    yield snapshot
                    # The stream may end much later than its final snapshot.
                    if snapshot.final:
                        return
            except OutOfTime:
                pass
        raise errors.NotEndedError(f"job {job_id} has not ended within {options['timeout_s']:g} s")

    def _watch_all(
        self, wanted: Any, view: View, options: Dict[str, Any]
    ) -> Generator[Dict[str, Snapshot], None, None]:
        request = _wire.request(
            "WatchJobs",
            filter=wanted,
            view=_view(view),
            interval_min=_duration(options["interval_s"]),
        )
        responses = self._follower(options).follow(self._stream("WatchJobs", request))
        jobs: Dict[str, Snapshot] = {}
        was_synced = False
        with contextlib.closing(responses):  # type: ignore[type-var]
            try:
                for response in responses:
                    if response.restarted:
                        jobs.clear()
                    jobs.update((one.job_id, self._read(one)) for one in response.snapshots)
                    for job_id in response.removed_job_ids:
                        jobs.pop(job_id, None)
                    request.resume_token = response.resume_token
                    has_change = (
                        not was_synced
                        or response.restarted
                        or bool(response.snapshots or response.removed_job_ids)
                    )
                    was_synced = response.synced
                    if has_change and response.synced:
                        yield dict(jobs)
            except OutOfTime:
                pass
        raise errors.NotEndedError(f"stopped watching after {options['timeout_s']:g} s")

    def _group_in(self, name: str) -> tuple[str, str]:
        """Returns the job and the group of JOB/GROUP. Job ids may also contain slashes."""
        end = name.rfind("/")
        while end > 0:
            try:
                self._ask("GetJob", job_id=name[:end], view=_view(View.BASIC))
                return name[:end], name[end + 1 :]
            except errors.NotFoundError:
                end = name.rfind("/", 0, end)
        return name, ""

    def _no_such_job(self, job_id: str) -> errors.NotFoundError:
        what = f"no job {job_id} at {self.address}"
        try:
            names = [snapshot.job_id for snapshot in self.list()]
        except errors.TidemarkError:
            return errors.NotFoundError(what)
        if not names:
            return errors.NotFoundError(f"{what}; it has no jobs yet")
        meant = difflib.get_close_matches(job_id, names, n=1)
        if meant:
            return errors.NotFoundError(f"{what}; did you mean {meant[0]}?")
        more = ", ..." if len(names) > 10 else ""
        return errors.NotFoundError(f"{what}; its jobs: {', '.join(names[:10])}{more}")


def _no_such_group(job: Snapshot, group: str) -> errors.NotFoundError:
    running = [one.group for one in job.groups if one.state == JobState.RUNNING][:8]
    return errors.NotFoundError(
        f"job {job.job_id} has no {group}; "
        + (
            f"it now runs {', '.join(running)}"
            if running
            else "none of its SQL executions or jobs is running"
        )
    )


def _seconds(duration: Seconds) -> float:
    return duration.total_seconds() if isinstance(duration, timedelta) else float(duration)


def _duration(seconds: float) -> Any:
    if seconds <= 0:
        return None
    nanos = round(seconds * 1e9)
    return _wire.message("google.protobuf.Duration")(seconds=nanos // 10**9, nanos=nanos % 10**9)


def _view(view: View) -> str:
    return f"VIEW_{View(view).name}"


def _filter(
    states: Iterable[JobState],
    kinds: Iterable[JobKind],
    user: str,
    queue: str,
    name_prefix: str,
    workflow_id: str,
) -> Any:
    return _wire.message("tidemark.v1.JobFilter")(
        states=[f"JOB_STATE_{JobState(state).name}" for state in states],
        kinds=[f"JOB_KIND_{JobKind(kind).name}" for kind in kinds],
        user=user,
        queue=queue,
        name_prefix=name_prefix,
        workflow_id=workflow_id,
    )
