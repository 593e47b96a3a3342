"""The defaults of a student's arguments."""

import pytest

from utils.checks.authoring.defaults import require_defaults
from utils.checks.observation import AnswerError


def answer(x, base=10.0, offset=None, *more, **named):
    return x, base, offset, more, named


def test_the_stubs_defaults_are_accepted_and_what_does_not_tell_is_passed_over():
    require_defaults(answer, base=10, offset=0, x=1, another=2)
    require_defaults(dict.fromkeys, base=10)


@pytest.mark.parametrize("base", [5.0, 20.0])
def test_another_default_is_told(base):
    told = f"Where base is left out, it should be {base:g}; yours is 10"
    with pytest.raises(AnswerError, match=told):
        require_defaults(answer, base=base)
