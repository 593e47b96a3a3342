"""A fork server as it would be on a machine that lacks a wall; its name is the first argument."""

import sys

from grader.sandbox import Supervisor
from grader.workers import forkserver
from tests.unit.grader.sandbox.attacks_from_inside import without_landlock, without_namespaces

LACKING = {"Landlock": without_landlock, "namespaces": without_namespaces}


class FewerWalls(Supervisor):
    """A supervisor without the wall."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)
        LACKING[sys.argv[1]](self)


forkserver.Supervisor = FewerWalls
forkserver.main(sys.argv[2:])
