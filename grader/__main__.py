"""Entry point of `python -m grader`."""

import gc
import sys

# To look for garbage among torch and nbgrader, again and again while they are loaded and once more
# at the end, takes a third of a short command's time. The system takes everything back anyway.
gc.set_threshold(50_000, 100)

from grader.cli import main  # noqa: E402

if __name__ == "__main__":  # tests and tools import every module
    status = main()
    gc.freeze()
    sys.exit(status)
