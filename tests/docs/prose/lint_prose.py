#!/usr/bin/env python3
"""Finds phrases of phrases.txt in comments, documents, user-visible strings and commit subjects.

usage: lint_prose.py [--all | --since REV] [--lower] [PATH...]

Without --all it checks the lines and commits since REV (default: since the branch left origin/main, or since HEAD) and fails
on any finding. With --all it checks the whole tree and fails if a count exceeds budget.txt, or if the budget was raised.
--lower writes smaller counts to budget.txt.
"""
import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUDGET = HERE / "budget.txt"
CODE = re.compile(r"\.(cc|h|java|proto|py|ts|tsx|mjs|js|sh|cmake)$|(^|/)(dev|run|CMakeLists\.txt)$")
HASH_COMMENTS = re.compile(r"\.(py|sh|cmake)$|(^|/)(dev|run|CMakeLists\.txt)$")
# Tests update these files with the user-visible strings of the sources.
STRINGS = ("tests/words/strings.txt", "tests/cli/words.txt")
SENTENCE_END = re.compile(r"(?<=[.;:!?])\s+(?=[A-Z`0-9])")


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, errors="replace").stdout


def phrases():
    """Returns (where, compiled pattern, pattern, reason, replacement) of each line of phrases.txt."""
    rows = []
    for line in (HERE / "phrases.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        where, pattern, reason, instead = line.split("\t")
        expression = "^(?:" + pattern + ")" if where == "start" else pattern
        rows.append((where, re.compile(expression, re.I if where == "any" else 0), pattern, reason, instead))
    return rows


def sentences(block):
    """Splits a list of (line number, text) into (line number, sentence of at least three words)."""
    text = " ".join(part.strip() for _, part in block)
    for sentence in SENTENCE_END.split(text):
        if len(sentence.split()) >= 3 and not re.search(r"Copyright|NOLINT|clang-format|shellcheck", sentence):
            yield block[0][0], sentence


def blocks(lines, kind):
    """Yields lists of (line number, text): paragraphs of Markdown, or blocks of comments."""
    block, fenced = [], False
    mark = r"#" if kind == "hash" else r"//+|/\*\*?|\*"
    comment = re.compile(r"^\s*(?:%s)\s?(.*?)(?:\*/)?$" % mark)
    trailing = re.compile(r"[;{},)]\s+(?://|#)\s(.*)$")
    for number, line in enumerate(lines, 1):
        single, part = [], None
        if kind == "markdown":
            if line.startswith("```"):
                fenced = not fenced
            elif not fenced and line.startswith("|"):
                single = [cell for cell in line.split("|") if cell.strip()]
            elif not fenced and (line.startswith("#") or re.match(r"^\s*([-*]|\d+\.)\s", line)):
                if block:
                    yield block
                block, part = [], re.sub(r"^[#*\s-]+", "", line)
                if line.startswith("#"):
                    single, part = [part], None
            elif not fenced and line.strip():
                part = line
        elif match := comment.match(line):
            directive = kind == "hash" and line.startswith("#!") or re.match(r"^\s*#\s*(include|define|pragma|if|endif|undef)", line)
            if not directive and match[1].strip():
                part = match[1]
        elif match := trailing.search(line):
            single = [match[1]]
        if part is not None:
            block.append((number, part))
            continue
        if block:
            yield block
        block = []
        for text in single:
            yield [(number, text)]
    if block:
        yield block


def texts(path):
    """Yields (kind, line number, sentence) of a file; kinds are comments, documents and strings."""
    try:
        lines = Path(path).read_text(encoding="utf8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    if path.endswith(".md"):
        for block in blocks(lines, "markdown"):
            yield from (("documents", *found) for found in sentences(block))
    if CODE.search(path):
        for block in blocks(lines, "hash" if HASH_COMMENTS.search(path) else "slashes"):
            yield from (("comments", *found) for found in sentences(block))
    if path in STRINGS:
        for number, line in enumerate(lines, 1):
            yield from (("strings", *found) for found in sentences([(number, line)]))


def changed_lines(since):
    """Returns the added line numbers by file."""
    added, name = {}, None
    for line in git("diff", "-U0", since).splitlines():
        if line.startswith("+++ b/"):
            name = line[6:]
        elif match := re.match(r"^@@ .*\+(\d+)(?:,(\d+))? @@", line):
            count = int(match[2] or 1)
            added.setdefault(name, set()).update(range(int(match[1]), int(match[1]) + count))
    for name in git("ls-files", "--others", "--exclude-standard").splitlines():
        added[name] = set(range(1, 1_000_000))
    return added


def read_budget(text):
    return {name: int(count) for name, count in re.findall(r"^(\w+) (\d+)$", text, re.M)}


def base():
    return git("merge-base", "HEAD", "origin/main").strip() or "HEAD"


def check_budget(counts, lower):
    """Compares the counts with budget.txt. Returns the number of problems."""
    budget, problems = read_budget(BUDGET.read_text()), 0
    before = read_budget(git("show", f"{base()}:{BUDGET.relative_to(Path.cwd())}"))
    for kind in sorted(budget):
        print(f"{kind}: {counts[kind]} findings, budget {budget[kind]}")
        if counts[kind] > budget[kind] or budget[kind] > before.get(kind, budget[kind]):
            print(f"{kind}: the count exceeds the budget, or the budget was raised", file=sys.stderr)
            problems += 1
        elif counts[kind] < budget[kind] and not lower:
            print(f"{kind}: lower the budget with ./dev lint prose --all --lower")
    if lower:
        header = [line for line in BUDGET.read_text().splitlines() if line.startswith("#")]
        rows = [f"{kind} {min(counts[kind], budget[kind])}" for kind in sorted(budget)]
        BUDGET.write_text("\n".join(header + rows) + "\n")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--lower", action="store_true")
    parser.add_argument("--since")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    rows, counts, findings = phrases(), Counter(), 0
    since = options.since or base()
    added = None if options.all else changed_lines(since)
    names = git("ls-files", "--cached", "--others", "--exclude-standard", *options.paths).splitlines()
    if not names:
        sys.exit("no tracked files: run it in a checkout, with paths that exist")
    for name in names if added is None else sorted(set(names) & set(added)):
        for kind, line, sentence in texts(name):
            # A sentence may end some lines below its first line.
            if added is not None and not added[name].intersection(range(line, line + 3)):
                continue
            for where, expression, pattern, reason, instead in rows:
                if where == "subject" or not expression.search(sentence):
                    continue
                counts[kind] += 1
                if added is not None or options.paths:
                    print(f"{name}:{line}: {sentence[:160]}\n    {reason}: {pattern}; instead: {instead}")
    findings = sum(counts.values()) if added is not None else 0
    for subject in git("log", "--format=%s", f"{since}..HEAD").splitlines():
        for where, expression, pattern, reason, instead in rows:
            if where == "subject" and expression.search(subject):
                findings += 1
                print(f"commit subject: {subject}\n    {reason}; instead: {instead}")
    if options.all and not options.paths:
        findings += check_budget(counts, options.lower)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
