"""Draws snapshots: as a bar on a terminal or in a notebook, as plain lines elsewhere."""

from __future__ import annotations

import contextlib
import html
import importlib
import logging
import os
import re
import sys
import threading
import unicodedata
from datetime import timedelta
from typing import Any, Generator, Iterable, Optional, TextIO

from tidemark import _words
from tidemark.job import JobState, Snapshot

_log = logging.getLogger("tidemark")

# Interval between plain lines, by the master's clock.
_AT_LEAST_EVERY_S = 10
# A smaller change of the predicted end is not reported.
_END_MOVES = timedelta(seconds=5)
_TITLE_COLUMNS_MAX = 30
# The legend of a bar in a notebook.
_LEGEND = (
    "dark to the lower bound, lighter to the estimate, pale to the upper bound (90 % interval)"
)


def show(
    snapshots: Iterable[Snapshot],
    *,
    file: Optional[TextIO] = None,
    disable: Optional[bool] = False,
) -> Generator[Snapshot, None, None]:
    """Yields each snapshot after drawing it.

    file: receives the bar or the lines; by default a notebook does, else standard error.
    disable: True draws nothing; None draws on a terminal and in a notebook only.
    """
    with contextlib.closing(make_bar(file, disable)) as bar:
        yield from shown(snapshots, bar)


def shown(snapshots: Iterable[Snapshot], bar: Bar) -> Generator[Snapshot, None, None]:
    for snapshot in snapshots:
        bar.draw(snapshot)
        yield snapshot


def make_bar(file: Optional[TextIO], disable: Optional[bool]) -> Bar:
    if disable:
        return Bar()
    if file is None and _in_notebook():
        return NotebookBar()
    stream = sys.stderr if file is None else file
    if stream is None:  # The program has no console.
        return Bar()
    if _is_terminal(stream):
        return TerminalBar(stream)
    return Bar() if disable is None else PlainLines(stream)


class Bar:
    """Draws nothing. Any thread may call report()."""

    def draw(self, snapshot: Snapshot) -> None:
        pass

    def end(self, line: str, snapshot: Snapshot) -> None:
        """Replaces the bar by a line about the ended job."""

    def report(self, message: str) -> None:
        """Shows a problem with the master, or its end."""
        _log.warning(message)

    def close(self) -> None:
        pass


class _StreamBar(Bar):
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._unicode = _has_unicode(stream)
        self._lock = threading.Lock()
        self._notes: set[str] = set()

    def _new_notes(self, snapshot: Snapshot) -> list[str]:
        new = [note for note in map(_words.printable, snapshot.notes) if note not in self._notes]
        self._notes.update(new)
        return new

    def _write(self, text: str) -> None:
        if not self._unicode:
            text = text.encode("ascii", "replace").decode()
        self._stream.write(text)
        self._stream.flush()


