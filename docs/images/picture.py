"""Runs a command in a separate terminal and draws its screens into an SVG.

usage: picture.py OUTPUT.svg TITLE SHARE[:LINES],... COMMAND...
Each SHARE (0..1) of the command's running time gives one screen with its first LINES lines; 1 is the last
screen.
"""

import os
import pty
import re
import sys
import time

import pyte
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

COLUMNS, LINES = 104, 30


def record(command):
    """Returns the output of the command as (seconds since its start, bytes), and its duration."""
    started, written = time.monotonic(), []
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(LINES))
        os.execvp(command[0], command)
    import fcntl
    import struct
    import termios
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the command has closed its end
            chunk = b""
        if not chunk:
            break
        written.append((time.monotonic() - started, chunk))
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}")
    return written, time.monotonic() - started


def style_of(cell):
    def color(name):
        if name == "default":
            return ""
        return f"#{name}" if len(name) == 6 and all(c in "0123456789abcdef" for c in name) else name
    words = [word for word, on in (("bold", cell.bold), ("italic", cell.italics),
                                   ("underline", cell.underscore), ("reverse", cell.reverse)) if on]
    foreground = {"brown": "yellow", "brightbrown": "bright_yellow"}.get(
        cell.fg, cell.fg.replace("bright", "bright_"))
    if color(foreground):
        words.append(color(foreground))
    if color(cell.bg):
        words.append(f"on {color(cell.bg)}")
    return " ".join(words)


def screen_at(written, seconds):
    """Returns the lines of the terminal at an instant, without empty ones at its end."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    for at, chunk in written:
        if at <= seconds:
            stream.feed(chunk)
    lines = []
    for row in range(LINES):
        line = Text()
        for column in range(COLUMNS):
            cell = screen.buffer[row][column]
            line.append(cell.data, style_of(cell))
        line.rstrip()
        lines.append(line)
    while lines and not lines[-1].plain:
        lines.pop()
    return lines


def main():
    output, title, shares, command = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    written, elapsed = record(command)
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True,
                      color_system="truecolor")
    for share, _, lines_max in (screen.partition(":") for screen in shares.split(",")):
        seconds = float(share) * elapsed
        console.print(Rule(Text(f"after {seconds:.0f} s"), style="dim"))
        lines_max = int(lines_max) if lines_max else LINES
        for line in screen_at(written, seconds if share != "1" else float("inf"))[:lines_max]:
            console.print(line, no_wrap=True, overflow="crop")
    picture = console.export_svg(title=title)
    # Removes web fonts, which would disclose readers of the picture to other hosts.
    picture = re.sub(r"@font-face\s*{.*?}", "", picture, flags=re.DOTALL)
    with open(output, "w", encoding="utf-8") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
