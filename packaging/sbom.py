#!/usr/bin/env python3
"""What the program is made of, as CycloneDX 1.5: the packages of Debian that it is linked with and whose headers
are compiled into it, and what npm brought into the page.

    packaging/sbom.py PROGRAM BUILD_FOLDER VERSION > tidemark.cdx.json

From the program, the record that Ninja keeps of its headers and dpkg; the same build gives the same bytes.
"""

import json
import pathlib
import re
import subprocess
import sys


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linked(program):
    """The shared libraries that are loaded with it."""
    return re.findall(r"(?:=> )?(/\S+) \(0x", said("ldd", program))


def included(build):
    """Headers from outside the project that were read to compile it."""
    lines = said("ninja", "-C", build, "-t", "deps").splitlines()
    return sorted({line.strip() for line in lines if line.startswith("    /usr/")})


def owners(files):
    """The packages that these files belong to; a file may also be known by its name below /usr."""
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
    libraries = owners(linked(program))
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
