"""`python -m grader.cluster`: what grades beside a Dask worker, as the worker starts it."""

import gc
import sys

gc.disable()  # until all is loaded: what is imported stays, and to look through it takes its time

from grader.cluster.shell import main  # noqa: E402

if __name__ == "__main__":
    gc.freeze()
    gc.enable()
    main(sys.argv[1:])
