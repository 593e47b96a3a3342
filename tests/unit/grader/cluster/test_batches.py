import pytest

from grader.cluster.batches import MOST_BYTES, MOST_LOSSES, Batch, Member, cut, size_for
from grader.reading.prepared import Item
from tests.course.lesson_runs import all_lessons

LESSON = all_lessons()["00_start_here"]


def items(*sizes):
    return [Item(b"x" * size, LESSON) for size in sizes]


def positions(batches):
    return [[member.position for member in batch.members] for batch in batches]


def test_items_are_cut_to_size_in_order():
    assert positions(cut(items(*[1] * 5), 2)) == [[0, 1], [2, 3], [4]]


def test_no_items_make_no_batch():
    assert list(cut([], 3)) == []


def test_a_batch_that_grows_too_large_in_bytes_ends_early():
    large = MOST_BYTES // 2 + 1
    assert positions(cut(items(large, large, 1, 2 * large), 50)) == [[0], [1, 2], [3]]


def test_items_are_read_no_further_than_the_next_batch():
    read = []

    def some():
        for item in items(*[1] * 9):
            read.append(item)
            yield item

    next(cut(some(), 3))
    assert len(read) == 4


@pytest.mark.parametrize(
    ("count", "threads", "size"),
    [(1, 3, 1), (12, 3, 4), (60, 2, 10), (800, 4, 50), (10_000, 100, 25), (400, 4, 25)],
)
def test_batches_are_of_10_to_50_unless_threads_would_have_nothing(count, threads, size):
    assert size_for(count, threads) == size


def test_a_batch_is_sent_whole_once_more_then_singly_then_given_up():
    batch = Batch(tuple(Member(n, item) for n, item in enumerate(items(1, 1, 1))))
    (again,) = batch.lost()
    assert again.members == batch.members
    singles = again.lost()
    assert positions(singles) == [[0], [1], [2]]
    one, times = singles[0], 2
    while not one.is_given_up:
        (one,), times = one.lost(), times + 1
    assert times == MOST_LOSSES
