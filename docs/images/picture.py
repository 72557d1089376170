"""Runs a command in a separate terminal and draws its screens into an SVG, in which each line is text.

usage: picture.py OUTPUT.svg TITLE SHARE[:LINES],... COMMAND...
Each SHARE (0..1) of the command's running time gives one screen with its first LINES lines; 1 is the last
screen.
"""

import fcntl
import os
import pty
import struct
import sys
import termios
import time
from xml.sax.saxutils import escape

import pyte

COLUMNS, LINES = 104, 40
CELL, LEADING, MARGIN = 8.4, 20, 18
COLORS = {"default": "#c9d1d9", "blue": "#58a6ff", "cyan": "#56c2d6", "green": "#56d364", "red": "#ff7b72",
          "brown": "#e3b341", "yellow": "#e3b341", "dim": "#8b949e"}
STYLE = f"""text {{ font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }}
.bold {{ font-weight: bold; }} """ + " ".join(f".{name} {{ fill: {color}; }}" for name, color in COLORS.items())


def record(command):
    """Returns the output of the command as (seconds since its start, bytes), and its duration."""
    started, written = time.monotonic(), []
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(LINES))
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # The command has closed its end of the pipe.
            chunk = b""
        if not chunk:
            break
        written.append((time.monotonic() - started, chunk))
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}")
    return written, time.monotonic() - started


def style_of(cell):
    color = cell.fg if cell.fg in COLORS else cell.fg.replace("bright", "")
    return (color if color in COLORS else "dim") + (" bold" if cell.bold else "")


def screen_at(written, seconds):
    """Returns the lines of the terminal at the given time as lists of [column, text, style], without empty lines at its
    end."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    for at, chunk in written:
        if at <= seconds:
            stream.feed(chunk)
    lines = []
    for row in range(LINES):
        runs = []
        for column in range(COLUMNS):
            cell = screen.buffer[row][column]
            if runs and runs[-1][2] == style_of(cell):
                runs[-1][1] += cell.data
            else:
                runs.append([column, cell.data, style_of(cell)])
        runs[-1][1] = runs[-1][1].rstrip()
        if not runs[-1][1]:
            runs.pop()
        lines.append(runs)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def drawn(title, lines):
    """Returns the SVG. Each text of one style has its width in cells, so columns align in every font."""
    width, height = COLUMNS * CELL + 2 * MARGIN, (len(lines) + 1) * LEADING + 2 * MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" xml:space="preserve">',
             f"<style>{STYLE}</style>",
             f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#161b22"/>',
             f'<text class="dim" x="{MARGIN}" y="{MARGIN + 6}">$ {escape(title)}</text>']
    for number, runs in enumerate(lines, 1):
        spans = "".join(
            f'<tspan class="{style}" x="{MARGIN + CELL * column:.1f}" textLength="{CELL * len(text):.1f}" '
            f'lengthAdjust="spacingAndGlyphs">{escape(text)}</tspan>' for column, text, style in runs)
        parts.append(f'<text y="{MARGIN + 6 + LEADING * number}">{spans}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main():
    output, title, shares, command = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    written, elapsed = record(command)
    lines = []
    for share, _, lines_max in (screen.partition(":") for screen in shares.split(",")):
        seconds = float(share) * elapsed
        rule = f" after {seconds:.0f} s "
        lines.append([[0, rule.center(COLUMNS, "─"), "dim"]])
        screen = screen_at(written, seconds if share != "1" else float("inf"))
        lines += screen[:int(lines_max)] if lines_max else screen
    with open(output, "w", encoding="utf-8") as file:
        file.write(drawn(title, lines))


if __name__ == "__main__":
    main()
