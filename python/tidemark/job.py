"""Snapshots of jobs.

Names and meanings are the same as in proto/tidemark/v1/job.proto. Times are aware datetimes in UTC, by the master's
clock. Durations are timedeltas, and fractions and shares are within 0..1. Unknown values are None, or an empty string
if the proto file specifies this.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Optional


class _Name(str, Enum):
    """Members equal their text: JobState.RUNNING == "running".

    UNKNOWN represents missing values and values of a newer master.
    """

    def __str__(self) -> str:
        return str(self.value)


class View(_Name):
    """Selects the parts of a snapshot."""

    BASIC = "basic"  # without stages, children and groups, except headline_group
    STAGES = "stages"  # adds stages, children and groups
    FULL = "full"  # adds named tasks, other indicators, coverage and errors


class JobKind(_Name):
    UNKNOWN = "unknown"
    MAPREDUCE = "mapreduce"
    APPLICATION = "application"
    WORKFLOW = "workflow"


class JobState(_Name):
    UNKNOWN = "unknown"
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    KILLED = "killed"
    ABANDONED = "abandoned"  # the master stopped waiting, since reports were missing for too long
    UNKNOWN_END = "unknown_end"  # the job ended, but the engine did not report its result


class EstimateState(_Name):
    UNKNOWN = "unknown"
    WARMING_UP = "warming_up"  # too early for an estimate
    VALID = "valid"
    OVERDUE = "overdue"  # the predicted end has passed, but the job is still running
    FINAL = "final"


class Basis(_Name):
    UNKNOWN = "unknown"
    GUESS = "guess"
    EARLIER_RUNS = "earlier_runs"
    THIS_RUN = "this_run"
    DONE = "done"


class EstimateMethod(_Name):
    """The method of an estimate of the indicator "tidemark"."""

    UNKNOWN = "unknown"
    ASSUMPTIONS = "assumptions"
    OTHER_JOBS = "other_jobs"
    MAP_PHASE = "map_phase"
    BYTES_READ = "bytes_read"
    PAST_RUNS = "past_runs"
    TASK_SIZES = "task_sizes"
    TASK_TIMES = "task_times"
    KEY_GROUPS = "key_groups"
    JOBS = "jobs"


class RaiseCause(_Name):
    """Why the shown progress moves back."""

    UNKNOWN = "unknown"
    MORE_STAGES = "more_stages"
    SLOWER_TASKS = "slower_tasks"
    OVERDUE = "overdue"
    NOT_ENDED = "not_ended"


class StageKind(_Name):
    UNKNOWN = "unknown"
    MAP = "map"
    REDUCE = "reduce"
    GENERIC = "generic"


class StageState(_Name):
    UNKNOWN = "unknown"
    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    EXPECTED = "expected"
    FAILED = "failed"
    UNKNOWN_END = "unknown_end"  # the engine did not report its result


class ChildState(_Name):
    UNKNOWN = "unknown"
    PENDING = "pending"
    AWAITED = "awaited"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    RETRYABLE = "retryable"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Range:
    """An estimated duration, as a median with a 90 % interval if there is one."""

    median: timedelta
    lower: Optional[timedelta] = None
    upper: Optional[timedelta] = None


@dataclass(frozen=True)
class Estimate:
    state: EstimateState = EstimateState.UNKNOWN
    fraction_done: float = 0.0
    fraction_done_lower: float = 0.0
    fraction_done_upper: float = 0.0
    remaining: Optional[Range] = None
    basis: Basis = Basis.UNKNOWN
    known_share: float = 0.0
    indicator: str = ""
    method: EstimateMethod = EstimateMethod.UNKNOWN


@dataclass(frozen=True)
class EstimateRaised:
    """A raised estimate of the remaining time, to which the shown progress moves back."""

    cause: RaiseCause = RaiseCause.UNKNOWN
    stage_count: int = 0
    fraction_done_before: float = 0.0


@dataclass(frozen=True)
class JobInfo:
    name: str = ""
    kind: JobKind = JobKind.UNKNOWN
    engine: str = ""
    application_id: str = ""
    user: str = ""
    queue: str = ""
    workflow_id: str = ""


@dataclass(frozen=True)
class Counts:
    stage_count: int = 0
    finished_stage_count: int = 0
    task_count: int = 0
    running_task_count: int = 0
    finished_task_count: int = 0
    failed_attempt_count: int = 0
    child_count: int = 0
    finished_child_count: int = 0
    finished_group_count: int = 0


@dataclass(frozen=True)
class StageId:
    child: int = 0
    stage: int = 0


@dataclass(frozen=True)
class StageInfo:
    id: StageId = StageId()
    attempt: int = 0
    name: str = ""
    kind: StageKind = StageKind.UNKNOWN
    parents: tuple[int, ...] = ()
    group: str = ""
    pool: str = ""


@dataclass(frozen=True)
class ShuffleProgress:
    fraction_done: float = 0.0
    running_task_count: int = 0
    finished_task_count: int = 0


@dataclass(frozen=True)
class Throughput:
    """Processed input and its rate since the start of the stage or job. 0 if unknown."""

    bytes_done: int = 0
    records_done: int = 0
    bytes_per_second: float = 0.0
    records_per_second: float = 0.0


@dataclass(frozen=True)
class StageProgress:
    id: StageId = StageId()
    state: StageState = StageState.UNKNOWN
    fraction_done: float = 0.0
    task_count: int = 0
    running_task_count: int = 0
    finished_task_count: int = 0
    failed_attempt_count: int = 0
    started_at: Optional[datetime] = None
    ended_at: Optional[datetime] = None
    starts_in: Optional[Range] = None
    ends_in: Optional[Range] = None
    task_time: Optional[timedelta] = None
    bottleneck: str = ""
    is_critical: bool = False
    shuffle: Optional[ShuffleProgress] = None
    failure: str = ""
    throughput: Optional[Throughput] = None


@dataclass(frozen=True)
class Group:
    """Stages with a common purpose, such as an SQL execution ("sql/3")."""

    group: str = ""
    name: str = ""
    state: JobState = JobState.UNKNOWN
    message: str = ""
    fraction_done: float = 0.0
    started_at: Optional[datetime] = None
    ended_at: Optional[datetime] = None
    ends_in: Optional[Range] = None
    basis: Basis = Basis.UNKNOWN
    estimate_state: EstimateState = EstimateState.UNKNOWN


@dataclass(frozen=True)
class Child:
    """A job of a workflow. The ids of its stages in the snapshot contain its number."""

    number: int = 0
    name: str = ""
    job_id: str = ""
    state: ChildState = ChildState.UNKNOWN
    estimate: Estimate = Estimate()
    started_at: Optional[datetime] = None
    ended_at: Optional[datetime] = None
    starts_in: Optional[Range] = None
    is_critical: bool = False
    failed_attempt_count: int = 0
    message: str = ""
    after: tuple[int, ...] = ()


@dataclass(frozen=True)
class TaskAttemptId:
    stage: int = 0
    stage_attempt: int = 0
    index: int = 0
    attempt: int = 0


@dataclass(frozen=True)
class NamedTask:
    """A task that is predicted to be among the last to end, with the reason."""

    attempt: TaskAttemptId = TaskAttemptId()
    child: int = 0
    host: str = ""
    remaining: Optional[Range] = None
    explicit_groups_left: int = 0
    heaviest_group_bytes: int = 0
    heaviest_group_share: float = 0.0
    in_heaviest_group: bool = False
    reason: str = ""
    waits_for_slot: bool = False


@dataclass(frozen=True)
class Evidence:
    own_neighbours: float = 0.0
    own_fit: float = 0.0
    other_neighbours: float = 0.0
    other_fit: float = 0.0
    ratio: float = 0.0


@dataclass(frozen=True)
class Indicator:
    estimate: Estimate = Estimate()
    last_stage_fraction_done: float = 0.0
    evidence: Optional[Evidence] = None


@dataclass(frozen=True)
class Coverage:
    newest_event_at: Optional[datetime] = None
    lost_events: int = 0
    dropped_events: int = 0
    dropped_points: int = 0
    anomalies: int = 0
    rejected_events: int = 0
    map_profiles: Optional[float] = None
    silent_tasks: int = 0
    missing_task_ends: int = 0
    tasks_beyond_slots: int = 0


@dataclass(frozen=True)
class IndicatorError:
    indicator: str = ""
    last_stage_avg_points: Optional[float] = None
    last_stage_max_points: Optional[float] = None
    job_avg_points: float = 0.0
    job_max_points: float = 0.0
    interval_coverage: Optional[float] = None
    interval_width: Optional[float] = None
    first_forecast: Optional[timedelta] = None
    first_forecast_after: Optional[timedelta] = None


@dataclass(frozen=True, repr=False)
class Snapshot:
    job_id: str
    at: datetime
    run_uid: str = ""
    sequence: int = 0
    state: JobState = JobState.UNKNOWN
    final: bool = False
    message: str = ""
    info: JobInfo = JobInfo()
    started_at: Optional[datetime] = None
    ended_at: Optional[datetime] = None
    estimate: Estimate = Estimate()
    counts: Counts = Counts()
    silent_since: Optional[datetime] = None
    notes: tuple[str, ...] = ()
    deadline_at: Optional[datetime] = None
    late_probability: Optional[float] = None
    estimate_raised: Optional[EstimateRaised] = None
    idle_since: Optional[datetime] = None
    headline_group: str = ""
    may_grow: bool = False
    throughput: Optional[Throughput] = None
    stage_infos: tuple[StageInfo, ...] = ()
    stages: tuple[StageProgress, ...] = ()
    children: tuple[Child, ...] = ()
    groups: tuple[Group, ...] = ()
    named_tasks: tuple[NamedTask, ...] = ()
    indicators: tuple[Indicator, ...] = ()
    coverage: Optional[Coverage] = None
    errors: tuple[IndicatorError, ...] = ()

    def __repr__(self) -> str:
        from tidemark import _words  # which imports this module

        percent = _words.percent_text(self.headline, True)
        parts = [] if percent == "-" else [percent]
        return f"<{self.job_id or self.name}: {', '.join([*parts, _words.line_text(self, True)])}>"

    @property
    def name(self) -> str:
        """The name of the job, or its id if it has no name."""
        return self.info.name or self.job_id

    @property
    def fraction_done(self) -> float:
        """The estimated fraction of the job's duration that has passed."""
        return self.estimate.fraction_done

    @property
    def remaining(self) -> Optional[Range]:
        """The estimated time until the end. If None, estimate.state contains the reason."""
        return self.estimate.remaining

    @property
    def elapsed(self) -> Optional[timedelta]:
        """The time since the start of the job, or its duration if it has ended. None if the start is unknown."""
        if self.started_at is None:
            return None
        return max((self.ended_at or self.at) - self.started_at, timedelta())

    @property
    def headline(self) -> Snapshot:
        """The group that users wait for, in the form of a job.

        It is the job itself if past runs predict the end of the application.
        """
        return self.of_group(self.headline_group) or self

    def of_group(self, group: str) -> Optional[Snapshot]:
        """Returns a group such as "sql/3" in the form of a job, or None if the group does not exist."""
        found = next((one for one in self.groups if one.group == group), None)
        if found is None:
            return None
        infos = tuple(info for info in self.stage_infos if info.group == group)
        members = {info.id for info in infos}
        stages = tuple(stage for stage in self.stages if stage.id in members)
        job_id = f"{self.job_id}/{group}"
        is_final = self.final or found.state != JobState.RUNNING
        if is_final:
            state = EstimateState.FINAL
        else:
            state = EstimateState.WARMING_UP if found.ends_in is None else EstimateState.VALID
            if found.estimate_state != EstimateState.UNKNOWN:
                state = found.estimate_state
        lower, upper = _fractions_at_bounds(found, self.at)
        return Snapshot(
            job_id=job_id,
            at=self.at,
            run_uid=self.run_uid,
            sequence=self.sequence,
            state=found.state,
            final=is_final,
            message=found.message,
            info=dataclasses.replace(
                self.info, name=found.name or job_id, kind=JobKind.APPLICATION
            ),
            started_at=found.started_at,
            ended_at=found.ended_at,
            estimate=Estimate(
                state=state,
                fraction_done=found.fraction_done,
                fraction_done_lower=lower,
                fraction_done_upper=upper,
                remaining=found.ends_in,
                basis=self.estimate.basis if found.basis == Basis.UNKNOWN else found.basis,
                known_share=self.estimate.known_share,
                method=self.estimate.method,
            ),
            counts=_counts_of(stages),
            silent_since=self.silent_since,
            may_grow=self.may_grow and found.state == JobState.RUNNING,
            estimate_raised=self.estimate_raised if self.headline_group == group else None,
            stage_infos=infos,
            stages=stages,
            named_tasks=tuple(
                task
                for task in self.named_tasks
                if StageId(task.child, task.attempt.stage) in members
            ),
        )


def _fractions_at_bounds(group: Group, at: datetime) -> tuple[float, float]:
    """Returns the fractions done for the latest and the earliest likely end of a group."""
    passed = timedelta()
    if group.started_at is not None:
        passed = max((group.ended_at or at) - group.started_at, passed)

    def part_of(remaining: Optional[timedelta]) -> float:
        if remaining is None:
            return group.fraction_done
        whole = passed + remaining
        return passed / whole if whole > timedelta() else 0.0

    if group.ends_in is None:
        return group.fraction_done, group.fraction_done
    return part_of(group.ends_in.upper), part_of(group.ends_in.lower)


def _counts_of(stages: tuple[StageProgress, ...]) -> Counts:
    known = [stage for stage in stages if stage.state != StageState.EXPECTED]
    return Counts(
        stage_count=len(known),
        finished_stage_count=sum(
            stage.state in (StageState.DONE, StageState.SKIPPED) for stage in known
        ),
        task_count=sum(stage.task_count for stage in known),
        running_task_count=sum(stage.running_task_count for stage in known),
        finished_task_count=sum(stage.finished_task_count for stage in known),
        failed_attempt_count=sum(stage.failed_attempt_count for stage in known),
    )


EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
