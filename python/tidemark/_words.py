"""A snapshot as text, with the words and the rounding of the console (console/). The text is
printable for any snapshot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Optional

from tidemark.job import (
    Basis,
    ChildState,
    Estimate,
    EstimateMethod,
    EstimateState,
    JobKind,
    JobState,
    RaiseCause,
    Range,
    Snapshot,
    StageState,
)

_ZERO = timedelta()
_SECOND = timedelta(seconds=1)
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
# Largest ratio of the bounds of the whole time of an estimate that is not a guess, and share of the
# remaining work that ended work must support if there is no interval.
_BOUNDS_RATIO_MAX = 10
_KNOWN_SHARE_MIN = 0.5
# Longer durations are shown as "over 999 d".
_LONGEST = 999 * _DAY
_STEPS = [
    timedelta(seconds=seconds) for seconds in (5, 10, 30, 60, 300, 600, 1800, 3600, 6 * 3600, 86400)
]


def printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def duration_text(duration: timedelta) -> str:
    if duration > _LONGEST:
        return "over 999 d"
    seconds = max(duration // _SECOND, 0)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return _two_units(seconds, 60, "min", 1, "s")
    if seconds < 86400:
        return _two_units(seconds, 3600, "h", 60, "min")
    return _two_units(seconds, 86400, "d", 3600, "h")


def bytes_text(size: int) -> str:
    """Returns "512 B" or "3.1 MB", as SizeText() in text/size_text.h."""
    if size < 1000:
        return f"{size} B"
    value, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if value < 999.95:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit}"


def _two_units(seconds: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = seconds % large // small
    text = f"{seconds // large} {large_name}"
    return f"{text} {rest:02} {small_name}" if rest else text


@dataclass(frozen=True)
class Known:
    """A range, rounded to its precision."""

    remaining: timedelta
    lower: timedelta
    upper: timedelta
    has_range: bool


def round_to_known(found: Range) -> Known:
    remaining = _sane(found.median)
    if found.lower is None or found.upper is None:
        rounded = _nearest(remaining, _rounding_step(remaining / 10))
        return Known(rounded, rounded, rounded, False)
    least = min(_sane(found.lower), remaining)
    most = max(_sane(found.upper), remaining)
    # Chosen by hand: an interval contains five steps, and the median is not rounded to 0.
    width = (most - least) / 5
    rounded = _nearest(remaining, _rounding_step(min(width, remaining / 2)))
    if most - least < _SECOND:
        return Known(rounded, rounded, rounded, True)
    if most > _LONGEST:
        step = _rounding_step(least / 2)
        return Known(rounded, least // step * step, most, True)
    # Both bounds have the unit of the width, unless it would round half a unit or more to zero.
    step = _rounding_step(min(width, least / 2))
    unit = max(step, *(unit for unit in (_SECOND, _MINUTE, _HOUR, _DAY) if unit <= max(width, _SECOND)))
    unit = step if unit / 2 <= least < unit else unit
    upper = -(-most // _rounding_step(width)) * _rounding_step(width)
    return Known(rounded, min(least // unit * unit, rounded), max(upper, rounded), True)


def _sane(duration: timedelta) -> timedelta:
    return min(max(duration, _ZERO), _LONGEST + _DAY)


def _rounding_step(precision: timedelta) -> timedelta:
    return max((step for step in _STEPS if step <= precision), default=_SECOND)


def _nearest(duration: timedelta, step: timedelta) -> timedelta:
    return (duration + step / 2) // step * step


def range_text(lower: timedelta, upper: timedelta, unicode: bool) -> str:
    dash = "–" if unicode else "-"
    if lower > _LONGEST:
        return duration_text(lower)
    if upper > _LONGEST:
        return f"{duration_text(lower)} or more"
    if duration_text(lower) == duration_text(upper):
        return duration_text(upper)
    if upper <= _MINUTE:
        return f"{lower // _SECOND}{dash}{upper // _SECOND} s"
    for unit, name, most in ((_MINUTE, "min", _HOUR), (_HOUR, "h", _DAY)):
        if upper < most and not lower % unit and not upper % unit:
            return f"{lower // unit}{dash}{upper // unit} {name}"
    least = "0" if lower <= _ZERO else duration_text(lower)
    return f"{least} {dash} {duration_text(upper)}"


def state_name(snapshot: Snapshot) -> str:
    if snapshot.state == JobState.UNKNOWN_END:
        return "unknown (no end reported)"
    if snapshot.state in (JobState.UNKNOWN, JobState.RUNNING):
        return "ended" if snapshot.final else "running"
    return str(snapshot.state)


def remaining_text(snapshot: Snapshot, unicode: bool) -> str:
    """Returns the remaining time, or the state of an ended job and its reason."""
    estimate = snapshot.estimate
    if snapshot.final:
        reason = printable(snapshot.message)
        return f"{state_name(snapshot)}: {reason}" if reason else state_name(snapshot)
    if estimate.state == EstimateState.UNKNOWN:
        return "not started"
    if estimate.state == EstimateState.WARMING_UP and snapshot.idle_since is not None:
        return _idle_text(snapshot) or ""
    if estimate.state == EstimateState.WARMING_UP:
        has_tasks = snapshot.counts.finished_task_count > 0
        is_application = snapshot.info.kind == JobKind.APPLICATION
        return "no estimate" if is_application and has_tasks else "no estimate yet"
    if estimate.state == EstimateState.OVERDUE:
        left = estimate.remaining
        is_known = left is not None and _has_interval(estimate) and not _is_open(left)
        if left is None or not is_known:
            return "overdue"
        known = round_to_known(left)
        if known.remaining > _ZERO:
            return f"overdue, {_left_text(left, unicode)}"
        return f"overdue, {range_text(known.lower, known.upper, unicode)} left"
    if estimate.remaining is None:
        return "remaining time unknown"
    guess = guess_text(snapshot)
    if not _is_unsupported(snapshot):
        return _left_text(estimate.remaining, unicode, guess)
    if not _has_interval(estimate):
        return "no estimate yet: no result supports one"
    known = round_to_known(estimate.remaining)
    return f"{guess}: {range_text(known.lower, known.upper, unicode)} left"


def _is_open(left: Range) -> bool:
    return round_to_known(left).upper > _LONGEST


def _left_text(left: Range, unicode: bool, guess: str = "") -> str:
    known = round_to_known(left)
    is_near = known.remaining <= _ZERO
    if is_near and known.upper > _LONGEST:
        return "remaining time unknown"
    about = "" if known.remaining > _LONGEST else "≈ " if unicode else "~ "
    text = "about to end" if is_near else f"{about}{duration_text(known.remaining)} left"
    has_range = known.has_range and known.lower < known.upper
    details = [range_text(known.lower, known.upper, unicode)] if has_range else []
    details += [guess] if guess else []
    return f"{text} ({', '.join(details)})" if details else text


_GUESSES = {
    EstimateMethod.OTHER_JOBS: "a guess from other jobs",
    EstimateMethod.MAP_PHASE: "a guess from the map phase",
    EstimateMethod.BYTES_READ: "a guess from the bytes read",
}


def guess_text(snapshot: Snapshot) -> str:
    """Returns why the estimate is a guess, or "" if it is not."""
    estimate = snapshot.estimate
    if estimate.basis == Basis.GUESS:
        return _GUESSES.get(estimate.method, "a guess")
    if snapshot.state == JobState.QUEUED:
        return ""
    if _may_grow(snapshot):
        return "a guess"  # its parts contain "more may come"
    return "a guess: few results yet" if _is_wide(snapshot) else ""


def _is_wide(snapshot: Snapshot) -> bool:
    """Returns whether the bounds of the whole time are too far apart for one number."""
    left = snapshot.estimate.remaining
    if left is None or left.lower is None or left.upper is None:
        return False
    elapsed = snapshot.elapsed or _ZERO
    return elapsed + left.upper > _BOUNDS_RATIO_MAX * (elapsed + left.lower)


def _may_grow(snapshot: Snapshot) -> bool:
    """Returns whether a workflow may grow, or the estimate of an application that may grow lacks most of its work."""
    if snapshot.final or not snapshot.may_grow:
        return False
    if snapshot.info.kind != JobKind.APPLICATION:
        return True
    if _has_interval(snapshot.estimate):
        return _is_wide(snapshot)
    return snapshot.estimate.known_share < _KNOWN_SHARE_MIN


def _is_unsupported(snapshot: Snapshot) -> bool:
    """Returns whether nothing in this run supports the estimate, and its bounds are wide or missing."""
    estimate = snapshot.estimate
    return (
        snapshot.state != JobState.QUEUED
        and estimate.state == EstimateState.VALID
        and estimate.basis == Basis.GUESS
        and estimate.method != EstimateMethod.MAP_PHASE
        and (not _has_interval(estimate) or _is_wide(snapshot))
    )


def _has_interval(estimate: Estimate) -> bool:
    left = estimate.remaining
    return left is not None and left.lower is not None and left.upper is not None


def _has_bounds(estimate: Estimate) -> bool:
    """Returns True for an interval, or the last bounds of a job without success."""
    has_kept = (
        estimate.state == EstimateState.FINAL
        and estimate.fraction_done_lower < estimate.fraction_done_upper
    )
    return has_kept or _has_interval(estimate)


@dataclass(frozen=True)
class Shown:
    """The numbers of a bar; lower <= fraction <= upper, and all are equal without an interval."""

    fraction: float = 0.0
    lower: float = 0.0
    upper: float = 0.0
    has_number: bool = True

    @property
    def is_estimate(self) -> bool:
        return 0 < self.fraction < 1


def shown(snapshot: Snapshot) -> Shown:
    """Returns the numbers of the bar. The fraction is 1 only after success."""
    if snapshot.state == JobState.SUCCEEDED:
        return Shown(1.0, 1.0, 1.0)
    estimate = snapshot.estimate
    fraction = lower = upper = _running(estimate.fraction_done)
    if estimate.state in (EstimateState.WARMING_UP, EstimateState.UNKNOWN) or (
        snapshot.final and fraction <= 0
    ):
        return Shown(has_number=False)
    if _has_bounds(estimate):
        lower = min(_running(estimate.fraction_done_lower), fraction)
        upper = max(_running(estimate.fraction_done_upper), fraction)
    if _is_unsupported(snapshot):
        has_interval = _has_interval(estimate)
        return Shown(lower, lower, upper, False) if has_interval else Shown(has_number=False)
    return Shown(fraction, lower, upper)


def _running(fraction: float) -> float:
    return min(max(fraction, 0.0), 0.999)


def percent_text(snapshot: Snapshot, unicode: bool = False, has_bounds: bool = True) -> str:
    """Returns "≈ 41 % (11–98)", "100 %", or "-" without an estimate."""
    bar = shown(snapshot)
    if not bar.has_number:
        return "-"
    # The addend compensates for rounding, since 100 * 0.29 is less than 29.
    number, lower, upper = (
        math.floor(100 * part + 1e-9) for part in (bar.fraction, bar.lower, bar.upper)
    )
    about = ("≈ " if unicode else "~ ") if bar.is_estimate else ""
    has_bounds = has_bounds and lower < upper
    bounds = f" ({lower}{'–' if unicode else '-'}{upper})" if has_bounds else ""
    return f"{about}{number} %{bounds}"


_BLOCKS = ("█▓▒░", "#=-.")


def bar_text(bar: Shown, columns: int, unicode: bool) -> str:
    """Returns a bar as wide as `columns`: up to the lower bound, the fraction and the upper bound."""
    letters = _BLOCKS[0 if unicode else 1]
    inner = columns if unicode else columns - 2
    ends = [0, *(int(part * inner) for part in (bar.lower, bar.fraction, bar.upper)), inner]
    text = "".join((ends[i + 1] - ends[i]) * letters[i] for i in range(4))
    return text if unicode else f"[{text}]"


def legend_text(unicode: bool) -> str:
    letters = _BLOCKS[0 if unicode else 1]
    return (
        f"{letters[0]} to the lower bound, {letters[1]} to the estimate, "
        f"{letters[2]} to the upper bound (90 % interval)"
    )


def parts_text(snapshot: Snapshot) -> str:
    counts = snapshot.counts
    if snapshot.info.kind == JobKind.WORKFLOW or counts.child_count:
        done = f"{counts.finished_child_count} of {counts.child_count} jobs done"
        return _with_growth(snapshot, done)
    if snapshot.headline_group and not snapshot.final:
        is_job = snapshot.headline_group.startswith("job/")
        one, many = ("job", "jobs") if is_job else ("query", "queries")
        if any(group.group.startswith("job/") != is_job for group in snapshot.groups):
            one, many = "query or job", "queries and jobs"
        done = counts.finished_group_count
        return f"{done} {one if done == 1 else many} done, more may come"
    expected = _stages_that_are(StageState.EXPECTED, snapshot)
    if not counts.stage_count and expected:
        return f"{expected} stage{'' if expected == 1 else 's'} expected"
    if snapshot.info.kind == JobKind.APPLICATION and counts.stage_count:
        return _stages_text(snapshot, expected)
    if counts.task_count:
        return f"{counts.finished_task_count}/{counts.task_count} tasks"
    return ""


def _stages_that_are(state: StageState, snapshot: Snapshot) -> int:
    return sum(stage.state == state for stage in snapshot.stages)


def _stages_text(snapshot: Snapshot, expected: int) -> str:
    counts = snapshot.counts
    # The smallest view contains the number of ended stages, but no stages.
    if not snapshot.stages and counts.finished_stage_count:
        return f"{counts.finished_stage_count} of {counts.stage_count} stages done or skipped"
    skipped = min(_stages_that_are(StageState.SKIPPED, snapshot), counts.finished_stage_count)
    done, known = counts.finished_stage_count - skipped, counts.stage_count - skipped + expected
    text = f"{done} of about {known} stages done" if expected else f"{done} of {known} stages done"
    if failed := _stages_that_are(StageState.FAILED, snapshot):
        text += f", {failed} failed"
    if skipped:
        text += f", {skipped} skipped"
    return _with_growth(snapshot, text)


def _with_growth(snapshot: Snapshot, progress: str) -> str:
    return f"{progress}, more may come" if _may_grow(snapshot) else progress


def elapsed_text(snapshot: Snapshot) -> str:
    elapsed = snapshot.elapsed or _ZERO
    return _ended_text(elapsed) if snapshot.final else duration_text(elapsed)


def _ended_text(duration: timedelta) -> str:
    """Returns the nearest duration_text(), with tenths of a second below ten seconds."""
    if duration >= 10 * _SECOND:
        hour = 3600 * _SECOND
        unit = _SECOND if duration < hour else 60 * _SECOND if duration < 24 * hour else hour
        return duration_text(_nearest(duration, unit))
    return f"{max(duration, _ZERO) / _SECOND:.1f} s"


def silence_text(snapshot: Snapshot) -> Optional[str]:
    if snapshot.final or snapshot.silent_since is None:
        return None
    who = "any of its jobs" if snapshot.info.kind == JobKind.WORKFLOW else "the job"
    missing = f"reports from {who}"
    # The next job may not have been submitted.
    if snapshot.children and all(job.state != ChildState.RUNNING for job in snapshot.children):
        missing = "job running"
    silence = duration_text(snapshot.at - snapshot.silent_since)
    reported_at = snapshot.coverage.newest_event_at if snapshot.coverage else None
    if reported_at is not None and reported_at < snapshot.silent_since:
        return f"no {missing} since the master started, {silence} ago"
    return f"no {missing} for {silence}"


def raised_text(snapshot: Snapshot) -> Optional[str]:
    """Returns why the shown progress moves back."""
    raised = snapshot.estimate_raised
    if snapshot.final or raised is None or not shown(snapshot.headline).has_number:
        return None
    many = "" if raised.stage_count == 1 else "s"
    causes = {
        RaiseCause.MORE_STAGES: f": {raised.stage_count} more stage{many} appeared",
        RaiseCause.SLOWER_TASKS: ": tasks take longer than predicted",
        RaiseCause.OVERDUE: ": tasks still run after their predicted end",
        RaiseCause.NOT_ENDED: ": the application has not ended yet",
    }
    if snapshot.info.kind == JobKind.WORKFLOW:
        cause = ": jobs take longer or start later than predicted"
    else:
        cause = "" if snapshot.headline.counts.running_task_count else ": no task is running"
    return "estimate raised" + causes.get(raised.cause, cause)


def _idle_text(snapshot: Snapshot) -> Optional[str]:
    if snapshot.final or snapshot.idle_since is None:
        return None
    known_at = snapshot.silent_since or snapshot.at
    idle = duration_text(known_at - snapshot.idle_since)
    if snapshot.info.kind == JobKind.WORKFLOW:
        return f"idle for {idle}: all of its known jobs have ended"
    has_begun = snapshot.counts.stage_count > 0
    return (
        f"idle for {idle}: {'all of its stages have ended' if has_begun else 'no stage has begun'}"
    )


def warning_texts(snapshot: Snapshot) -> list[str]:
    """Returns why the shown progress moves back, and how long the job is silent or idle."""
    is_shown = snapshot.estimate.state == EstimateState.WARMING_UP
    idle = None if is_shown else _idle_text(snapshot)
    return [text for text in (raised_text(snapshot), silence_text(snapshot), idle) if text]


def straggler_text(snapshot: Snapshot) -> Optional[str]:
    """Returns which task ends last, and why, as a part of a line, unless the estimate is a guess."""
    if snapshot.final or not snapshot.named_tasks:
        return None
    if snapshot.estimate.basis == Basis.GUESS or _is_wide(snapshot):
        return None
    reason = printable(snapshot.named_tasks[0].reason)
    return reason[0].lower() + reason[1:] if reason.startswith(("Task ", "Reduce task ")) else reason


def due_text(snapshot: Snapshot) -> Optional[str]:
    """Returns the deadline and the probability of being late."""
    if snapshot.deadline_at is None:
        return None
    due = _clock_text(snapshot.deadline_at.astimezone(), snapshot.at.astimezone())
    late = snapshot.late_probability
    if snapshot.final:
        if late is None or snapshot.ended_at is None:
            return f"due {due}"
        by = _ended_text(snapshot.ended_at - snapshot.deadline_at)
        return f"{by} late (due {due})" if late >= 0.5 else f"on time (due {due})"
    if snapshot.at >= snapshot.deadline_at:
        return f"was due {due}"
    if late is None:
        return f"due {due}"
    percent = "under 1 %" if late < 0.01 else "over 99 %" if late > 0.99 else f"{100 * late:.0f} %"
    return f"due {due}, {percent} likely late"


def _clock_text(at: datetime, now: datetime) -> str:
    """Returns the time of day, with seconds within an hour unless it is a whole minute."""
    has_seconds = at.second != 0 and abs(at - now) < _HOUR
    is_today, is_this_year = at.date() == now.date(), at.year == now.year
    day = "" if is_today else "%b %d " if is_this_year else "%Y-%m-%d "
    return at.strftime(day + ("%H:%M:%S" if has_seconds else "%H:%M"))


def line_text(snapshot: Snapshot, unicode: bool) -> str:
    """Returns the whole line except the name and the bar, which are those of the headline."""
    main = snapshot.headline
    texts = [parts_text(main), remaining_text(main, unicode), due_text(snapshot)]
    line = ", ".join(filter(None, texts))
    whole = parts_text(snapshot) if main is not snapshot else None
    remarks = [whole, straggler_text(main), *warning_texts(snapshot)]
    return "; ".join(filter(None, [line, *remarks]))


def title(snapshot: Snapshot) -> str:
    """Returns the name of the job, and the name of its headline's group if there is one."""
    name = printable(snapshot.name) or "(unnamed)"
    main = snapshot.headline
    if main is snapshot:
        return name
    group = snapshot.headline_group
    is_named = main.name != main.job_id
    return printable(f"{name}, {group} {main.name}" if is_named else f"{name}, {group}")
