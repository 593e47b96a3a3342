"""`python -m grader.cluster`: what grades beside a Dask worker, as the worker starts it."""

import sys

from grader.cluster.shell import main

if __name__ == "__main__":
    main(sys.argv[1:])
