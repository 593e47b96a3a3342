"""Our steps in nbgrader's conversions; nbgrader_config.py names them."""

from grader.nbgrader_plugins.feedback import StripHiddenTests
from grader.nbgrader_plugins.late import PercentADay
from grader.nbgrader_plugins.release import ClearSolutions
from grader.nbgrader_plugins.submission import RepairCells, RunCells, SettleScores

__all__ = [
    "ClearSolutions",
    "PercentADay",
    "RepairCells",
    "RunCells",
    "SettleScores",
    "StripHiddenTests",
]
