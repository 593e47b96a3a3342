"""The limit on the time that code takes."""

import time

import pytest

from utils.kernel.time_limit import time_limit


@pytest.mark.parametrize("of_computing", [True, False])
def test_the_time_limit_leaves_no_alarm_behind(of_computing):
    with time_limit(0.05, of_computing=of_computing):
        pass
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    with pytest.raises(TimeoutError), time_limit(0.05, of_computing=of_computing):
        while True:
            pass


def test_waiting_counts_on_the_clock_alone():
    with time_limit(0.05, of_computing=True):
        time.sleep(0.1)
    with pytest.raises(TimeoutError), time_limit(0.05):
        time.sleep(5)
