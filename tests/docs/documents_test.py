#!/usr/bin/env python3
"""Checks the text of the documents: documents_test.py SOURCE

- Each line of a code block of a user's page that begins with `tidemark` names a command and options of tests/cli/words.txt.
- Each link to a heading, within a page or to another, has that heading.
- The README has at most 120 lines.
- A page for users has at most 1,200 words, and the pages in docs/ have at most 20,000.
"""
import re
import shlex
import sys
from pathlib import Path

source = Path(sys.argv[1])
HELP = re.compile(r"^=== (tidemark.*?) --help ===\n(.*?)(?=^===|\Z)", re.M | re.S)
helps = dict(HELP.findall((source / "tests/cli/words.txt").read_text()))
CONNECTION = re.compile(r"--(master|token-file|tls-(ca|certificate|key|server-name))\b")
faults = []


def blocks_and_text(page):
    """Returns the lines of the code blocks with their numbers, with continued lines joined. Also returns the remainder
    of the page."""
    fenced, pending, commands, text = False, "", [], []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            text.append(line)
        elif line.endswith("\\"):
            pending += line[:-1]
        else:
            commands.append((number, pending + line))
            pending = ""
    return commands, "\n".join(text)


def check_command(place, line):
    words = shlex.split(re.split(r"\s[|>&#]|;|\s2>", line)[0].replace("'", ""))
    name = words.pop(0)
    while words and f"{name} {words[0]}" in helps:
        name += f" {words.pop(0)}"
    text = helps[name]
    if "SUBCOMMAND" in text and words and not words[0].startswith("-"):
        faults.append(f"{place}: unknown command: {name} {words[0]}")
    for word in words[:words.index("--")] if "--" in words else words:
        option = re.match(r"--?[a-z][a-z-]*", word)
        if option and not CONNECTION.match(option[0]) and not re.search(rf"(^|[ ,]){option[0]}[ ,=\n]", text, re.M):
            faults.append(f"{place}: {name} has no option {option[0]}")


def anchors_of(page):
    """Returns the anchors that GitHub creates for the headings of a page."""
    headings = re.findall(r"^#+ +(.*?) *$", blocks_and_text(page)[1], re.M)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


users = [source / "README.md", *source.glob("docs/*.md"), *source.glob("docs/tours/*.md")]
for page in users:
    for number, line in blocks_and_text(page)[0]:
        if match := re.match(r"\s*(?:\$ )?(tidemark [a-z].*)", line):
            check_command(f"{page.relative_to(source)}:{number}", match[1])
for page in [*users, *source.glob("docs/*/**/*.md"), *source.glob("bench/*.md")]:
    for target, anchor in re.findall(r"\]\(([^)#: ]*)#([^)]+)\)", blocks_and_text(page)[1]):
        other = (page.parent / target).resolve() if target else page
        if other.suffix == ".md" and other.exists() and anchor not in anchors_of(other):
            faults.append(f"{page.relative_to(source)}: no heading #{anchor} in {other.name}")
if len((source / "README.md").read_text().splitlines()) > 120:
    faults.append("README.md: more than 120 lines")
words = {page: len(page.read_text().split()) for page in users if page.name != "ARCHITECTURE.md"}
faults += [f"{page.relative_to(source)}: {count} words" for page, count in words.items() if count > 1200]
if (total := sum(count for page, count in words.items() if page.parent == source / "docs")) > 20000:
    faults.append(f"docs/*.md: {total} words")
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(f"FAILED: {len(faults)} faults" if faults else 0)
