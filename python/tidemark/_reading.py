"""Converts messages of a master to the values of tidemark.job."""

from __future__ import annotations

import dataclasses
import functools
import typing
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Callable

from tidemark import job


def read_snapshot(message: Any) -> job.Snapshot:
    """Returns the snapshot in a message.

    Raises ValueError if a required field is missing or a value is out of range.
    """
    try:
        return typing.cast(job.Snapshot, _read(job.Snapshot, message))
    except (OverflowError, ValueError) as error:
        raise ValueError(
            f"its snapshot of job {message.job_id!r} is invalid: {error}"
        ) from None


def _read(kind: Any, message: Any) -> Any:
    return kind(**{name: read(message) for name, read in _readers(kind)})


@functools.lru_cache(maxsize=None)
def _readers(kind: Any) -> list[tuple[str, Callable[[Any], Any]]]:
    hints = typing.get_type_hints(kind)
    return [
        (field.name, _reader(field.name, hints[field.name])) for field in dataclasses.fields(kind)
    ]


def _reader(name: str, hint: Any) -> Callable[[Any], Any]:
    arguments = typing.get_args(hint)
    convert = _converter(name, arguments[0] if arguments else hint)
    if typing.get_origin(hint) is tuple:
        return lambda message: tuple(convert(value) for value in getattr(message, name))
    if arguments:  # A type such as Optional.
        return lambda message: convert(getattr(message, name)) if message.HasField(name) else None
    return lambda message: convert(getattr(message, name))


def _converter(name: str, hint: Any) -> Callable[[Any], Any]:
    if hint is datetime:
        return lambda value: job.EPOCH + _duration(value)
    if hint is timedelta:
        return _duration
    if hint is float and name.endswith(("_points", "_per_second", "_width")):
        return lambda value: value if value >= 0 else 0.0  # NaN becomes 0.
    if hint is float:
        return lambda value: min(value, 1.0) if value >= 0 else 0.0
    if issubclass(hint, Enum):
        return functools.partial(_member, hint)
    if dataclasses.is_dataclass(hint):
        return functools.partial(_read, hint)
    return lambda value: value


def _duration(message: Any) -> timedelta:
    return timedelta(seconds=message.seconds, microseconds=message.nanos // 1000)


# Members are in the order of their numbers. A newer master may send higher numbers.
def _member(kind: Any, number: int) -> Any:
    members = list(kind)
    return members[number] if 0 <= number < len(members) else kind.UNKNOWN