class PlainLines(_StreamBar):
    """Writes a line for each important change, and every ten seconds."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._written: Optional[tuple[object, ...]] = None
        self._written_at: Any = None
        self._written_remaining: Optional[timedelta] = None

    def draw(self, snapshot: Snapshot) -> None:
        with self._lock:
            main = snapshot.headline
            percent = _words.percent_text(main, self._unicode)
            estimate = main.estimate.state
            marks = (snapshot.silent_since, snapshot.idle_since, snapshot.estimate_raised)
            # The bounds change with every snapshot.
            number = percent.split(" (")[0]
            now = (
                number,
                snapshot.headline_group,
                snapshot.state,
                snapshot.final,
                estimate,
                *(mark is not None for mark in marks),
            )
            if (
                now != self._written
                or (snapshot.at - self._written_at).total_seconds() >= _AT_LEAST_EVERY_S
                or self._has_end_moved(snapshot)
            ):
                self._written, self._written_at = now, snapshot.at
                self._written_remaining = _remaining(snapshot)
                percent = "" if percent == "-" else f"{percent}, "
                self._write(
                    f"[{_words.elapsed_text(snapshot)}] {_words.title(snapshot)}: {percent}"
                    f"{_words.line_text(snapshot, self._unicode)}\n"
                )
            for note in self._new_notes(snapshot):
                self._write(f"{_title(snapshot)}: {note}\n")

    def _has_end_moved(self, snapshot: Snapshot) -> bool:
        """Returns whether the end that was written last is misleading now."""
        remaining = _remaining(snapshot)
        if remaining is None or self._written_remaining is None:
            return remaining is not self._written_remaining
        expected = self._written_remaining - (snapshot.at - self._written_at)
        moved = abs(remaining - expected)
        return moved >= _END_MOVES and moved > max(remaining, expected) / 2

    def report(self, message: str) -> None:
        with self._lock:
            self._write(f"tidemark: {_words.printable(message)}\n")


class TerminalBar(_StreamBar):
    """Draws over one line of a terminal. The line stays when the bar is closed."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._line = ""
        self._has_legend = False

    def draw(self, snapshot: Snapshot) -> None:
        with self._lock:
            bar = _words.shown(snapshot.headline)
            if bar.lower < bar.upper and not self._has_legend:
                self._above(_words.legend_text(self._unicode))
                self._has_legend = True
            for note in self._new_notes(snapshot):
                self._above(f"{_title(snapshot)}: {note}")
            self._redraw(self._render(snapshot))

    def report(self, message: str) -> None:
        with self._lock:
            line = self._line
            self._above(f"tidemark: {_words.printable(message)}")
            self._redraw(line)

    def end(self, line: str, snapshot: Snapshot) -> None:
        with self._lock:
            self._above(_words.printable(line))

    def close(self) -> None:
        with self._lock:
            if self._line:
                self._line = ""
                self._write("\n")

    def _above(self, text: str) -> None:
        self._redraw("")
        self._write(f"{text}\n")

    def _redraw(self, line: str) -> None:
        blanks = " " * max(_columns(self._line) - _columns(line), 0)
        self._write(f"\r{line}{blanks}" + ("" if line else "\r"))
        self._line = line

    def _render(self, snapshot: Snapshot) -> str:
        # After a full line, the position of the cursor depends on the terminal.
        width = _width(self._stream) - 1
        main = snapshot.headline
        title = _cut(_words.title(snapshot), min(_TITLE_COLUMNS_MAX, width // 3))
        percent = _words.percent_text(main, self._unicode, has_bounds=width >= 60)
        before = f"{title}: {percent:>7} "
        behind = f" {_words.elapsed_text(snapshot)}, {_words.line_text(snapshot, self._unicode)}"
        room = width - _columns(before) - _columns(behind)
        bar = _words.bar_text(_words.shown(main), max(min(room, 40), 12), self._unicode)
        return _cut(before + bar + behind, width)


class NotebookBar(Bar):
    """Updates an output of the notebook's cell in place. The first bar with bounds shows the legend."""

    _explained: Optional[NotebookBar] = None

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._display: Any = None
        self._newest: Optional[Snapshot] = None
        self._trouble = ""

    def draw(self, snapshot: Snapshot) -> None:
        with self._lock:
            self._newest = snapshot
            self._update()

    def report(self, message: str) -> None:
        with self._lock:
            self._trouble = message
            self._update()

    def end(self, line: str, snapshot: Snapshot) -> None:
        line = _words.printable(line)
        mark = "✓" if snapshot.state == JobState.SUCCEEDED else "✗"
        text = f'<span style="color: {_color(snapshot)}">{mark}</span> {html.escape(line)}'
        with self._lock:
            self._show({"text/html": f"<div>{text}</div>", "text/plain": f"{mark} {line}"})

    def _update(self) -> None:
        self._show({"text/html": self._html(), "text/plain": self._text()})

    def _show(self, bundle: dict[str, str]) -> None:
        display: Any = importlib.import_module("IPython.display").display
        if self._display is None:
            self._display = display(bundle, raw=True, display_id=True)
        else:
            self._display.update(bundle, raw=True)

    def _text(self) -> str:
        if self._newest is None:
            return self._trouble
        texts = [
            f"{_words.title(self._newest)}: {_words.percent_text(self._newest.headline, True)}, "
            f"{_words.elapsed_text(self._newest)}, {_words.line_text(self._newest, True)}"
        ]
        return "\n".join(texts + self._remarks())

    def _html(self) -> str:
        rows = [f"<div>{html.escape(_words.printable(remark))}</div>" for remark in self._remarks()]
        if self._newest is None:
            return "".join(rows)
        snapshot = self._newest
        color = _color(snapshot)
        main = snapshot.headline
        bar = _words.shown(main)
        stops = [(color, bar.lower), (f"{color}b0", bar.fraction), (f"{color}50", bar.upper)]
        edges = [0.0, *(stop for _, stop in stops)]
        zones = ", ".join(
            f"{shade} {100 * edges[i]:.2f}% {100 * stop:.2f}%"
            for i, (shade, stop) in enumerate(stops)
        )
        if bar.lower < bar.upper and NotebookBar._explained is None:
            NotebookBar._explained = self
        legend = f"<small>{html.escape(_LEGEND)}</small>" if NotebookBar._explained is self else ""
        text = f"{_words.elapsed_text(snapshot)}, {_words.line_text(snapshot, True)}"
        text = re.sub("(?<=[0-9≈]) ", "\u00a0", text)  # numbers and units stay on one line
        return (
            f"<div><b>{html.escape(_words.title(snapshot))}</b> "
            f'<span title="{html.escape(_LEGEND)}" style="display: inline-block; width: 15em; '
            f"height: .8em; border-radius: .4em; background: linear-gradient(90deg, {zones}, "
            f'#88888840 {100 * bar.upper:.2f}%)"></span> '
            f"{html.escape(_words.percent_text(main, True))} &nbsp; {html.escape(text)}</div>"
            f"{legend}" + "".join(rows)
        )

    def _remarks(self) -> list[str]:
        notes = list(self._newest.notes) if self._newest else []
        return notes + ([f"tidemark: {self._trouble}"] if self._trouble else [])


def _color(snapshot: Snapshot) -> str:
    if not snapshot.final:
        return "#1565c0"
    return "#2e7d32" if snapshot.state == JobState.SUCCEEDED else "#c62828"


def _remaining(snapshot: Snapshot) -> Optional[timedelta]:
    remaining = snapshot.headline.estimate.remaining
    return None if remaining is None else remaining.median


def _title(snapshot: Snapshot) -> str:
    return _words.printable(snapshot.name) or "(unnamed)"


def _columns(text: str) -> int:
    return sum(
        (
            0
            if unicodedata.combining(letter)
            else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        )
        for letter in text
    )


def _cut(text: str, columns: int) -> str:
    while _columns(text) > columns:
        text = text[:-1]
    return text


def _width(stream: TextIO) -> int:
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, 20)
    except (AttributeError, OSError, ValueError):
        return 80


def _is_terminal(stream: TextIO) -> bool:
    # Windows has no TERM, but its consoles support carriage returns.
    if os.environ.get("TERM", "" if os.name == "posix" else "windows") in ("", "dumb"):
        return False
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def _has_unicode(stream: TextIO) -> bool:
    return "utf" in (getattr(stream, "encoding", None) or "").lower()


def _in_notebook() -> bool:
    """Returns whether this program is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None
