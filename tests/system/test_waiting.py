"""Threads and waiting: results, errors, limits, and a storm of signals around them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from hopwave.system.threads import Flag, Pool, each


def test_a_pool_uses_no_more_threads_than_it_may() -> None:
    seen: set[int] = set()
    pool = Pool(2)

    def work(number: int) -> int:
        seen.add(threading.get_ident())
        time.sleep(0.001)
        return number * number

    tasks = [pool.begin(work, number) for number in range(50)]
    assert [task.result() for task in tasks] == [number * number for number in range(50)]
    assert 1 <= len(seen) <= 2


def test_the_first_error_in_order_is_raised_and_the_rest_is_left_out() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        time.sleep(0.002)
        if number in (3, 5):
            raise ZeroDivisionError(str(number))

    with pytest.raises(ZeroDivisionError, match="3"):
        each(2, range(1000), work)
    time.sleep(0.02)
    assert len(begun) < 500


def test_several_wait_for_one_flag() -> None:
    flag, seen = Flag(), []
    waiting = [threading.Thread(target=lambda: seen.append(flag.wait(30))) for _ in range(4)]
    for thread in waiting:
        thread.start()
    assert not flag.wait(0.01)
    flag.set()
    for thread in waiting:
        thread.join(30)
    assert seen == [True] * 4 and flag.wait(0.0)


STORM = """
import faulthandler, random, signal, sys, time
from hopwave.system import threads
from hopwave.system.progress import Meter

faulthandler.dump_traceback_later(100, exit=True)
signal.signal(signal.SIGALRM, signal.default_int_handler)
draw = random.Random(1)

def work(number):
    time.sleep(0.0001)
    return number

for turn in range(1500):
    try:
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-5, 2e-3))
        with Meter("work", 10, None):
            threads.each(3, range(9), work)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
assert threads.each(3, range(9), work) == list(range(9))
while threads.crew._pending or threads.crew._away:
    time.sleep(0.01)
print(threads.crew._threads)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers here")
def test_signals_break_no_wait_and_leave_no_threads() -> None:
    done = subprocess.run([sys.executable, "-c", STORM], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 20
