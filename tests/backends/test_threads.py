"""The pool of threads: every task once, errors as they are, and tasks that ask for threads themselves."""

import threading

import pytest

from anyboost.backends import threads


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_task_is_done_once(n_threads):
    done = []
    threads.each(done.append, 50, n_threads)
    assert sorted(done) == list(range(50))


def test_an_error_in_a_task_reaches_the_caller():
    def task(index):
        if index == 3:
            raise ValueError("the third")

    with pytest.raises(ValueError, match="the third"):
        threads.each(task, 8, 2)


def test_tasks_that_ask_for_threads_do_not_wait_for_each_other():
    done = []

    def outer(index):
        threads.each(lambda inner: done.append((index, inner)), 20, 4)

    caller = threading.Thread(target=lambda: threads.each(outer, 20, 4), daemon=True)
    caller.start()
    caller.join(30)
    assert not caller.is_alive()
    assert sorted(done) == [(i, j) for i in range(20) for j in range(20)]
