"""Checks that explain: ``check.<exercise>(answer)`` in a notebook.

An exercise is questioned by a probe (``observe``) and judged against an oracle and a bank of
known mistakes (``judge``). The two halves exchange plain data only, so that grading can run
them in different processes.
"""

from utils.checks.namespace import check

__all__ = ["check"]
