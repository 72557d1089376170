"""Measures the additional time of a job whose master is absent, silent, slow, faulty or killed.

Runs tests/e2e/faults_test.sh, which compares outputs and exit codes, and takes the medians of its
times. usage: faults.py REPETITIONS FAULTY_PEER
"""

import re
import subprocess
import sys

import measure

LINE = re.compile(r"^(\w+) +(\d+) ms, ([+-]\d+) ms$", re.MULTILINE)


def main():
    repetitions, peer = int(sys.argv[1]), sys.argv[2]
    longer = {}
    for repetition in range(repetitions):
        done = subprocess.run(["bash", str(measure.ROOT / "tests/e2e/faults_test.sh"),
                               str(measure.TIDEMARK), peer], capture_output=True, text=True)
        print(done.stdout, done.stderr, sep="", flush=True)
        if done.returncode != 0:
            raise SystemExit("a fault changed the job")
        for name, took, more in LINE.findall(done.stdout):
            longer.setdefault(name, []).append(int(took if name == "calm" else more) / 1000)
    calm = longer.pop("calm")
    measure.save("faults", {"calm_s": measure.spread(calm),
                            "longer_s": {name: measure.spread(s) for name, s in longer.items()}})


if __name__ == "__main__":
    main()
