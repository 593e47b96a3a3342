"""`python -m grader.workers`: a fork server, as the pool starts it."""

import sys

from grader.workers.forkserver import main

if __name__ == "__main__":
    main(sys.argv[1:])
