"""Draws a bar for each action of a Spark application while a notebook or a shell waits for it."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import re
import subprocess
import sys
import threading
from datetime import timedelta
from typing import Any, Callable, Dict, Mapping, Optional

from tidemark import _program, _words, errors
from tidemark.bar import Bar, NotebookBar, make_bar
from tidemark.client import Client, Watch
from tidemark.job import JobState, Snapshot, View

_log = logging.getLogger("tidemark")

# Shorter actions draw nothing, since they would fill the output of a loop.
_SHOWN_AFTER = timedelta(seconds=1)
# The end of a cell waits this long for the last lines of its actions.
_LAST_LINES_WITHIN_S = 3.0
# A line appears without a cause if the program does not find it within this time.
_CAUSE_WITHIN_S = 2.0
# A cause is named if it took at least this share of an action.
_SHARE_MIN = 0.1
# The places that PySpark names for calls from a cell. They are the same for all cells or generated.
_NO_PLACE = re.compile(r" at (NativeMethodAccessorImpl\.java:\d+|\S*ipykernel_\d+\S*|<\S*>:\d+)$")
# Calls that PySpark makes on behalf of a function with another name.
_CALLS = {"showString": "show"}


class Actions:
    """The bars of one application. They end with the application or with close().

    is_busy: returns whether Spark runs jobs. After a cell, these are jobs of threads or of streams.
    """

    def __init__(
        self,
        client: Client,
        application: str,
        connection: Mapping[str, Any],
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._client = client
        self._application = application
        self._options = _program.options(
            {name: value for name, value in connection.items() if name not in ("token", "master")}
        )
        self._has_token = connection.get("token") is not None
        self._is_busy = is_busy
        self._is_closed = False
        self._has_warned = False
        self._changed = threading.Condition()  # Guards changes of the next two fields. No call is made under it.
        self._bars: Dict[str, _ActionBar] = {}
        self._in_background: set[str] = set()  # bars that a cell awaited in vain
        self._ended: set[str] = set()  # includes actions that ended before the first snapshot
        self._terminal: Optional[Bar] = None
        self._watch: Watch[Snapshot] = client.watch(
            application, view=View.FULL, wait_for_job=True, patience=float("inf"), on_trouble=self._warn_once
        )
        self._thread = threading.Thread(target=self._follow, name="tidemark-bars", daemon=True)
        self._thread.start()
        shell = _shell()
        if shell is not None:
            shell.events.register("post_run_cell", self._wait_for_last_lines)
        elif hasattr(sys, "ps1") and sys.version_info < (3, 13):  # Later shells format the prompt at each key.
            sys.ps1 = _Prompt(sys.ps1, self._wait_for_last_lines)

    def is_running(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        """Ends the bars and the connection."""
        self._is_closed = True
        with contextlib.suppress(Exception):  # It may have been unregistered before.
            shell = _shell()
            if shell is not None:
                shell.events.unregister("post_run_cell", self._wait_for_last_lines)
        prompt = getattr(sys, "ps1", None)
        if isinstance(prompt, _Prompt) and prompt.wait == self._wait_for_last_lines:
            sys.ps1 = prompt.text
        self._client.close()

    def _follow(self) -> None:
        is_first = True
        try:
            for snapshot in self._watch:
                if is_first:
                    self._ended.update(_ended_groups(snapshot))
                    is_first = False
                self._show(snapshot)
        except errors.TidemarkError as fault:
            self._warn_once(str(fault))
        except Exception as fault:  # The application continues without bars.
            _log.debug("the bars of %s ended", self._application, exc_info=fault)
        finally:
            for bar in self._bars.values():
                with contextlib.suppress(Exception):
                    bar.close()
            with self._changed:
                self._bars.clear()
                self._changed.notify_all()
            with contextlib.suppress(Exception):
                self.close()

    def _warn_once(self, trouble: str) -> None:
        if not self._has_warned and not self._is_closed:
            self._has_warned = True
            _log.warning("no bars of %s at present: %s", self._application, trouble)

    def _show(self, application: Snapshot) -> None:
        for group in application.groups:
            name = group.group
            if name in self._ended:
                continue
            action = application.of_group(name)
            if action is None:
                continue
            call = _NO_PLACE.sub("", action.info.name)
            info = dataclasses.replace(action.info, name=_CALLS.get(call, call))
            action = dataclasses.replace(action, info=info)
            if name not in self._bars and (action.elapsed or timedelta()) >= _SHOWN_AFTER:
                with self._changed:
                    self._bars[name] = _ActionBar(self._new_bar())
            bar = self._bars.get(name)
            if action.final:
                self._ended.add(name)
                if bar is not None:
                    bar.end(action, self._cause(name, action))
                    with self._changed:
                        del self._bars[name]
                        self._in_background.discard(name)
                        self._changed.notify_all()
            elif bar is not None:
                # A terminal has one line, which shows the oldest action.
                bar.draw(action, is_visible=self._terminal is None or name == next(iter(self._bars)))

    def _new_bar(self) -> Bar:
        """Returns a new bar below the cell of a notebook, or else the only bar of the terminal."""
        bar = make_bar(None, None)
        if isinstance(bar, NotebookBar):
            return bar
        self._terminal = self._terminal or bar
        return self._terminal

    def _cause(self, group: str, action: Snapshot) -> str:
        if self._has_token:  # Other users could read a token on a command line.
            return ""
        try:
            found = _program.answers(
                "why",
                *["--query", group, "--master", self._client.address, *self._options, "--", self._application],
                timeout_s=_CAUSE_WITHIN_S,
            )
            return cause_text(found[0], action.elapsed) if found else ""
        except (errors.TidemarkError, OSError, ValueError, LookupError, TypeError, subprocess.TimeoutExpired):
            return ""

    def _wait_for_last_lines(self, *_: Any) -> None:
        """Waits until the actions of a cell have ended here too. A snapshot may be late by a second.

        Actions of threads and of streams delay at most one cell.
        """
        with contextlib.suppress(Exception):
            if not self._awaited() or self._is_busy():
                return
            with self._changed:
                self._changed.wait_for(
                    lambda: not self._awaited() or not self._thread.is_alive(), _LAST_LINES_WITHIN_S
                )
                self._in_background.update(self._bars)

    def _awaited(self) -> set[str]:
        return set(self._bars) - self._in_background


class _Prompt:
    """The prompt of a plain Python shell, which appears below the last lines of its actions."""

    def __init__(self, text: object, wait: Callable[[], None]) -> None:
        self.text = text.text if isinstance(text, _Prompt) else text
        self.wait = wait

    def __str__(self) -> str:
        self.wait()
        return str(self.text)


class _ActionBar:
    """The bar of one action, and the line that replaces it at the end."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._predicted: Optional[timedelta] = None

    def draw(self, action: Snapshot, is_visible: bool) -> None:
        left, elapsed = action.remaining, action.elapsed
        if self._predicted is None and left is not None and elapsed is not None:
            if not _words.guess_text(action):
                self._predicted = elapsed + left.median
        if is_visible:
            self._bar.draw(action)

    def end(self, action: Snapshot, cause: str) -> None:
        self._bar.end(f"{action.name}: {ended_text(action, self._predicted, cause)}", action)

    def close(self) -> None:
        self._bar.close()


