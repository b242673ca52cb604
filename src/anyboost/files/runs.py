"""The part of a file that is a run: all that `resume` continues from and `floor` rests on, without the sample.

A run of which nothing is kept for each row has its trees instead, as they were grown.
"""

from typing import Any

import numpy as np

from anyboost.boosting import Options, Run
from anyboost.certificates import SUMMED, WEIGHTINGS, Evidence
from anyboost.descent import Geometry, State
from anyboost.ensemble import Ensemble
from anyboost.files import certificates, ensembles, history, journals, parts
from anyboost.files.codec import Place, Record
from anyboost.files.fields import (
    Fault,
    Fields,
    bounded,
    choice,
    count,
    items,
    real,
    record,
    refusal,
    refuse,
    seed,
)
from anyboost.files.tensors import POSITIVE, Floats, Packed, entries
from anyboost.trees.table import MOST_BINS
from anyboost.watching import Watch

_OF_STEPS = ("loss", "gradient_norm", "edge", "step_size", "coefficient")
_METHOD = Record(loss=parts.LOSSES, learner=parts.LEARNERS, descent=parts.DESCENTS)
_NUMBERS = Record(
    seed=seed,
    start_loss=real,
    norm=certificates.UNKNOWN["norm"]._replace(at="state.norm"),
    infimum=certificates.UNKNOWN["infimum"],
)
_OPTIONS = Record(
    **dict.fromkeys(("row_fraction", "feature_fraction"), bounded(POSITIVE, 1.0)),
    max_bins=count(2, MOST_BINS),
    categorical=Place(items(each=count()), default=()),
    record=Place(choice("light"), default="full"),
)
_KEEPS = Record(keeps=Place(choice("trees"), default="rows"))
_WATCHED = Record("valid.", losses=Floats("losses", nan=True))
_SEEN = Record("valid.", scores=Floats(None, "outputs"))


def _sample(shape: tuple[int, ...], offset: bool) -> Record:
    """What is kept for each training row; with `offset`, where it started."""
    kinds: dict[str, Any] = {"scores": Floats(*shape), "residual": Floats(*shape, what="residuals")}
    return Record(
        **kinds | ({"offset": Place(Floats(*shape, what="start scores"), "start")} if offset else {})
    )


def _sums(shape: tuple[int, ...], rounds: int) -> Record:
    """Sums of gradients, and from round 1 on the last one."""
    return Record(
        "gradient.", **dict.fromkeys(WEIGHTINGS if rounds else SUMMED, Floats(*shape, what="gradients"))
    )


def _evidence(rounds: int) -> Record:
    witness = certificates.witness(rounds)
    return Record(
        weight=record(**dict.fromkeys(SUMMED, real)),
        intercept=record(**dict.fromkeys(WEIGHTINGS, real)),
        witnesses=items(certificates.MOST_WITNESSES, witness),
        current=items(len(WEIGHTINGS), witness),
    )


_GEOMETRY = Record(geometry=Floats("rounds", len(Geometry._fields), what="norms"))


def pack(run: Run) -> Packed:
    """Entries and tensors of a run."""
    state, method = run.state, _METHOD.pack(run)
    found = ensembles.pack(run.ensemble).within("ensemble") | method | entries(needs=_needs(method))
    found |= _NUMBERS.pack(run) | _OPTIONS.pack(run.options).within("options")
    found |= _pack_rows(run) if len(state.scores) else _pack_trees(run)
    found |= history.pack(run.steps, _OF_STEPS, complete=False)
    if not state.evidence.light:
        found |= _GEOMETRY.pack(state)
    return found if run.watch is None else found | _WATCHED.pack(run.watch)


def check(run: Run) -> None:
    """Refuse, before any work, a run that `pack` would refuse after it."""
    _METHOD.pack(run)


def _needs(method: Packed) -> list[str]:
    """What `load` has to be given before training can go on."""
    return [name for name in ("loss", "descent") if parts.is_yours(method.header[name])]


def _pack_rows(run: Run) -> Packed:
    """What is kept for each row, and the sums over them that a certificate is taken from."""
    state = run.state
    found = _pack_evidence(run) | _sample(state.scores.shape, state.ensemble.needs_offset).pack(state)
    return found if run.watch is None else found | _SEEN.pack(run.watch)


def _pack_trees(run: Run) -> Packed:
    """What is kept where rows may lie elsewhere later."""
    if run.trees is None:
        raise ValueError("model cannot be saved: it has neither rows nor trees, for another version made it")
    proofs = certificates.proofs(run.state.evidence.rounds).pack(run)  # a replay sums up the rest again
    return _KEEPS.pack(keeps="trees") | proofs.within("evidence") | journals.pack(run.trees)


