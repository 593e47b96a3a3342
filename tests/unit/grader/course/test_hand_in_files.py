"""What is taken of a hand-in, and how what is not is told."""

from grader.course.hand_in_files import LeftOut, by_kind


def test_what_is_left_out_is_grouped_by_reason_and_owner():
    kinds = [("no time", 1), ("no time", 2), ("no time", 1), ("no folder", 1)]
    left = [LeftOut(f"{n}", *kind) for n, kind in enumerate(kinds)]
    assert [[item.what for item in group] for group in by_kind(left)] == [
        ["0", "2"], ["1"], ["3"],
    ]  # fmt: skip