def ended_text(action: Snapshot, predicted: Optional[timedelta], cause: str) -> str:
    """Returns "12.3 s, predicted 11 s; CAUSE". A failure replaces the cause."""
    text = _words.elapsed_text(action)
    if action.state != JobState.SUCCEEDED:
        return f"{text}, {_words.remaining_text(action, True)}"
    if predicted is not None:
        text += f", predicted {_words.duration_text(predicted)}"
    return f"{text}; {cause}" if cause else text


def cause_text(answer: Mapping[str, Any], elapsed: Optional[timedelta]) -> str:
    """Returns what took a large part of an action: a key, a task or a wait. `answer` is one of `tidemark why`."""
    whole = elapsed.total_seconds() if elapsed is not None else 0.0
    task = answer.get("longest_task") or {}
    key_s, skew_s = task.get("group_seconds", 0.0), answer.get("skew_seconds", 0.0)
    if whole <= 0:
        return ""
    if key_s >= _SHARE_MIN * whole and task.get("group_bytes", 0) > 0:
        return f"{_percent(key_s / whole)} of it in one key of {_words.bytes_text(task['group_bytes'])}"
    mean_s = task.get("mean_seconds", 0.0)
    if skew_s >= _SHARE_MIN * whole and mean_s > 0:
        return (
            f"{_percent(skew_s / whole)} of it because of skew: task {task['index']} of stage {task['stage']} took "
            f"{task['seconds']:.1f} s (mean {mean_s:.1f} s)"
        )
    waits_s = [wait["seconds"] for wait in answer.get("waits", {}).values()]
    # The first sentence is about the longest wait.
    sentence = next(iter(answer.get("sentences", ())), "")
    start = f"{answer.get('query', '')} waited "
    if max(waits_s, default=0.0) >= _SHARE_MIN * whole and sentence.startswith(start):
        return sentence[len(start) - len("waited ") :]
    return ""


def _percent(share: float) -> str:
    return f"{min(100 * share, 100):.0f} %"


def _ended_groups(application: Snapshot) -> list[str]:
    return [group.group for group in application.groups if group.state != JobState.RUNNING]


def _shell() -> Any:
    """Returns the shell of IPython or of a notebook, or None."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None
