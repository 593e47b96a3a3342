"""A pytest plugin for nbval: a notebook that was never executed must not pass.

nbval takes a code cell without an execution count as one with nothing to compare.
"""

import pytest


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a cell that holds code and has no execution count, before it is run."""
    if is_unexecuted(getattr(item, "cell", {})):
        pytest.fail("This cell was never executed; run `make build`.", pytrace=False)


def is_unexecuted(cell: dict) -> bool:
    """Say whether this is a code cell with code and without an execution count."""
    return (
        cell.get("cell_type") == "code"
        and bool(cell["source"].strip())
        and cell.get("execution_count") is None
    )
