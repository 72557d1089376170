#!/usr/bin/env python3
"""Writes the components of the program as CycloneDX 1.5: Debian packages that are linked or compiled in, and
npm packages of the page.

    packaging/sbom.py PROGRAM BUILD_FOLDER VERSION > tidemark.cdx.json

Uses the program, Ninja's record of headers, and dpkg. Equal builds give equal bytes.
"""

import json
import pathlib
import re
import subprocess
import sys


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linked(program):
    """Returns the shared libraries of the program, including its loader, as a map from name to file, and the name of the
    loader."""
    loaded = said("ldd", program)
    if missing := re.findall(r"(\S+) => not found", loaded):
        raise SystemExit(f"{program} loads {', '.join(missing)}, which this system lacks; install the library")
    found = dict(re.findall(r"^\s*(\S+) => (/\S+) \(0x", loaded, re.MULTILINE))
    loader = re.search(r"^\s*(/\S+) \(0x", loaded, re.MULTILINE)[1]
    name = pathlib.Path(loader).name
    return {**found, name: loader}, name


def included(build):
    """Returns the headers from outside the project that the build has read."""
    lines = said("ninja", "-C", build, "-t", "deps").splitlines()
    return sorted({line.strip() for line in lines if line.startswith("    /usr/")})


def owners(files):
    """Returns the packages of these files. dpkg may list a file below /usr."""
    names = {str(pathlib.Path(file).resolve()) for file in files}
    names |= {name.removeprefix("/usr") for name in names}
    found = set()
    for line in subprocess.run(["dpkg-query", "--search", *sorted(names)],
                               capture_output=True, text=True).stdout.splitlines():
        packages = line.rpartition(": ")[0]
        if not packages.startswith("diversion"):
            found |= set(packages.split(", "))
    return found


def component(name, version, purl, how, homepage=""):
    part = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "properties": [{"name": "tidemark:how", "value": how}]}
    if homepage:
        part["externalReferences"] = [{"type": "website", "url": homepage}]
    return part


def of_debian(packages, how):
    form = "${Package}\t${Version}\t${Architecture}\t${Homepage}\n"
    for line in said("dpkg-query", "--show", f"--showformat={form}", *sorted(packages)).splitlines():
        name, version, architecture, homepage = line.split("\t")
        yield component(name, version, f"pkg:deb/debian/{name}@{version}?arch={architecture}", how, homepage)


def of_npm(lock):
    for path, package in json.loads(lock.read_text())["packages"].items():
        if path and not package.get("dev"):
            name = path.rpartition("node_modules/")[2]
            yield component(name, package["version"], f"pkg:npm/{name}@{package['version']}", "in the page")


def main(program, build, version):
    libraries = owners(linked(program)[0].values())
    if not libraries:
        sys.exit(f"{program}: dpkg knows none of its libraries")
    parts = [
        *of_debian(libraries, "linked"),
        *of_debian(owners(included(build)) - libraries, "compiled in"),
        *of_npm(pathlib.Path(__file__).parents[1] / "web/page/package-lock.json"),
    ]
    itself = {"type": "application", "bom-ref": "tidemark", "name": "tidemark", "version": version,
              "licenses": [{"license": {"id": "Apache-2.0"}}]}
    json.dump({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
               "metadata": {"component": itself},
               "components": parts,
               "dependencies": [{"ref": "tidemark", "dependsOn": [part["bom-ref"] for part in parts]}]},
              sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
