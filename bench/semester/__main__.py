"""Run `python -m bench.semester`."""

from bench.semester.whole import main

if __name__ == "__main__":  # tests and tools import every module
    main()
