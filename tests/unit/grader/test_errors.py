"""Names as a person types them: of a mistyped one the nearest is told."""

import pytest

from grader.errors import UsageError, verify_known


def test_a_mistyped_name_is_told_with_the_nearest_one():
    with pytest.raises(UsageError, match=r"no lesson '02_atention'\. Did you mean 02_attention"):
        verify_known("lesson", "02_atention", ["01_rnn_limits", "02_attention"])


def test_a_name_like_none_is_told_with_the_first_of_a_long_list():
    with pytest.raises(UsageError, match=r"There are: 0, 1, 2, 3, 4, 5, 6, 7, \.\.\.") as caught:
        verify_known("student", "zoe", list(map(str, range(200))))
    assert "8" not in str(caught.value)


def test_where_there_is_nobody_yet_that_is_told():
    with pytest.raises(UsageError, match="none yet"):
        verify_known("student", "zoe", [])


def test_a_known_name_passes():
    verify_known("student", "zoe", ["zoe"])
