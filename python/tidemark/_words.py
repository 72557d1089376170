"""A snapshot as text, with the words and the rounding of the console (console/). The text is
printable for any snapshot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Optional

from tidemark.job import (
    Basis,
    Estimate,
    EstimateState,
    JobKind,
    JobState,
    Range,
    Snapshot,
    StageState,
)

_ZERO = timedelta()
_SECOND = timedelta(seconds=1)
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
# Largest difference between the true and the shown fraction, and share of the remaining work that
# ended work must support if there is no interval.
_PERCENT_OFF_MAX = 1 / 3
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
    # Chosen by hand: an interval contains five steps, and no number is rounded to 0.
    of_width = (most - least) / 5

    def step(number: timedelta) -> timedelta:
        return _rounding_step(min(of_width, number / 2))

    return Known(
        _nearest(remaining, step(remaining)),
        least // step(least) * step(least),
        -(-most // step(most)) * step(most),
        True,
    )


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
    if lower <= _ZERO:
        return f"up to {duration_text(upper)}"
    for unit, name, most in ((_MINUTE, "min", _HOUR), (_HOUR, "h", _DAY)):
        if upper < most and not lower % unit and not upper % unit:
            return f"{lower // unit}{dash}{upper // unit} {name}"
    return f"{duration_text(lower)} {dash} {duration_text(upper)}"


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
    if estimate.state == EstimateState.WARMING_UP:
        has_tasks = snapshot.counts.finished_task_count > 0
        is_application = snapshot.info.kind == JobKind.APPLICATION
        return "no estimate" if is_application and has_tasks else "no estimate yet"
    if estimate.state == EstimateState.OVERDUE:
        return _overdue_text(estimate)
    if estimate.remaining is None:
        return "remaining time unknown"
    known = round_to_known(estimate.remaining)
    if known.remaining <= _ZERO:
        is_exact = not known.has_range or known.upper <= _ZERO
        if known.upper > _LONGEST:
            return "remaining time unknown"
        soon = "about to end" if is_exact else f"less than {duration_text(known.upper)} left"
        return _with_details(soon, _guess(estimate))
    about = "" if known.remaining > _LONGEST else "≈ " if unicode else "~ "
    text = f"{about}{duration_text(known.remaining)} left"
    details = [range_text(known.lower, known.upper, unicode)] if known.has_range else []
    return _with_details(text, details + _guess(estimate))


def _overdue_text(estimate: Estimate) -> str:
    if estimate.remaining is None or not _has_interval(estimate):
        return "past the predicted end"
    most = round_to_known(estimate.remaining).upper
    if most > _LONGEST:
        return "past the predicted end"
    return f"past the predicted end, up to {duration_text(most)} more"


def _guess(estimate: Estimate) -> list[str]:
    """Returns the mark of an estimate that neither this run nor a past run supports."""
    return ["a guess"] if estimate.basis == Basis.GUESS else []


def _with_details(text: str, details: list[str]) -> str:
    return f"{text} ({', '.join(details)})" if details else text


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


def is_percent_meaningful(snapshot: Snapshot) -> bool:
    """Returns False if the true fraction may differ by more than a third from the shown one."""
    estimate = snapshot.estimate
    if snapshot.state == JobState.SUCCEEDED:
        return True
    if not snapshot.final and (
        estimate.state != EstimateState.VALID or estimate.remaining is None
    ):
        return True
    shown = estimate.fraction_done
    if _has_bounds(estimate):
        off = max(shown - estimate.fraction_done_lower, estimate.fraction_done_upper - shown)
        return off <= _PERCENT_OFF_MAX
    if snapshot.final or snapshot.info.kind != JobKind.APPLICATION:
        return True
    # More stages may follow.
    if estimate.known_share < _KNOWN_SHARE_MIN:
        return False
    elapsed = snapshot.elapsed or _ZERO
    whole = elapsed + estimate.remaining.median
    return whole <= _ZERO or abs(elapsed / whole - shown) <= _PERCENT_OFF_MAX


def shown_fraction(snapshot: Snapshot) -> float:
    """Returns the fraction to show: 1 only after success, 0 if it is not meaningful."""
    if snapshot.state == JobState.SUCCEEDED:
        return 1.0
    if not is_percent_meaningful(snapshot):
        return 0.0
    return min(snapshot.fraction_done, 0.999)


def _percent(fraction: float) -> int:
    # The addend corrects rounding: 100 * 0.29 is below 29.
    return math.floor(100 * fraction + 1e-9)


def percent_text(snapshot: Snapshot, unicode: bool = False) -> str:
    """Returns the percentage, rounded down, the range if it is not meaningful, or "-"."""
    estimate: Estimate = snapshot.estimate
    if not is_percent_meaningful(snapshot):
        lower, upper = estimate.fraction_done_lower, estimate.fraction_done_upper
        is_open = snapshot.final and lower <= 0 and upper >= 0.999
        if is_open or not _has_bounds(estimate):
            return "-"
        dash = "–" if unicode else "-"
        return f"{_percent(min(lower, 0.999))}{dash}{_percent(min(upper, 0.999))} %"
    percent = _percent(shown_fraction(snapshot))
    has_no_estimate = estimate.state in (EstimateState.WARMING_UP, EstimateState.UNKNOWN) or (
        snapshot.final and not estimate.fraction_done > 0
    )
    return "-" if has_no_estimate and percent == 0 else f"{percent} %"


def parts_text(snapshot: Snapshot) -> str:
    counts = snapshot.counts
    if snapshot.info.kind == JobKind.WORKFLOW or counts.child_count:
        return f"{counts.finished_child_count} of {counts.child_count} jobs done"
    expected = _stages_that_are(StageState.EXPECTED, snapshot)
    if not counts.stage_count and expected:
        return f"{expected} stages expected"
    if snapshot.info.kind == JobKind.APPLICATION and counts.stage_count:
        return _stages_text(snapshot, expected)
    if counts.task_count:
        return f"{counts.finished_task_count}/{counts.task_count} tasks"
    return ""


def _stages_that_are(state: StageState, snapshot: Snapshot) -> int:
    return sum(stage.state == state for stage in snapshot.stages)


def _stages_text(snapshot: Snapshot, expected: int) -> str:
    counts = snapshot.counts
    # The smallest view has no stages, only the count of ended ones.
    if not snapshot.stages and counts.finished_stage_count:
        return f"{counts.finished_stage_count} of {counts.stage_count} stages done or skipped"
    skipped = min(_stages_that_are(StageState.SKIPPED, snapshot), counts.finished_stage_count)
    text = f"{counts.finished_stage_count - skipped} of {counts.stage_count - skipped} stages done"
    if skipped:
        text += f", {skipped} skipped"
    if expected:
        text += f", {expected} more expected"
    is_whole = snapshot.final or is_percent_meaningful(snapshot)
    return text if is_whole else f"{text}, more may come"


def elapsed_text(snapshot: Snapshot) -> str:
    elapsed = snapshot.elapsed or _ZERO
    return _ended_text(elapsed) if snapshot.final else duration_text(elapsed)


def _ended_text(duration: timedelta) -> str:
    """Returns a duration with tenths of a second below ten seconds."""
    if duration >= 10 * _SECOND:
        return duration_text(duration)
    return f"{max(duration, _ZERO) / _SECOND:.1f} s"


def silence_text(snapshot: Snapshot) -> Optional[str]:
    if snapshot.final or snapshot.silent_since is None:
        return None
    who = "any of its jobs" if snapshot.info.kind == JobKind.WORKFLOW else "the job"
    silence = duration_text(snapshot.at - snapshot.silent_since)
    reported_at = snapshot.coverage.newest_event_at if snapshot.coverage else None
    if reported_at is not None and reported_at < snapshot.silent_since:
        return f"no reports from {who} since the master started, {silence} ago"
    return f"no reports from {who} for {silence}"


def straggler_text(snapshot: Snapshot) -> Optional[str]:
    """Returns which task ends last, and why."""
    if snapshot.final or not snapshot.named_tasks:
        return None
    return printable(snapshot.named_tasks[0].reason)


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
        return f"{by} late (due {due})" if late >= 0.5 else f"in time (due {due})"
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
    """Returns the whole line except the name and the bar."""
    texts = [parts_text(snapshot), remaining_text(snapshot, unicode), due_text(snapshot)]
    line = ", ".join(filter(None, texts))
    return "; ".join(filter(None, [line, silence_text(snapshot), straggler_text(snapshot)]))
