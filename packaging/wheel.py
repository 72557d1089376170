#!/usr/bin/env python3
"""Packs the built program, its shared libraries, the connectors and the package for Python into a wheel.

    packaging/wheel.py PROGRAM DESCRIPTORS FOLDER

DESCRIPTORS is the compiled python/tidemark/_wire.binpb. Pip unpacks the wheel into a prefix, such as a virtual
environment: lib/tidemark has the program and all its libraries, bin/tidemark starts it, and share/tidemark has its data.
The C library and its loader are among the libraries, so the program also runs on systems with an older C library.
Equal inputs give equal bytes. Prints the path of the wheel.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile

import sbom

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENGINES = re.search(r"^set\(TIDEMARK_ENGINES (.*)\)$", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1].split()
GRAPH = "data/graphs/musae-github.txt.zst"
# Starts the program with the C library of the wheel. The program finds its data by its first argument. Libraries of the
# system may need a newer C library, so only the commands that the program starts preload them.
SCRIPT = """#!/bin/sh
[ -z "$LD_PRELOAD" ] || export TIDEMARK_LD_PRELOAD="$LD_PRELOAD"
unset LD_PRELOAD
file=$(readlink -f "$0")
lib=${file%%/bin/*}/lib/tidemark
exec "$lib/%s" --argv0 "$file" --library-path "$lib" "$lib/tidemark" "$@"
"""
EXECUTABLE = 0o755
READABLE = 0o644


def notices(files):
    """Yields the name of each Debian package that owns one of these files, and its copyright file."""
    for package in sorted(sbom.owners(files)):
        name = package.partition(":")[0]
        file = pathlib.Path("/usr/share/doc", name, "copyright")
        if file.is_file():
            yield name, file.read_bytes()


def stripped(program, folder):
    copy = pathlib.Path(folder) / "tidemark"
    subprocess.run(["strip", "-o", str(copy), str(program)], check=True)
    return copy.read_bytes()


def metadata(project):
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        # The program contains CHOLMOD of Debian, parts of which are under the GPL. The C library is under the LGPL.
        f"License-Expression: {project['license']} AND GPL-2.0-or-later AND LGPL-2.1-or-later",
        *(f"License-File: {file}" for file in project["license-files"]),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {need}" for need in project["dependencies"]),
    ]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
    return "\n".join(lines) + "\n"


def contents(program, descriptors, project, tag, folder):
    """Yields the path, the mode and the bytes of each file of the wheel."""
    stem = f"{project['name']}-{project['version']}"
    for file in sorted((ROOT / "python/tidemark").glob("*")):
        if file.suffix == ".py" or file.name == "py.typed":
            yield f"tidemark/{file.name}", READABLE, file.read_bytes()
    yield "tidemark/_wire.binpb", READABLE, pathlib.Path(descriptors).read_bytes()
    files, loader = sbom.linked(program)
    yield f"{stem}.data/scripts/tidemark", EXECUTABLE, (SCRIPT % loader).encode()
    data = f"{stem}.data/data"
    yield f"{data}/lib/tidemark/tidemark", EXECUTABLE, stripped(program, folder)
    for name, file in sorted(files.items()):
        mode = EXECUTABLE if name == loader else READABLE
        yield f"{data}/lib/tidemark/{name}", mode, pathlib.Path(file).read_bytes()
    for engine in ENGINES:
        jar = ROOT / f"agent/{engine}/target/tidemark-{engine}.jar"
        if jar.is_file():
            yield f"{data}/share/tidemark/jars/{jar.name}", READABLE, jar.read_bytes()
    for folder in ("tidemark/v1", "tidemark/rpc/v1"):  # for clients in other languages
        for file in sorted((ROOT / "proto" / folder).glob("*.proto")):
            yield f"{data}/share/tidemark/proto/{folder}/{file.name}", READABLE, file.read_bytes()
    sender = ROOT / "examples/python/report_job.py"
    yield f"{data}/share/tidemark/examples/{sender.name}", READABLE, sender.read_bytes()
    graph = ROOT / GRAPH
    yield f"{data}/share/tidemark/graphs/{graph.name}", READABLE, graph.read_bytes()
    yield f"{stem}.dist-info/licenses/LICENSE", READABLE, (ROOT / "LICENSE").read_bytes()
    notice = (ROOT / "packaging/deb/copyright").read_bytes()  # also that of the graph
    yield f"{stem}.dist-info/licenses/tidemark", READABLE, notice
    for package, notice in notices(files.values()):
        yield f"{stem}.dist-info/licenses/{package}", READABLE, notice
    yield f"{stem}.dist-info/METADATA", READABLE, metadata(project).encode()
    wheel = f"Wheel-Version: 1.0\nGenerator: packaging/wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n"
    yield f"{stem}.dist-info/WHEEL", READABLE, wheel.encode()


def write(file, entries, record, at):
    """Writes the archive with `record`, the path of its list of files and checksums."""
    lines = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(path, mode, content):
            info = zipfile.ZipInfo(path, at)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100000 | mode) << 16
            archive.writestr(info, content)

        for path, mode, content in entries:
            add(path, mode, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{path},sha256={digest},{len(content)}\n")
        add(record, READABLE, "".join([*lines, f"{record},,\n"]))


def main(program, descriptors, folder):
    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]
    # The platform of grpcio's wheels, on which the package for Python depends.
    tag = f"py3-none-manylinux_2_17_{platform.machine()}"
    # Archives cannot store times before 1980.
    at = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    stem = f"{project['name']}-{project['version']}"
    file = pathlib.Path(folder) / f"{stem}-{tag}.whl"
    with tempfile.TemporaryDirectory() as work:
        entries = contents(program, descriptors, project, tag, work)
        write(file, entries, f"{stem}.dist-info/RECORD", at)
    print(file)


main(*sys.argv[1:])
