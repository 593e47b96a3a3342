"""Checks that explain mistakes: ``check.<exercise>(answer)`` in a notebook.

A probe questions the answer (``observe``); an oracle and a bank of known mistakes judge it
(``judge``). The two halves exchange only plain data, so that grading can run them in different
processes.
"""

from utils.checks.api import check

__all__ = ["check"]
