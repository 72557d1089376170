"""Asks a master how far jobs are and when they end."""

from __future__ import annotations

import contextlib
import difflib
import logging
from datetime import timedelta
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
from tidemark.job import JobKind, JobState, Snapshot, View

# Durations that a caller passes: seconds, or a timedelta.
Seconds = Union[float, timedelta]
T = TypeVar("T")

_log = logging.getLogger("tidemark")


class Watch(Generic[T]):
    """What a watch brings, in order. Closing it, or the end of a `with`, ends the call."""

    def __init__(self, values: Generator[T, None, None]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        return next(self._values)

    def close(self) -> None:
        self._values.close()

    def __enter__(self) -> Watch[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client:
    """A connection to one master, which any number of threads may use at once.

    What is None is taken from TIDEMARK_MASTER, TIDEMARK_TOKEN_FILE, TIDEMARK_TLS_CA and so on, as
    by the command line. Without tls_ca there is no TLS, and a token is sent within this machine only.
    Nothing is sent before the first call. `answer_within` bounds every call but a watch.

    ValueError, OSError: arguments that do not go together, or a file that cannot be read; a
    token_file is read again by each call. Calls raise a TidemarkError.
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

    @property
    def address(self) -> str:
        return self._access.address

    def close(self) -> None:
        """Ends all calls, watches too."""
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
        """The newest snapshot of a job."""
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
        """The newest snapshots of all jobs that meet everything that is said, newest job first."""
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
                    f"the master at {self.address}: a page of its list names itself as the next"
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
        """Every new snapshot of a job, from the newest on, to the final one.

        "app-1/sql/3" is one group of a job: a SQL execution of a Spark application.

        It goes on through breaks of the network and restarts of the master from where it was: no
        snapshot comes twice. A reader that is slow gets the newest. `on_trouble` is told, in words
        and from any thread, what keeps snapshots from coming, and that they come again; without it,
        the logger "tidemark" is.

        wait_for_job: wait, without limit, for a job, and a master, that are not there yet.
        timeout: NotEndedError when the job has not ended by then, counted from the first snapshot
            that is asked for.
        patience: how long a master that has once answered may stay away; then UnreachableError.
        """
        return Watch(
            self._watch(
                job_id,
                view,
                dict(
                    patience_s=_seconds(patience),
                    timeout_s=None if timeout is None else _seconds(timeout),
                    interval_s=_seconds(interval_min),
                    is_to_come=wait_for_job,
                    on_trouble=on_trouble or _log.warning,
                ),
            )
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
        """The final snapshot of a job. The arguments are those of watch()."""
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
        """All jobs that meet what is said, by id, whenever one has changed; without an end."""
        return Watch(
            self._watch_all(
                _filter(states, kinds, user, queue, name_prefix, workflow_id),
                view,
                dict(
                    patience_s=_seconds(patience),
                    timeout_s=None if timeout is None else _seconds(timeout),
                    interval_s=_seconds(interval_min),
                    is_to_come=False,
                    on_trouble=on_trouble or _log.warning,
                ),
            )
        )

    def forget(self, job_id: str) -> None:
        """Removes a job that has ended; an unknown one is no error. RefusedError: it runs."""
        self._ask("ForgetJob", job_id=job_id)

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
        if code == grpc.StatusCode.CANCELLED:  # by a proxy, or by the master
            code = grpc.StatusCode.UNAVAILABLE
        return errors.describe(self.address, code, reason)

    def _read(self, message: Any) -> Snapshot:
        try:
            return read_snapshot(message)
        except ValueError as error:
            raise errors.TidemarkError(f"the master at {self.address}: {error}") from None

    def _stream(self, method: str, request: Any) -> Callable[[Optional[float]], Any]:
        return lambda left_s: self._methods[method](
            request, timeout=left_s, metadata=self._metadata(request)
        )

    def _metadata(self, request: Any) -> List[Tuple[str, str]]:
        about = _security.about(getattr(request, "job_id", ""))
        return about + _security.metadata(self._access)

    def _watch(
        self, job_id: str, view: View, options: Dict[str, Any]
    ) -> Generator[Snapshot, None, None]:
        has_heard = False
        try:
            with contextlib.closing(self._watch_job(job_id, view, options)) as snapshots:
                for snapshot in snapshots:
                    has_heard = True
                    yield snapshot
            return
        except errors.NotFoundError:
            if has_heard:
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
            wait_for_job=options["is_to_come"],
        )
        responses = Follower(self.address, **options).follow(self._stream("WatchJob", request))
        with contextlib.closing(responses):  # type: ignore[type-var]
            try:
                for response in responses:
                    snapshot = self._read(response.snapshot)
                    request.resume_token = response.resume_token
                    request.wait_for_job = False  # what is lost is not awaited
                    yield snapshot
                    # Nothing follows the final snapshot, and the end of the stream may be long in
                    # coming.
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
        responses = Follower(self.address, **options).follow(self._stream("WatchJobs", request))
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
                    is_news = (
                        not was_synced
                        or response.restarted
                        or bool(response.snapshots or response.removed_job_ids)
                    )
                    was_synced = response.synced
                    if is_news and response.synced:
                        yield dict(jobs)
            except OutOfTime:
                pass
        raise errors.NotEndedError(f"watched for {options['timeout_s']:g} s")

    def _group_in(self, name: str) -> tuple[str, str]:
        """The job and the group that JOB/GROUP names; ids of jobs may have slashes, too."""
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
            f"now it runs {', '.join(running)}"
            if running
            else "none of its SQL executions or jobs runs now"
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
