"""Map and reduce functions of the Streaming jobs of accuracy.py: `python3 streaming_job.py FUNCTION [WORK]`."""

import hashlib
import itertools
import sys


def edges():
    """Emits each edge in both directions."""
    for line in sys.stdin:
        if not line.startswith("#"):
            a, b = line.split()
            print(f"{a}\t{b}\n{b}\t{a}")


def words():
    """Emits each word after some work."""
    for line in sys.stdin:
        for word in line.split():
            key = word.encode()
            for _ in range(WORK):
                key = hashlib.sha256(key).digest()
            print(f"{word}\t1")


def groups():
    pairs = (line.rstrip("\n").split("\t", 1) for line in sys.stdin)
    return itertools.groupby(pairs, key=lambda pair: pair[0])


def pairs():
    """Counts the ordered pairs of neighbours, in quadratic time."""
    for key, records in groups():
        neighbours = [value for _, value in records]
        print(f"{key}\t{sum(1 for _ in range(WORK) for a in neighbours for b in neighbours if a < b)}")


def count():
    for key, records in groups():
        print(f"{key}\t{sum(1 for _ in records)}")


WORK = int(sys.argv[2]) if len(sys.argv) > 2 else 1
{"edges": edges, "words": words, "pairs": pairs, "count": count}[sys.argv[1]]()
