"""What every process of a run of the tests does first, where PYTHONPATH names this folder.

Python looks for garbage among the parts of torch and nbgrader again and again while it loads them,
and once more when it ends: a third of the time of a process that does little else. Tests start a
thousand of them. The fork servers, and so the processes that run submissions, see to it themselves.
"""

import atexit
import gc
import sys

if "grader.workers" not in sys.orig_argv:
    gc.set_threshold(50_000, 100)
    atexit.register(gc.freeze)
