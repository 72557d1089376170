#!/usr/bin/env python3
"""Checks that the pictures in the documents contain the words of the current program: pictures_test.py TIDEMARK SOURCE

./dev screenshots creates the pictures. The text of demo.svg must occur in the program or in tests/cli/words.txt. The
labels in pages.json must occur in the sources of the page or of the Python package, or in the program.
"""
import hashlib
import html
import json
import re
import sys
from pathlib import Path

program, source = Path(sys.argv[1]), Path(sys.argv[2])
images = source / "docs/images"
console = (source / "tests/cli/words.txt").read_text() + program.read_bytes().decode("latin-1")
page = console + "".join(file.read_text() for file in sorted([*source.glob("web/page/src/*.ts*"), *source.glob("python/tidemark/*.py")]))
# Numbers with their units, bars and separators are not words.
NOT_WORDS = re.compile(r"[\d.,]*\d(?: ?(?:%|ms|s|min|h|d|B|kB|MB|GB)\b)?|[^\x00-\x7f]+|[()|/%·]|  +|--+| - ")
faults = []


def is_known(phrase):
    """Returns True if the phrase consists of parts that have at least two words each and occur in the program."""
    words = phrase.split()
    if len(words) < 3:
        return all(word in console for word in words)
    reached = {0}
    for end in range(2, len(words) + 1):
        if any(start in reached and " ".join(words[start:end]) in console for start in range(end - 1)):
            reached.add(end)
    return len(words) in reached


for text in re.findall(r"<text[^>]*>(.*?)</text>", (images / "demo.svg").read_text())[1:]:
    line = html.unescape(re.sub(r"<[^>]*>", "", text))
    if not line.startswith("─"):
        faults += [f"demo.svg: {phrase.strip()!r} in {line!r}" for phrase in NOT_WORDS.split(line) if not is_known(phrase)]
pictures = json.loads((images / "pages.json").read_text())
for name, picture in pictures.items():
    if hashlib.sha256((images / name).read_bytes()).hexdigest() != picture["sha256"]:
        faults.append(f"{name} is not the picture that pages.json describes")
    faults += [f"{name}: {label!r}" for label in picture["labels"] if label.rstrip(": ▲▼") not in page]
faults += [f"{file.name} is missing in pages.json" for file in images.glob("*.png") if file.name not in pictures]
for fault in faults:
    print(f"{fault} does not occur in the program" if ": " in fault else fault, file=sys.stderr)
sys.exit(f"FAILED: {len(faults)} faults; run ./dev screenshots" if faults else 0)