def _pack_evidence(run: Run) -> Packed:
    evidence, witnesses = run.state.evidence, run.witnesses
    # Those of the last round bring the sums up to date, so they come first.
    intercepts = [*evidence.intercept.tolist(), evidence.last_intercept]
    packed = _evidence(evidence.rounds).pack(
        weight=dict(zip(SUMMED, evidence.weight.tolist(), strict=True)),
        intercept=dict(zip(WEIGHTINGS, map(float, intercepts), strict=True)),
        witnesses=witnesses[: len(evidence.witnesses)],
        current=witnesses[len(evidence.witnesses) :],
    )
    packed = packed.within("evidence")
    if evidence.light:
        return packed
    gradients = dict(zip(SUMMED, evidence.gradient.reshape(-1, *evidence.shape), strict=True))
    gradients["last"] = evidence.last_gradient
    return packed | _sums(evidence.shape, evidence.rounds).pack(**gradients)


def unpack(part: Fields, loss: Any = None, descent: Any = None) -> Run:
    """The run, with a stand-in for what is not in the file unless that is given."""
    method = _METHOD.take(part)
    if part.take("needs") != _needs(_METHOD.pack(**method)):
        raise refusal("needs")
    loss, descent = parts.loss_of(method["loss"], loss), parts.descent_of(method["descent"], descent)
    seed, start_loss, norm, infimum = _NUMBERS.take(part).values()
    options = part.part("options", _OPTIONS.take)
    options = Options(**options | {"categorical": tuple(options["categorical"])})
    ensemble: Ensemble = part.part("ensemble", ensembles.unpack)
    by_rows, rounds = _KEEPS.take(part)["keeps"] == "rows", ensemble.n_rounds
    trees = None if by_rows else journals.unpack(part, ensemble.n_features)
    sample = _unpack_sample(part, ensemble, by_rows)
    watch = _unpack_watch(part, ensemble, by_rows)
    # What the ensemble and the validation losses say already is not stored twice.
    learners = np.searchsorted(ensemble.rounds, np.arange(1, rounds + 1), side="right").tolist()
    valid = [None] * rounds if watch is None else watch.losses[1:]
    steps = history.unpack(part, _OF_STEPS, rounds, learners=learners, valid_loss=valid)
    unpack_evidence = _unpack_evidence if by_rows else _unpack_proofs
    shape, light = sample["scores"].shape, options.record == "light"
    evidence = part.part("evidence", unpack_evidence, rounds, shape, light)
    geometry = []
    if not light:
        geometry = [Geometry(*row) for row in _GEOMETRY.take(part, rounds=rounds)["geometry"].tolist()]
    state = State(
        **sample,
        loss=steps[-1].loss if steps else start_loss,
        start_loss=start_loss,
        ensemble=ensemble,
        evidence=evidence,
        round=rounds,
        norm=norm,
        geometry=geometry,
    )
    made = (loss, method["learner"], descent, seed, start_loss)
    return Run(*made, None, None, state, watch, steps, options, infimum, trees)


def _unpack_sample(part: Fields, ensemble: Ensemble, by_rows: bool) -> dict[str, np.ndarray]:
    """What a State has for each training row; empty arrays where the file has nothing for rows."""
    n, k = part.tensors.length("scores") if by_rows else 0, ensemble.outputs
    shape = (n,) if k == 1 else (n, k)
    if not by_rows:
        return dict.fromkeys(("start", "scores", "residual"), np.empty(shape))
    refuse(n == 0, "it is a run on no rows")
    sample = _sample(shape, ensemble.needs_offset).take(part)
    sample.setdefault("start", np.broadcast_to(ensemble.start, (n, k)).reshape(shape).copy())
    return sample


def _unpack_watch(part: Fields, ensemble: Ensemble, by_rows: bool) -> Watch | None:
    """What was seen of a validation set; None without one."""
    if not part.tensors.has("valid.losses"):
        return None
    # A validation loss may overflow where the training loss does not.
    losses = _WATCHED.take(part, losses=ensemble.n_rounds + 1)["losses"].tolist()
    none = np.zeros((0, ensemble.outputs))
    scores = _SEEN.take(part, outputs=ensemble.outputs)["scores"] if by_rows else none
    return Watch(None, None, none, scores, losses)


def _unpack_proofs(part: Fields, rounds: int, shape: tuple[int, ...], light: bool) -> Evidence:
    evidence = Evidence(shape, light)
    evidence.rounds, evidence.witnesses = rounds, certificates.proofs(rounds).take(part)["witnesses"]
    evidence.latest = (rounds, [])
    return evidence


def _unpack_evidence(part: Fields, rounds: int, shape: tuple[int, ...], light: bool) -> Evidence:
    weight, intercept, witnesses, current = _evidence(rounds).take(part).values()
    usable = [(name, rounds) for name in WEIGHTINGS if rounds and (name == "last" or weight[name] > 0)]
    if [(each.weighting, each.rounds) for each in current] != usable:
        raise Fault("it lacks a witness of its last round")
    evidence = Evidence(shape, light)
    evidence.rounds, evidence.witnesses = rounds, witnesses
    evidence.weight = np.array([weight[name] for name in SUMMED])
    evidence.intercept = np.array([intercept[name] for name in SUMMED])
    evidence.last_intercept = intercept["last"]
    if rounds:
        evidence.latest = (rounds, current)
    if not light:
        gradients = _sums(shape, rounds).take(part)
        evidence.last_gradient = gradients.pop("last", evidence.last_gradient)
        evidence.gradient = np.array([sums.reshape(-1) for sums in gradients.values()])
    return evidence
