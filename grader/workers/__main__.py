"""`python -m grader.workers`: a fork server, as the pool starts it."""

import gc
import sys

gc.disable()  # until all is loaded: what is imported stays, and to look through it takes its time

from grader.workers.forkserver import main  # noqa: E402

if __name__ == "__main__":
    main(sys.argv[1:])
