"""The command `python -m utils.lab [JupyterLab's options]`."""

import sys

from utils.lab.start import main

if __name__ == "__main__":  # tests and tools import every module
    main(sys.argv[1:])
