"""What each constant of the forecast is worth: halves and doubles one after the other.

Each variant is compiled from a copy of the sources in which one constant is changed, and replays the
same costs as the unchanged program. A constant that moves no row of any suite by 0.05 points is
marked idle: it could go, or be any round number.

The suites cover reduce phases (`accuracy`) and workflows (`workflow`); constants of what they do not
exercise (silence, display, limits) are left out by SKIPPED, each with its reason.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("regression", "master/model", "master/cost", "master/schedule", "master/estimate",
           "master/workflow")
# What a forecast is not made of, by file or by name.
SKIPPED = {
    "fold.cc": "memory accounting", "checkpoint.h": "layout version", "silence.cc": "silence",
    "report_gaps": "silence", "shown_progress": "display", "straggler.cc": "wording",
    "clock_offset.h": "clocks", "check_workflow.cc": "limits", "normal.cc": "tables of a formula",
    "accuracy.cc": "record of errors", "evidence_loss.cc": "lost messages",
    "kNotesMax": "limit", "kSilence": "silence", "kSilenceMore": "silence",
    "kDeviationsOf90Percent": "mathematics", "kZ95": "mathematics", "kGoldenStep": "mathematics",
    "kWarmths": "number of kinds", "kResources": "number of kinds", "kCostFeatures": "number of kinds",
    "kOwnOwner": "sentinel", "kNone": "sentinel", "kNever": "sentinel", "kWarm": "sentinel",
    "kCommonRow": "row number", "kJobRows": "row number", "kWaitRows": "row number",
    "kGrowthRow": "row number", "kFactorRows": "row number",
}
CONSTANT = re.compile(
    r"^(?P<head>\s*(?:static |inline )*constexpr (?P<type>double|int|unsigned|std::size_t|"
    r"std::u?int\d+_t|absl::Duration) (?P<name>k\w+) = )(?P<value>[^;]+)(?P<tail>;.*)$")
MEMBER = re.compile(
    r"^(?P<head>\s+(?P<type>double|std::size_t) (?P<name>\w*(?:deviation|weight|power|shift)\w*) = )"
    r"(?P<value>[\d.e+-]+)(?P<tail>;.*)$")
IDLE_BELOW = 0.05  # points


def constants(source):
    found = []
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*")):
            if path.suffix not in (".cc", ".h") or "papers" in path.parts:
                continue
            for number, line in enumerate(path.read_text().splitlines()):
                match = CONSTANT.match(line) or (
                    MEMBER.match(line) if path.suffix == ".h" else None)
                if not match or is_skipped(path.name, match["name"]):
                    continue
                found.append((path, number, match))
    return found


def is_skipped(file, name):
    return name in SKIPPED or any(file.startswith(part) for part in SKIPPED)


def changed(match, factor):
    value = f"({match['value']})"
    if match["type"] in ("double", "absl::Duration"):
        value = f"{value} * {factor}"
    else:  # at least 1, whatever is halved
        value = f"{value} * 2" if factor > 1 else f"({value} + 1) / 2"
    return match["head"] + value + match["tail"]


def copy_sources(target):
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True,
                           text=True).stdout.split("\0")
    for file in filter(None, files):
        if (ROOT / file).is_file():
            destination = target / file
            destination.parent.mkdir(parents=True, exist_ok=True)
            if not destination.exists() or (destination.read_bytes() != (ROOT / file).read_bytes()):
                shutil.copyfile(ROOT / file, destination)
                shutil.copymode(ROOT / file, destination)


def build(source, suites, log):
    programs = {"tidemark_workflow_bench" if suite == "workflow" else "tidemark_accuracy_bench"
                for suite in suites.split(",")}
    for command in (["cmake", "--preset", "release"],
                    ["cmake", "--build", "--preset", "release", "--target", *sorted(programs)]):
        if command[1] == "--preset" and (source / "build/release/build.ninja").exists():
            continue
        if subprocess.run(command, cwd=source, stdout=log, stderr=log).returncode != 0:
            return False
    return True


def rows_of(report):
    """Errors by row: those of the suites of jobs, and the means of the sets of workflows."""
    sums = {}
    for row in report.get("rows", []):
        if row.get("indicator", "tidemark") != "tidemark" or "avg_err" not in row:
            continue
        key = " ".join(str(row.get(part, "")) for part in ("suite", "job", "data", "workers", "waves",
                                                          "scenario"))
        sums.setdefault(key, []).append((row["avg_err"], row["max_err"]))
    errors = {key: tuple(sum(one) / len(values) for one in zip(*values))
              for key, values in sums.items()}
    for suite, by_indicator in report.get("suites", {}).items():
        if "tidemark" in by_indicator and by_indicator["tidemark"].get("avg_err") is not None:
            errors[suite] = (by_indicator["tidemark"]["avg_err"], by_indicator["tidemark"]["max_err"])
    return errors


def run(source, arguments, log):
    errors = {}
    out = source / "build/ablation.json"
    bench = source / "build/release/bench"
    for suite in arguments.suites.split(","):
        out.unlink(missing_ok=True)
        if suite == "workflow":
            command = [bench / "tidemark_workflow_bench", "--json", out]
        else:
            command = [bench / "tidemark_accuracy_bench", "--suite", suite, "--indicators", "tidemark",
                       "--seeds", str(arguments.seeds), "--cache", arguments.cache,
                       "--data", arguments.data, "--jobs", "2", "--json", out]
            if arguments.row:
                command += ["--row", arguments.row]
        if subprocess.run(command, stdout=log, stderr=log, cwd=ROOT).returncode != 0:
            return None
        errors.update(rows_of(json.loads(out.read_text())))
    return errors


def compare(before, after):
    change = {"rows": len(before), "avg_err_mean": 0, "max_err_mean": 0, "largest": 0, "row": ""}
    for row, (average, largest) in before.items():
        if row not in after:
            continue
        by_average, by_largest = after[row][0] - average, after[row][1] - largest
        change["avg_err_mean"] += by_average / len(before)
        change["max_err_mean"] += by_largest / len(before)
        if abs(by_average) > abs(change["largest"]):
            change["largest"], change["row"] = by_average, row
    return change


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suites", default="synthetic,stress,paper,workflow")
    parser.add_argument("--row", default="", help="only rows whose name has this in it")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="", help="only constants whose name or file has this in it")
    parser.add_argument("--list", action="store_true", help="name the constants and end")
    parser.add_argument("--cache", default=str(ROOT / "build/bench/cost-logs"))
    parser.add_argument("--data", default=os.environ.get("TIDEMARK_DATA",
                                                         str(ROOT / "../shared/data")))
    parser.add_argument("--json", default="", help="write the results to this file, too")
    arguments = parser.parse_args()
    source = ROOT / "build/ablation"
    if arguments.list:
        for path, number, match in constants(ROOT):
            print(f"{path.relative_to(ROOT)}:{number + 1} {match['name']} = {match['value']}")
        return
    copy_sources(source)
    log = open(ROOT / "build/ablation.log", "w")
    if not build(source, arguments.suites, log):
        sys.exit("the sources do not compile: see build/ablation.log")
    before = run(source, arguments, log)
    if not before:
        sys.exit("the benchmark fails: see build/ablation.log")
    results = []
    chosen = [one for one in constants(source)
              if arguments.only in str(one[0].relative_to(source)) + " " + one[2]["name"]]
    for path, number, match in chosen:
        text = path.read_text()
        lines = text.splitlines(keepends=True)
        place = f"{path.relative_to(source)}:{number + 1}"
        one = {"constant": match["name"], "place": place, "value": match["value"], "changes": {}}
        for factor in (0.5, 2):
            lines[number] = changed(match, factor) + "\n"
            path.write_text("".join(lines))
            after = run(source, arguments, log) if build(source, arguments.suites, log) else None
            one["changes"][str(factor)] = compare(before, after) if after else None
        path.write_text(text)
        known = [change for change in one["changes"].values() if change]
        one["is_idle"] = bool(known) and all(abs(c["largest"]) < IDLE_BELOW for c in known)
        results.append(one)
        print(line_of(one), flush=True)
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps(
                {"suites": arguments.suites, "seeds": arguments.seeds, "constants": results}, indent=1))


def line_of(one):
    def text(change):
        if change is None:
            return "does not compile or run"
        return (f"{change['avg_err_mean']:+.2f} / {change['max_err_mean']:+.2f}, "
                f"at most {change['largest']:+.2f} {change['row']}")

    return (f"| {one['constant']} | {one['value']} | {one['place']} | {text(one['changes']['0.5'])} | "
            f"{text(one['changes']['2'])} | {'idle' if one['is_idle'] else ''} |")


if __name__ == "__main__":
    main()
