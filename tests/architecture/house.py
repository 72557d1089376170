#!/usr/bin/env python3
"""Prints the size and the dependencies of each room (folder) of the C++ code.

usage: house.py [ROOT]

Each row contains a room with its sources, headers and lines, the headers that only one file other than their own source
includes, and the rooms that it includes. The totals and every cycle of rooms follow. Exits with 1 if there is a cycle.
"""
import collections
import os
import pathlib
import re
import sys

PRODUCT = re.compile(r"\.(cc|h|proto|java|py|ts)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
ROOM = re.compile(r"^\| `([^`]+)/` \|", re.M)


def rooms_of_table(root):
    """Returns the folders of the table of docs/ARCHITECTURE.md, without public headers, the longest first."""
    table = (root / "docs/ARCHITECTURE.md").read_text()
    return sorted((f for f in ROOM.findall(table) if not f.endswith("/include")), key=len, reverse=True)


def walk(root):
    """Yields the files below `root` that are neither built nor fetched, relative to it."""
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", "target", "node_modules", ".git", ".cache")]
        for name in names:
            yield (pathlib.Path(folder) / name).relative_to(root).as_posix()


def is_test(path):
    return path.startswith(("tests/", "bench/")) or "/src/test/" in path


def cycles(edges):
    """Returns the sets of rooms that include each other, directly or not (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            members = []
            while True:
                members.append(stack.pop())
                if members[-1] == node:
                    break
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    table = rooms_of_table(root)

    def room_of(path):
        """Returns the longest folder of the table that contains `path`, else its top-level folder."""
        return next((r for r in table if path.startswith(r + "/")), path.split("/")[0])

    files = sorted(f for f in walk(root) if PRODUCT.search(f))
    product = [f for f in files if not is_test(f)]
    text = {f: (root / f).read_text(errors="replace") for f in files}
    known = set(product)
    public = {f.split("/include/", 1)[1]: f for f in product if "/include/" in f}

    users = collections.defaultdict(set)
    edges = collections.defaultdict(set)
    for file in product:
        if not file.endswith((".cc", ".h")):
            continue
        for header in INCLUDE.findall(text[file]):
            target = header if header in known else public.get(header)
            if target is None:
                continue
            if target.rsplit(".", 1)[0] != file.rsplit(".", 1)[0]:
                users[target].add(file)
            if room_of(target) != room_of(file) and "/include/" not in target:
                edges[room_of(file)].add(room_of(target))

    rooms = collections.defaultdict(list)
    for file in product:
        rooms[room_of(file)].append(file)
    print(f"{'room':28}{'sources':>8}{'headers':>8}{'lines':>8}{'one user':>9}  includes")
    for room, members in sorted(rooms.items()):
        headers = [f for f in members if f.endswith(".h")]
        lonely = sum(1 for f in headers if len(users[f]) == 1)
        lines = sum(text[f].count("\n") for f in members)
        sources = sum(1 for f in members if f.endswith(".cc"))
        print(f"{room:28}{sources:8}{len(headers):8}{lines:8}{lonely:9}  {' '.join(sorted(edges[room]))}")

    tests = [f for f in files if is_test(f)]
    bulky = [f for f in walk(root) if f.startswith(("bench/results/", "docs/images/"))]
    print(f"\nproduct lines {sum(text[f].count(chr(10)) for f in product)}, headers "
          f"{sum(f.endswith('.h') for f in product)}, sources {sum(f.endswith('.cc') for f in product)}, "
          f"headers with one user {sum(1 for f in product if f.endswith('.h') and len(users[f]) == 1)}")
    print(f"lines of tests {sum(text[f].count(chr(10)) for f in tests if f.startswith('tests/'))}, "
          f"bytes of results and images {sum((root / f).stat().st_size for f in bulky)}")
    found = cycles(edges)
    for members in found:
        print("cycle: " + " <-> ".join(members))
    print(f"cycles of rooms: {len(found)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
