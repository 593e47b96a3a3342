"""Our steps in nbgrader's conversions; nbgrader_config.py names them."""

from grader.preprocessors.feedback import StripHiddenTests
from grader.preprocessors.release import ClearSolutions
from grader.preprocessors.submission import RepairCells, SettleScores

__all__ = ["ClearSolutions", "RepairCells", "SettleScores", "StripHiddenTests"]
