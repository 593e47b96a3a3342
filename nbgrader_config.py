"""nbgrader's view of the course. Steps are named, not imported: students have no grader."""

import os
import sys
from contextlib import suppress
from pathlib import Path

c = get_config()  # noqa: F821 (nbgrader provides it)
ROOT = Path(__file__).resolve().parent

# --- Build and grading --------------------------------------------------------------------------

# nbgrader starts alembic as a program and imports the steps below by name.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

c.CourseDirectory.root = str(ROOT)
if {"%", "?"} & {*str(ROOT)}:  # in an address they mean something else: it would be another file
    whole = str(ROOT).replace("%", "%25").replace("?", "%3F")
    c.CourseDirectory.db_url = f"sqlite:///{whole}/gradebook.db"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"

# nbgrader's list, with our ClearSolutions, and without header files, AUTOTEST and mark schemes,
# which the course does not use. Hidden tests are cleared after the gradebook has them.
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.LockCells",
    "grader.nbgrader_plugins.ClearSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# RepairCells in place of DeduplicateIds, by which one duplicated cell stops the whole batch. It
# arranges what runs as `make grade` does, by the lesson's text.
c.RepairCells.root = str(ROOT)
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "grader.nbgrader_plugins.RepairCells",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# RunCells: a file beside a hand-in would stand in for a module of the kernel's.
# SettleScores: a negative, missing or NaN score would earn full marks.
c.Autograde.autograde_preprocessors = [
    "grader.nbgrader_plugins.RunCells",
    "nbgrader.preprocessors.LimitOutput",
    "grader.nbgrader_plugins.SettleScores",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# What late work loses, of its score: here is the one place to change it. Due dates and extensions:
# `.venv/bin/python -m grader deadlines`. Any plugin of nbgrader's kind may stand here.
c.AssignLatePenalties.plugin_class = "grader.nbgrader_plugins.PercentADay"
c.PercentADay.percent_a_day = 10  # for each day begun
c.PercentADay.most_percent = 50

c.OverwriteCells.add_missing_cells = True
c.Execute.skip_cells_with_tag = "skip-grading"
c.Execute.kernel_name = "python3"
# nbgrader's own arguments, and no kernel's warnings between the lines of a progress bar.
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--log-level=ERROR"]
c.Execute.timeout = 60  # seconds per cell; trainings are tagged skip-grading

c.ExportApp.plugin_class = "grader.nbgrader_plugins.export.StatusExportPlugin"

# Hidden tests must not appear on the pages that students read (nbgrader's issue 917).
c.GenerateFeedback.exporter_class = "grader.formgrader.submission_page.SubmissionPage"
c.GenerateFeedback.preprocessors = [
    "grader.nbgrader_plugins.StripHiddenTests",
    "nbgrader.preprocessors.GetGrades",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]

# --- Exchange -----------------------------------------------------------------------------------

# The same settings as the learners' lab, so that `make lab` submits where `make grade` collects.
from utils.errors import UserError  # noqa: E402 (ROOT is on the path by now)
from utils.lab.exchange import Course, exchange_settings  # noqa: E402

try:
    c.merge(exchange_settings(Course(ROOT)))
except UserError as error:  # nbgrader would show it as a traceback, then work without settings
    sys.exit(f"{error}. Correct it, then run the same command.")
c.ExchangeFactory.collect = "grader.nbgrader_plugins.collect.Collect"
c.ExchangeFactory.release_feedback = "grader.nbgrader_plugins.exchange.ReleaseFeedback"

# Formgrader wants the exchange to be there, on a fresh clone too. Everyone may go in: inside it,
# nbgrader sets who may read what.
with suppress(OSError):
    exchange = Path(c.Exchange.root)
    if not exchange.exists():
        exchange.mkdir(parents=True)
        exchange.chmod(0o777)
