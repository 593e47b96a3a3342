"""`python -m grader.engine`: a foreman, as the pool starts it."""

import sys

from grader.engine.foreman import main

main(sys.argv[1:])
