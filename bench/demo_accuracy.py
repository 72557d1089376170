"""Measures the errors of each indicator in the demo, by running the job of `./dev demo` several times.

The final snapshot of each run contains the errors defined in [NF] 7.4.
usage: demo_accuracy.py RUNS JOB-ARGUMENTS...
"""

import sys

import measure


def errors_of(snapshots):
    final = snapshots[-1]
    if final["state"] != "JOB_STATE_SUCCEEDED":
        raise SystemExit(f"the job ended as {final['state']}: {final['message']}")
    return {error["indicator"]: error for error in final["errors"]}


def main():
    runs, arguments = int(sys.argv[1]), sys.argv[2:]
    rows = []
    for run in range(runs):
        seconds, snapshots = measure.run_job([*arguments, "--compare"])
        rows.append({"seconds": seconds, "errors": errors_of(snapshots)})
        print(f"run {run + 1} of {runs}: {seconds:.1f} s, " + ", ".join(
            f"{name} {error['last_stage_avg_points']:.2f}"
            for name, error in rows[-1]["errors"].items()), flush=True)
    table = {}
    for name in rows[0]["errors"]:
        table[name] = {
            figure: measure.spread([row["errors"][name][figure] for row in rows])
            for figure in ("last_stage_avg_points", "last_stage_max_points",
                           "job_avg_points", "job_max_points")}
        coverage = [row["errors"][name]["interval_coverage"] for row in rows
                    if "interval_coverage" in row["errors"][name]]
        if coverage:
            table[name]["interval_coverage"] = measure.spread(coverage)
    best_linear = {row: min(e["last_stage_avg_points"] for n, e in rows[row]["errors"].items()
                            if n not in ("nearestfit", "tidemark")) for row in range(runs)}
    ratios = [rows[r]["errors"]["nearestfit"]["last_stage_avg_points"] / best_linear[r]
              for r in range(runs)]
    measure.save("demo_accuracy", {
        "job": arguments, "seconds": measure.spread([row["seconds"] for row in rows]),
        "indicators": table, "nearestfit_to_best_linear": measure.spread(ratios), "runs": rows})
    print("\n| indicator | reduce avgErr | reduce maxErr | job avgErr | job maxErr |\n|---|---|---|---|---|")
    for name, figures in table.items():
        cells = [f"{figures[f]['median']:.2f} [{figures[f]['min']:.2f}-{figures[f]['max']:.2f}]"
                 for f in list(figures)[:4]]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(f"\nnearestfit / best linear, reduce avgErr: median {measure.spread(ratios)['median']:.3f}, "
          f"worst {max(ratios):.3f}")


if __name__ == "__main__":
    main()
