"""Runs a command and writes the processor time of all its processes to a file, in seconds.

Processes that outlive their parents are awaited and counted.
usage: processor_time.py FILE COMMAND...
"""

import ctypes
import os
import pathlib
import resource
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36


def main():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    code = subprocess.run(sys.argv[2:]).returncode
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    pathlib.Path(sys.argv[1]).write_text(str(used.ru_utime + used.ru_stime))
    sys.exit(code)


if __name__ == "__main__":
    main()
