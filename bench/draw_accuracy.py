"""Draws one run of `./dev bench accuracy --curves`: predictions, the truth, and the attempts.

The upper part shows the progress of each indicator, with the interval of the first one (NearestFit,
figures 1 and 8). The lower part shows the attempts of reduce tasks by slot (figure 7).
usage: draw_accuracy.py CURVES-FILE SVG-FILE
"""

import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

COLOURS = {"tidemark": "#0b5cad", "nearestfit": "#c1440e", "hadoop": "#6b6b6b", "jobratio": "#2e8b57",
           "taskratio": "#8a5fb4", "oracle": "#b8a100", "tidemark-without-signals": "#7fb2e5"}
NOT_DRAWN = ("jobratio-ewma", "taskratio-ewma")
SHOWN_MAX = 0.999


def progress(at, end):
    """Returns the progress in percent at a time for a predicted end, or 0 if there is no prediction."""
    if end is None:
        return 0
    return 100 * (1 if end <= at else at / end)


def shown(updates):
    """Returns the shown progress, which is below 100 % before the end."""
    return [min(progress(at, end), 100 * SHOWN_MAX) for at, end in zip(updates["at"], updates["end"])]


def first_run(path):
    """Returns the attempts and the predictions of the first row's first seed."""
    head, curves = None, []
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if "attempts" in line:
                if head is not None:
                    break
                head = line
            else:
                curves.append(line)
    if head is None:
        raise SystemExit(f"{path} contains no run")
    return head, curves


def draw_curves(axes, end, curves):
    axes.plot([0, end], [0, 100], color="black", linewidth=1, linestyle=(0, (4, 3)), label="truth")
    for curve in curves:
        name, updates = curve["indicator"], curve["updates"]
        if name in NOT_DRAWN:
            continue
        axes.plot(updates["at"], shown(updates), color=COLOURS.get(name), label=name,
                  linewidth=2 if name == "tidemark" else 1.2)
        if name == "tidemark":
            with_interval = [(at, progress(at, upper), progress(at, lower)) for at, lower, upper in
                             zip(updates["at"], updates["lower"], updates["upper"]) if upper is not None]
            if with_interval:
                axes.fill_between(*zip(*with_interval), color=COLOURS[name], alpha=0.15, linewidth=0,
                                  label="its 90 % interval")
    axes.set_xlim(0, end)
    axes.set_ylim(0, 101)
    axes.set_ylabel("progress, %")
    axes.legend(fontsize=7, frameon=False, loc="lower right")


def draw_lanes(axes, end, attempts):
    slots = 1 + max((attempt["node"] for attempt in attempts), default=0)
    for attempt in attempts:
        done = attempt["outcome"] == "finished"
        axes.barh(attempt["node"], attempt["end"] - attempt["start"], left=attempt["start"], height=0.75,
                  color="#9ec5e8" if done else "#e8b39e", edgecolor="#33506b", linewidth=0.6)
        if attempt["end"] - attempt["start"] > 0.03 * end and slots <= 32:
            axes.text(attempt["start"] + 0.006 * end, attempt["node"], f"r-{attempt['task']}", fontsize=6,
                      va="center")
    axes.set_ylim(slots - 0.5, -0.5)
    axes.set_yticks([])
    axes.set_ylabel("slots")
    axes.set_xlabel("seconds")


def main():
    curves_path, svg_path = sys.argv[1:]
    head, curves = first_run(curves_path)
    end = head["phase_seconds"]
    slots = 1 + max((attempt["node"] for attempt in head["attempts"]), default=0)
    lanes = min(4, 0.5 + 0.16 * slots)
    plt.rcParams["svg.hashsalt"] = "tidemark"  # gives the same bytes every time
    plt.rcParams["svg.fonttype"] = "none"
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7.5, 3.6 + lanes),
                                          gridspec_kw={"height_ratios": [3.6, lanes]})
    above.set_title(" ".join(filter(None, (head["job"], head["data"], head["scenario"]))), fontsize=10)
    draw_curves(above, end, curves)
    draw_lanes(below, end, head["attempts"])
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(svg_path, metadata={"Date": None})


if __name__ == "__main__":
    main()
