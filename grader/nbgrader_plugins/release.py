"""Release: nbgrader's ClearSolutions with stubs that name the exercise."""

from typing import Any

from nbgrader.preprocessors import ClearSolutions as NbGraderClearSolutions
from nbgrader.utils import is_solution

from grader.authoring.regions import SOLUTION, stubbed


class ClearSolutions(NbGraderClearSolutions):
    """Replace each solution region with its stub, or a line that says what is not written yet."""

    def _replace_solution_region(self, cell: Any, language: str) -> bool:
        """Stub the cell in place and return whether it had a region (nbgrader's own hook)."""
        has_region = SOLUTION[0] in cell.source
        if has_region and is_solution(cell):  # elsewhere nbgrader reports the region as misplaced
            cell.source = stubbed(cell.source, cell.metadata.nbgrader.grade_id)
        return has_region
