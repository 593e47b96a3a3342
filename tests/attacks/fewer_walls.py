"""A foreman as it would be on a machine that lacks a wall; its name is the first argument."""

import sys

from grader.engine import foreman
from grader.isolation import Supervisor
from tests.unit.isolation_attacks import without_landlock, without_namespaces

LACKING = {"Landlock": without_landlock, "namespaces": without_namespaces}


class FewerWalls(Supervisor):
    """A supervisor without the wall."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)
        LACKING[sys.argv[1]](self)


foreman.Supervisor = FewerWalls
foreman.main(sys.argv[2:])
