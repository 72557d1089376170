#!/usr/bin/env python3
"""Packs the built program, its shared libraries, the connectors and the package for Python into a wheel.

    packaging/wheel.py PROGRAM DESCRIPTORS FOLDER

DESCRIPTORS is the compiled python/tidemark/_wire.binpb. Pip unpacks the wheel into a prefix, such as a virtual
environment: bin/tidemark, lib/tidemark/*.so, which the program finds by its RPATH, and share/tidemark. The tag of the
wheel names the oldest C library that all files support. Equal inputs give equal bytes. Prints the path of the wheel.
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
# The C library belongs to the system, which must have one that is new enough.
OF_THE_SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|pthread|dl|rt|resolv|util|anl|mvec))\.so.*")
EXECUTABLE = 0o755
READABLE = 0o644


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """Returns the files of the shared libraries that the program loads, by the names by which it loads them."""
    loaded = said("ldd", str(program))
    if missing := re.findall(r"(\S+) => not found", loaded):
        raise SystemExit(f"{program} loads {', '.join(missing)}, which this system lacks; install the library")
    found = dict(re.findall(r"^\s*(\S+) => (/\S+) \(0x", loaded, re.MULTILINE))
    return {name: file for name, file in found.items() if not OF_THE_SYSTEM.fullmatch(name)}


def oldest_libc(files):
    """Returns the version of the C library that these files need, such as "2.36"."""
    versions = {
        tuple(map(int, version.split(".")))
        for file in files
        for version in re.findall(r"\(?GLIBC_([0-9.]+)\)?", said("objdump", "-T", str(file)))
    }
    return ".".join(map(str, max(versions)[:2]))


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
        # The program contains CHOLMOD of Debian, parts of which are under the GPL.
        f"License-Expression: {project['license']} AND GPL-2.0-or-later",
        *(f"License-File: {file}" for file in project["license-files"]),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {need}" for need in project["dependencies"]),
    ]
    return "\n".join(lines) + "\n"


def contents(program, descriptors, project, tag, folder):
    """Yields the path, the mode and the bytes of each file of the wheel."""
    stem = f"{project['name']}-{project['version']}"
    for file in sorted((ROOT / "python/tidemark").glob("*")):
        if file.suffix == ".py" or file.name == "py.typed":
            yield f"tidemark/{file.name}", READABLE, file.read_bytes()
    yield "tidemark/_wire.binpb", READABLE, pathlib.Path(descriptors).read_bytes()
    yield f"{stem}.data/scripts/tidemark", EXECUTABLE, stripped(program, folder)
    data = f"{stem}.data/data"
    for name, file in sorted(libraries(program).items()):
        yield f"{data}/lib/tidemark/{name}", READABLE, pathlib.Path(file).read_bytes()
    for engine in ENGINES:
        jar = ROOT / f"agent/{engine}/target/tidemark-{engine}.jar"
        if jar.is_file():
            yield f"{data}/share/tidemark/jars/{jar.name}", READABLE, jar.read_bytes()
    graph = ROOT / GRAPH
    yield f"{data}/share/tidemark/graphs/{graph.name}", READABLE, graph.read_bytes()
    yield f"{stem}.dist-info/licenses/LICENSE", READABLE, (ROOT / "LICENSE").read_bytes()
    notice = (ROOT / "packaging/deb/copyright").read_bytes()  # also that of the graph
    yield f"{stem}.dist-info/licenses/tidemark", READABLE, notice
    for package, notice in notices(libraries(program).values()):
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
    needed = oldest_libc([program, *libraries(program).values()])
    tag = f"py3-none-manylinux_{needed.replace('.', '_')}_{platform.machine()}"
    # Archives cannot store times before 1980.
    at = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    stem = f"{project['name']}-{project['version']}"
    file = pathlib.Path(folder) / f"{stem}-{tag}.whl"
    with tempfile.TemporaryDirectory() as work:
        entries = contents(program, descriptors, project, tag, work)
        write(file, entries, f"{stem}.dist-info/RECORD", at)
    print(file)


main(*sys.argv[1:])
