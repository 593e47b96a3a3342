"""Hollow modules: their names can be imported, but not used."""

import pytest

from grader.workers.hollow import HollowModule
from utils.checks.framework.forbidden import Forbidden

MODULE = HollowModule("utils.experiments.made_up")


def test_a_name_in_a_hollow_module_refuses_to_be_called_and_says_why():
    with pytest.raises(Forbidden, match=r"made_up\.helper is for the lesson's experiments"):
        MODULE.helper(1, key=2)


def test_a_name_in_a_hollow_module_may_stand_in_an_annotation():
    assert (MODULE.History | None) is not None
    assert (None | MODULE.History) is not None


def test_names_that_python_asks_for_are_not_made_up():
    assert not hasattr(MODULE, "__path__")
