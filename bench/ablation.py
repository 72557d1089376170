"""Measures the effect of each constant of the forecast by halving and doubling it.

The script copies the sources, makes every constant changeable by the environment
(bench/ablated.h), and compiles the copy once. It then replays the same recorded costs for each
constant halved and doubled. A constant that the compiler must know (such as the size of an array)
is changed in the sources and compiled separately.

A constant is idle if neither change moves a row's avgErr by 0.05 points or the mean coverage of the interval by half a
point. It is untouched if no value differs in any digit. No row uses an untouched constant, so its effect is unknown.

Rows of reduce phases (accuracy) evaluate the constants of the regression, of the reduce phase and of the placement.
Workflows evaluate the constants of the placement and of workflows. SKIPPED lists omitted constants with their reasons,
which are silence, display, memory and time limits, guards, and rounding. Derived constants change with the
constants that they are derived from.
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
FOLDERS = ("regression", "master/facts", "master/forecast")
WORKFLOW_FOLDERS = ("master/forecast",)
# Constants that do not affect forecasts, by file or by name.
SKIPPED = {name: reason for reason, names in {
    "memory accounting": "fold.cc",
    "layout version": "checkpoint.h",
    "display": "shown_progress",
    "table of a formula": "kTail kOctaves kPointsPerOctave",
    "affects only jobs with a history, and no row has one (ADR 42)":
        "kHeld kForecastsMin kPriorScores kScoreMax",
    "accuracy statistics": "accuracy.cc",
    "lost messages": "evidence_loss.cc",
    "wording": "kMissedAfter",
    "limit of an interval": "kRemainingUpperMax",
    "memory": "kCountersPerExplicitKeyMax",
    "processor time":
        "kChangeTolerance kUpdatesPerChoiceMin kProfilesPerSearchTolerance kPendingMax "
        "kWavesPlayedMin kTasksMax kLooksMax",
    "rounding": "kPivotTolerance kRoundingTolerance kMissingTolerance kRateTolerance",
    "iterations": "kRoundsMax",
    "guard": "kShareMin kSpeedMin kTaskSecondsMin kLogMax kWeightMax kCrowdMax",
    "resolution": "kResolutionOfValues",
    "arbitrary unit": "newest_weight_",
    "a factor of 1 before any evidence": "shift",
    "stream number": "kOfJobs kOfSizes",
    "sentinel": "kCores kUnbound kNoneIsNamed kOwnOwner kNone kNever kNoLimit kForever",
    "limit": "kDataFactorMax",
    "silence": "kSilenceMore",
    "mathematics": "kDeviationsOf90Percent kGoldenStep kCoefficients kPowerBit",
    "number of kinds": "kWarmths kResources kCostFeatures",
}.items() for name in names.split()}
CONSTANT = re.compile(
    r"^(?P<indent>\s*)(?P<head>(?:static |inline )*)constexpr (?P<type>double|int|unsigned|"
    r"std::size_t|std::u?int\d+_t|absl::Duration) (?P<name>k\w+) = (?P<value>[^;]+);(?P<tail>.*)$")
MEMBER = re.compile(
    r"^(?P<indent>\s+)(?P<head>)(?P<type>double|std::size_t) "
    r"(?P<name>\w*(?:deviation|weight|power|shift)\w*) = (?P<value>[\d.e+-]+);(?P<tail>.*)$")
NAME_IN_ERROR = re.compile(r"error: .*?\W(k[A-Z]\w*|\w*(?:deviation|weight|power|shift)\w*)\W")
# Rows of about 0.1 s each that together use most of the forecast. None is in the validation half.
ROWS = ",".join([
    *(f"email-enron 8x1 {scenario}" for scenario in ("slow-node", "hidden-modes", "bend", "restart",
                                                     "speculation", "lost-50", "one-giant")),
    *(f"zipf-2.0-1.0 8x1 {scenario}" for scenario in ("bend", "smooth-bend", "phase-ab", "lost-10",
                                                      "order-ascending")),
    "n^2-1.6 9x1", "n^4-1.2 9x1", "n^4-1.4 2x1", "two-path cit-hepph", "two-path musae-github",
    "natural-join zipf-1.5-1.5"])
IDLE_BELOW = 0.05  # in points
COVERAGE_IDLE_BELOW = 0.5  # mean change of the interval over all rows, in points


class Constant:
    def __init__(self, path, number, match):
        self.path, self.number, self.match = path, number, match
        self.name, self.value = match["name"], match["value"]
        self.id = f"{path.as_posix()}:{number + 1}:{self.name}"
        self.is_rewritten = True

    # Returns a value that the environment can change.
    def rewritten(self):
        m, type_ = self.match, self.match["type"]
        call = f'::tidemark::Ablated<{type_}>("{self.id}", {m["value"]})'
        if not m["name"].startswith("k"):  # The default of a member is looked up once.
            return (f'{m["indent"]}{type_} {m["name"]} = '
                    f'[] {{ static const {type_} v = {call}; return v; }}();{m["tail"]}')
        is_header = self.path.suffix == ".h"
        if m["indent"]:
            head = "static inline const" if is_header and "static" in m["head"] else "static const"
        else:
            head = "inline const" if is_header else "const"
        return f'{m["indent"]}{head} {type_} {m["name"]} = {call};{m["tail"]}'

    # Returns a constant expression for the compiler.
    def changed(self, factor):
        m = self.match
        if m["type"] in ("double", "absl::Duration"):
            value = f'({m["value"]}) * {factor}'
        else:
            value = f'({m["value"]}) * 2' if factor > 1 else f'(({m["value"]}) + 1) / 2'
        constexpr = "constexpr " if m["name"].startswith("k") else ""
        return f'{m["indent"]}{m["head"]}{constexpr}{m["type"]} {m["name"]} = {value};{m["tail"]}'


def constants():
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cc", ".h") or "papers" in path.parts:
                continue
            for number, line in enumerate(path.read_text().splitlines()):
                match = CONSTANT.match(line) or (
                    MEMBER.match(line) if path.suffix == ".h" else None)
                if not match or is_skipped(path.name, match["name"]):
                    continue
                # Half and double of zero are zero. Derived constants change with the constants that
                # they are derived from.
                if match["value"] == "0" or re.search(r"\bk[A-Z]", match["value"]):
                    continue
                found.append(Constant(path.relative_to(ROOT), number, match))
    return found


def is_skipped(file, name):
    return name in SKIPPED or any(file.startswith(part) for part in SKIPPED)


class Copy:
    """Copies the sources to build/ablation with changeable constants."""

    def __init__(self, arguments, found, log):
        self.root = ROOT / "build/ablation"
        self.arguments, self.constants, self.log = arguments, found, log
        # One TPC-DS query, run with several numbers of executors.
        runs = sorted(pathlib.Path(arguments.data).glob("spark-eventlogs/tpcds/q26-*"))[::4]
        self.logs = [part for run in runs for part in ("--spark-log", run)]
        files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                               cwd=ROOT, check=True, capture_output=True, text=True).stdout
        rewritten = {constant.path for constant in found}
        for file in filter(None, files.split("\0")):
            if (ROOT / file).is_file() and pathlib.Path(file) not in rewritten:
                self.copy(file)

    def copy(self, file):
        destination = self.root / file
        destination.parent.mkdir(parents=True, exist_ok=True)
        if not destination.exists() or destination.read_bytes() != (ROOT / file).read_bytes():
            shutil.copyfile(ROOT / file, destination)
            shutil.copymode(ROOT / file, destination)

    def write(self, changed=None, factor=1):
        for path in sorted({constant.path for constant in self.constants}):
            lines = (ROOT / path).read_text().splitlines(keepends=True)
            for constant in self.constants:
                if constant.path != path:
                    continue
                if constant is changed:
                    lines[constant.number] = constant.changed(factor) + "\n"
                elif constant.is_rewritten:
                    lines[constant.number] = constant.rewritten() + "\n"
            text = '#include "bench/ablated.h"\n' + "".join(lines)
            destination = self.root / path
            destination.parent.mkdir(parents=True, exist_ok=True)
            if not destination.exists() or destination.read_text() != text:
                destination.write_text(text)

    def compile(self):
        preset = self.arguments.preset
        build = self.root / "build" / preset
        if not (build / "build.ninja").exists():
            subprocess.run(["cmake", "--preset", preset], cwd=self.root,
                           stdout=self.log, stderr=self.log, check=True)
        done = subprocess.run(["ninja", "-C", build, "-k", "0", "-j", str(self.arguments.jobs),
                               "tidemark_accuracy_bench", "tidemark_workflow_bench"],
                              cwd=self.root, capture_output=True, text=True)
        self.log.write(done.stdout + done.stderr)
        self.log.flush()
        return done

    # Constants that the compiler must know remain unchanged.
    def make_changeable(self):
        known = self.root / "build/known-to-the-compiler.json"
        names = json.loads(known.read_text()) if known.exists() else []
        for constant in self.constants:
            constant.is_rewritten = constant.name not in names
        while True:
            self.write()
            done = self.compile()
            if done.returncode == 0:
                known.write_text(json.dumps(
                    [one.name for one in self.constants if not one.is_rewritten]))
                return
            named = set(NAME_IN_ERROR.findall(done.stdout.replace("‘", " ").replace("’", " ")))
            fixed = [one for one in self.constants if one.is_rewritten and one.name in named]
            if not fixed:
                sys.exit("the sources do not compile: see build/ablation.log")
            for constant in fixed:
                constant.is_rewritten = False

    def run(self, constant=None, factor=1):
        bench = self.root / "build" / self.arguments.preset / "bench"
        arguments = self.arguments
        out = self.root / f"build/ablation-{os.getpid()}.json"
        environment = dict(os.environ, TIDEMARK_FACTOR=str(factor))
        environment["TIDEMARK_ABLATED"] = constant.id if constant else ""
        accuracy = [bench / "tidemark_accuracy_bench", "--indicators", "tidemark", "--seeds",
                    str(arguments.seeds), "--cache", arguments.cache, "--data", arguments.data,
                    "--row", arguments.rows]
        for suite in arguments.suites.split(","):
            accuracy += ["--suite", suite]
        commands = []
        folder = constant.path.as_posix() if constant else ""
        if not folder.startswith("master/forecast/dag"):
            commands.append(accuracy)
        if not folder or folder.startswith(WORKFLOW_FOLDERS):
            commands += [[bench / "tidemark_workflow_bench", "--indicators", "tidemark", "--data",
                          arguments.data, "--updates", str(arguments.updates), "--suite", suite,
                          *self.logs]
                         for suite in arguments.workflows.split(",")]
        errors = {}
        for command in commands:
            out.unlink(missing_ok=True)
            if subprocess.run([*command, "--json", out], stdout=self.log, stderr=self.log, cwd=ROOT,
                              env=environment).returncode != 0:
                return None
            errors.update(rows_of(json.loads(out.read_text())))
        return errors


def rows_of(report):
    """Returns avgErr, maxErr and coverage by row in %, for jobs and for sets of workflows."""
    sums = {}
    for row in report.get("rows", []):
        if row.get("indicator", "tidemark") != "tidemark" or "avg_err" not in row:
            continue
        key = " ".join(str(row[part]) for part in ("suite", "job", "data", "scenario") if row[part])
        if row["suite"] == "synthetic":
            key += f" {row['workers'] - 1} tasks"
        sums.setdefault(key, []).append(
            (row["avg_err"], row["max_err"], 100 * (row.get("coverage90") or 0)))
    errors = {key: tuple(sum(one) / len(values) for one in zip(*values))
              for key, values in sums.items()}
    for suite, by_indicator in report.get("suites", {}).items():
        of = by_indicator.get("tidemark", {})
        coverage = 100 * (of.get("coverage90") or 0)
        if of.get("avg_err") is not None:
            errors[suite] = (of["avg_err"], of["max_err"], coverage)
        elif of.get("makespan_err_mean") is not None:
            errors[suite] = (100 * of["makespan_err_mean"], 100 * of["makespan_err_p90"], coverage)
    return errors


def compare(before, after):
    rows = [row for row in before if row in after]
    change = {"avg_err_mean": 0, "max_err_mean": 0, "coverage_mean": 0, "largest": 0, "row": "",
              "is_same": all(before[row] == after[row] for row in rows)}
    for row in rows:
        by_average, by_largest, by_coverage = (after[row][k] - before[row][k] for k in range(3))
        change["avg_err_mean"] += by_average / len(rows)
        change["max_err_mean"] += by_largest / len(rows)
        change["coverage_mean"] += by_coverage / len(rows)
        if abs(by_average) > abs(change["largest"]):
            change["largest"], change["row"] = by_average, row
    return change


def judge(constant, copy, before):
    one = {"constant": constant.name, "place": f"{constant.path}:{constant.number + 1}",
           "value": constant.value, "changes": {}}
    for factor in (0.5, 2):
        if not constant.is_rewritten:
            copy.write(constant, factor)
            if copy.compile().returncode != 0:
                one["changes"][str(factor)] = None
                continue
        after = copy.run(constant, factor)
        one["changes"][str(factor)] = compare(before, after) if after else None
    known = [change for change in one["changes"].values() if change]
    one["is_untouched"] = len(known) == 2 and all(change["is_same"] for change in known)
    one["is_idle"] = len(known) == 2 and all(
        abs(c["largest"]) < IDLE_BELOW and abs(c["coverage_mean"]) < COVERAGE_IDLE_BELOW
        for c in known)
    return one


def line_of(one):
    def text(change):
        if change is None:
            return "does not compile or run"
        return (f"{change['avg_err_mean']:+.2f} / {change['max_err_mean']:+.2f} / "
                f"{change['coverage_mean']:+.1f}, "
                f"at most {change['largest']:+.2f} {change['row']}")

    verdict = "untouched" if one["is_untouched"] else "idle" if one["is_idle"] else ""
    return (f"| {one['constant']} | {one['value']} | {one['place']} | {text(one['changes']['0.5'])} | "
            f"{text(one['changes']['2'])} | {verdict} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suites", default="synthetic,stress,paper", help="suites of jobs")
    parser.add_argument("--rows", default=ROWS, help="run only rows whose name contains one of these texts")
    parser.add_argument("--workflows", default="tpcds",
                        help="run only sets of workflows whose name begins with this text")
    parser.add_argument("--updates", type=int, default=5, help="number of updates of a live workflow")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="", help="vary only constants whose file or name contains one of these texts")
    parser.add_argument("--list", action="store_true", help="list the constants and exit")
    parser.add_argument("--preset", default="release")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of parallel compilations")
    parser.add_argument("--cache", default=str(ROOT / "build/bench/cost-logs"))
    parser.add_argument("--data", default=os.environ.get("TIDEMARK_DATA",
                                                         str(ROOT / "../shared/data")))
    parser.add_argument("--json", default="", help="also write the results to this file")
    arguments = parser.parse_args()
    found = constants()
    if arguments.list:
        for one in found:
            print(f"{one.path}:{one.number + 1} {one.name} = {one.value}")
        return
    (ROOT / "build/ablation").mkdir(parents=True, exist_ok=True)
    log = open(ROOT / "build/ablation.log", "w")
    copy = Copy(arguments, found, log)
    copy.make_changeable()
    before = copy.run()
    if not before:
        sys.exit("the benchmark fails: see build/ablation.log")
    results = []
    # Starts with the constants that need no compilation.
    for constant in sorted(found, key=lambda one: not one.is_rewritten):
        if not any(part in constant.id for part in arguments.only.split(",")):
            continue
        results.append(judge(constant, copy, before))
        print(line_of(results[-1]), flush=True)
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps(
                {"suites": arguments.suites, "rows": before, "seeds": arguments.seeds,
                 "constants": results}, indent=1))


if __name__ == "__main__":
    main()
