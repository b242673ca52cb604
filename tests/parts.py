"""Rows in several parts, each with a loop of its own in a thread of its own.

A part is the rows of this process but for how parts agree: what rows of several processes would add.
"""

import threading
from itertools import pairwise

import numpy as np

from anyboost.trees.frontier import ELSEWHERE
from anyboost.trees.rows import GroundHere, Here


class Meeting:
    """Where the parts hand in what they have, and take home what all of them have."""

    def __init__(self, parts):
        self.brought = [None] * parts
        self.barrier = threading.Barrier(parts)

    def meet(self, number, thing, combine):
        self.brought[number] = thing
        self.barrier.wait(60)
        found = combine(self.brought)
        self.barrier.wait(60)
        return found


class Part(Here):
    """The rows of one part."""

    def __init__(self, number, meeting, n, own):
        super().__init__(n)
        self.number, self.meeting, self.own = number, meeting, own

    def add(self, counts):
        return self.meeting.meet(self.number, counts, lambda all_of_them: sum(map(np.asarray, all_of_them)))

    def most(self, values):
        return self.meeting.meet(self.number, values, lambda all_of_them: np.max(all_of_them, axis=0))

    def gather(self, values):
        return self.meeting.meet(self.number, values, np.concatenate)

    def apart(self):
        return [self]  # what parts agree on, they ask in one order

    def ground(self, bins, fixed, plan):
        return GroundOfPart(self, bins, fixed, plan)


class GroundOfPart(GroundHere):
    inside = ELSEWHERE

    def histogram(self, start, stop, sums):
        super().histogram(start, stop, sums)
        sums[:] = self._rows.add(sums)


def in_parts(work, edges):
    """What work(rows) gives for each of the parts, which lie between the edges."""
    parts = [slice(*ends) for ends in pairwise(edges)]
    meeting, found = Meeting(len(parts)), [None] * len(parts)

    def one(number, part):
        try:
            found[number] = work(Part(number, meeting, edges[-1], part))
        except BaseException as error:
            found[number] = error
            meeting.barrier.abort()

    threads = [threading.Thread(target=one, args=given) for given in enumerate(parts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in found:
        if isinstance(part, BaseException) and not isinstance(part, threading.BrokenBarrierError):
            raise part
    return found


def three(n):
    return 0, n // 7, n // 2, n
