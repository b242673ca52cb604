"""A worker dies where it comes to a kind of collective: the same bytes, and no process or port is left behind."""

import random
from collections import Counter
from functools import cache

import pytest

from anyboost.dask.mesh import Mesh
from collective_fits import FITS, answer
from collectives import Assassin, asking, order_of
from processes import children, nothing_left

FULL = pytest.mark.full
KINDS = {  # who asks something of all workers, and a fit that comes to it
    "backends.draws.count_smallest": "a regressor",
    "backends.select._list": "weights, draws and a set to watch",
    "backends.select.quantiles": "weights, draws and a set to watch",
    "backends.fixed_point.fixed_mass": "weights, draws and a set to watch",
    "backends.sums.largest": "weights, draws and a set to watch",
    "backends.sums.leaf_sums": "told to callbacks",
    "backends.sums.sum_at_own_scale": "weights, draws and a set to watch",
    "checks.sample_weight": "weights, draws and a set to watch",
    "dask.boosting._as_numbers": "weights, draws and a set to watch",
    "dask.reports.__call__": "told to callbacks",
    "draws.__init__": "weights, draws and a set to watch",
    "draws._copies": "weights, draws and a set to watch",
    "draws._dealt": "target statistics",
    "draws.drawn": "weights, draws and a set to watch",
    "draws.held_out": "a regressor",
    "draws.unit_counts": "weights, draws and a set to watch",
    "estimators.base._dials": "a regressor",
    "estimators.base._splits": "a regressor",
    "estimators.classes.targets_of": "a classifier",
    "estimators.encoding._dealt": "target statistics",
    "estimators.encoding._tell": "target statistics",
    "estimators.held_out._joined": "intervals",
    "estimators.parameters.warn_of_light_rows": "a classifier",
    "estimators.ranker._count_parts": "a ranker",
    "estimators.reading._training_rows": "a regressor",
    "explain.marginals.of": "stumps",
    "losses.base.outputs": "a classifier",
    "losses.combine._descend": "joint quantiles",
    "losses.functionals.best_shifts": "cvar",
    "losses.leaves.__init__": "a classifier",
    "losses.leaves.log_sums": "survival",
    "losses.ranking.__init__": "ranking",
    "losses.ranking._most_rows": "ranking",
    "losses.ranking._spread": "ranking",
    "losses.ranking._sums": "ranking",
    "losses.ranking.curvature": "a ranker",
    "losses.risk.__init__": "cvar",
    "losses.risk._border": "cvar",
    "losses.risk.infimum": "cvar",
    "losses.risk.on": "worst group",
    "losses.survival.__init__": "survival",
    "samples._check_scale": "weights, draws and a set to watch",
    "samples._measure": "weights, draws and a set to watch",
    "space.geometry.__init__": "weights, draws and a set to watch",
    "space.masses.as_mass": "weights, draws and a set to watch",
    "tables.reading._chosen": "a regressor",
    "tables.levels._lump": "many levels",
    "tables.levels.levels_of": "a regressor",
    "tables.levels.warn_of_labels": "a regressor",
    "trees.ahead._count": "weights, draws and a set to watch",
    "trees.binning._category_masses": "categories",
    "trees.grower.grow": "weights, draws and a set to watch",
    "trees.linear._centers": "linear leaves",
    "trees.linear._entries": "linear leaves",
    "trees.linear._moments": "linear leaves",
    "trees.linear._scale": "linear leaves",
    "trees.partition.cover": "weights, draws and a set to watch",
    "trees.questions._agreed": "weights, draws and a set to watch",
    "trees.questions._gathered": "weights, draws and a set to watch",
    "weak.tree.support": "weights, draws and a set to watch",
}
QUICK = ("trees.grower.grow",)


@pytest.mark.full
def test_every_kind_of_collective_is_listed(client, monkeypatch):
    """One that is not would never be tried."""
    met, trade = set(), Mesh.trade
    monkeypatch.setattr(Mesh, "trade", lambda mesh, parcels: met.add(asking()) or trade(mesh, parcels))
    for fit in FITS.values():
        fit(client)
    assert met == set(KINDS)


def test_who_asks_is_known_by_its_module_and_not_by_the_folder_of_a_clone():
    """In a folder named `anyboost` every file of the tests would else be taken for the library's."""
    code = compile("def ask(asking): return asking()", "/home/somebody/anyboost/tests/helper.py", "exec")
    stranger, member = {"__name__": "helper"}, {"__name__": "anyboost.losses.risk"}
    exec(code, stranger)
    exec(code, member)
    assert stranger["ask"](asking) == "nobody"
    assert member["ask"](asking) == "losses.risk.ask"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("kills") / "order"


@pytest.fixture
def order(processes, file):
    """A file: where somebody is to be killed."""
    processes.register_plugin(Assassin(file))  # the cluster may be a new one
    return file


@cache
def whole(name):
    return answer(FITS[name](None))


@pytest.fixture(scope="module")
def pair():
    """Two workers in threads of this process: rows lie as on those that are killed."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        yield client


@cache
def meetings(client, name):
    """How often each of two members of a fit comes to each kind: all of them equally often."""
    met, trade = {}, Mesh.trade

    def count(mesh, parcels):
        met.setdefault(mesh, Counter())[asking()] += 1
        return trade(mesh, parcels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Mesh, "trade", count)
        FITS[name](client)
    one, other = met.values()
    assert one == other
    return one


def killed_at(processes, order, kind, meeting):
    """Fit with a worker that dies there."""
    before, done = children(), order.with_suffix(".done")
    done.unlink(missing_ok=True)
    try:
        order.write_text(order_of(kind, meeting))
        assert answer(FITS[KINDS[kind]](processes)) == whole(KINDS[kind])
        assert done.exists()  # somebody was killed
    finally:
        order.unlink(missing_ok=True)
    assert nothing_left(processes, before)


@pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=FULL) for kind in KINDS]
)
def test_a_worker_killed_at_a_kind_of_collective_changes_no_byte(processes, order, kind):
    killed_at(processes, order, kind, 1)


@FULL
@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_killed_at_a_later_meeting_changes_no_byte(processes, pair, order, kind):
    """The first is in the first round most often, when no tree is known."""
    count = meetings(pair, KINDS[kind])[kind]
    if count < 2:
        pytest.skip("a fit comes to it once")
    killed_at(processes, order, kind, random.Random(kind).randint(2, count))


@FULL
def test_a_worker_killed_while_doors_open_changes_no_byte(processes, order):
    before, name = children(), "cvar"
    order.with_suffix(".done").unlink(missing_ok=True)
    order.write_text(order_of("a door"))
    assert answer(FITS[name](processes)) == whole(name)
    assert order.with_suffix(".done").exists()
    assert nothing_left(processes, before)


@FULL
def test_a_worker_killed_under_two_fits_changes_neither(processes, order):
    from concurrent.futures import ThreadPoolExecutor

    before, names = children(), ("cvar", "worst group")
    order.write_text(order_of("trees.grower.grow"))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda name: answer(FITS[name](processes)), names))
    assert found == [whole(name) for name in names]
    assert nothing_left(processes, before)
