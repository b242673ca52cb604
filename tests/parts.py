"""Rows in several parts, each with a loop of its own in a thread of its own: a circle whose members are threads."""

import threading
from itertools import pairwise

from anyboost.trees.parts import Circle, rows_of, within


class Meeting:
    """Where members hand in their parcels, and take home what the others have for them."""

    def __init__(self, size):
        self.size = size
        self.parcels = [None] * size
        self.barrier = threading.Barrier(size)


class Member(Circle):
    def __init__(self, place, meeting):
        self.place, self.size, self.meeting = place, meeting.size, meeting

    def trade(self, parcels):
        meeting = self.meeting
        meeting.parcels[self.place] = [parcel.copy() for parcel in parcels]
        meeting.barrier.wait(20)
        found = [given[self.place] for given in meeting.parcels]
        meeting.barrier.wait(20)
        return found


def in_circle(work, size):
    """What work(place) gives for each of the members of a circle."""
    meeting, found = Meeting(size), [None] * size

    def one(place):
        try:
            with within(Member(place, meeting)):
                found[place] = work(place)
        except BaseException as error:
            found[place] = error
            meeting.barrier.abort()

    threads = [threading.Thread(target=one, args=(place,)) for place in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in found:
        if isinstance(part, BaseException) and not isinstance(part, threading.BrokenBarrierError):
            raise part
    return found


def in_parts(work, edges):
    """What work(rows) gives for each of the parts, which lie between the edges."""
    sizes = [stop - start for start, stop in pairwise(edges)]
    return in_circle(lambda place: work(rows_of(sizes[place])), len(sizes))


def three(n):
    return 0, n // 7, n // 2, n
