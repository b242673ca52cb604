"""The part of a file that is a run: all that `resume` continues from and `floor` rests on, without the sample.

A run of which nothing is kept for each row has its trees instead, as they were grown.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from anyboost.boosting import Options, Run
from anyboost.certificates import SUMMED, WEIGHTINGS, Evidence
from anyboost.descent import Geometry, State
from anyboost.ensemble import Ensemble
from anyboost.files import certificates, ensembles, history, journals, parts
from anyboost.files.fields import Fault, Fields, choice, count, items, real, record, refusal
from anyboost.files.tensors import Packed, Tensors, finite
from anyboost.watching import Watch

_TREES = "trees"  # what is kept where it is not the rows
_OF_STEPS = ("loss", "gradient_norm", "edge", "step_size", "coefficient")


def pack(run: Run) -> Packed:
    """Header and tensors of a run."""
    made_with = _pack_method(run)
    ensemble, tensors = ensembles.pack(run.ensemble)
    keeps = {} if len(run.scores) else {"keeps": _TREES}
    header = {
        "ensemble": ensemble,
        **made_with,
        "needs": _needs(made_with),
        "seed": int(run.seed),
        "start_loss": float(run.start_loss),
        **certificates.known(norm=run.state.norm, infimum=run.infimum),
        "options": _pack_options(run.options),
        **keeps,
        "evidence": _pack_proofs(run) if keeps else _pack_evidence(run),
    }
    return header, tensors | _pack_rounds(run) | (_pack_trees(run) if keeps else _pack_sample(run))


def check(run: Run) -> None:
    """Refuse, before any work, a run that `pack` would refuse after it."""
    _pack_method(run)


def _pack_method(run: Run) -> dict[str, Any]:
    return {
        "loss": parts.encode_loss(run.loss),
        "learner": parts.encode_learner(run.learner),
        "descent": parts.DESCENTS.encode(run.descent),
    }


def _needs(made_with: dict[str, Any]) -> list[str]:
    """What `load` has to be given before training can go on."""
    return [name for name in ("loss", "descent") if parts.is_yours(made_with[name])]


def _pack_evidence(run: Run) -> dict[str, Any]:
    evidence = run.state.evidence
    # Those of the last round bring the sums up to date, so they come first.
    witnesses = certificates.pack_witnesses(run.witnesses)
    intercepts = [*evidence.intercept.tolist(), float(evidence.last_intercept)]
    return {
        "weight": dict(zip(SUMMED, evidence.weight.tolist(), strict=True)),
        "intercept": dict(zip(WEIGHTINGS, intercepts, strict=True)),
        "witnesses": witnesses[: len(evidence.witnesses)],
        "current": witnesses[len(evidence.witnesses) :],
    }


def _pack_proofs(run: Run) -> dict[str, Any]:
    """What is proved, without what a replay sums up again."""
    return {"witnesses": certificates.pack_witnesses(run.witnesses)}


def _pack_trees(run: Run) -> dict[str, np.ndarray]:
    if run.trees is None:
        raise ValueError("model cannot be saved: it has neither rows nor trees, for another version made it")
    return journals.pack(run.trees)


def _pack_rounds(run: Run) -> dict[str, np.ndarray]:
    """What is kept for each round."""
    tensors = history.pack(run.steps, _OF_STEPS, complete=False)
    if run.options.record == "full":
        tensors["geometry"] = finite(run.state.geometry, "norms").reshape(-1, 3)
    if run.watch is not None:
        tensors["valid.losses"] = np.array(run.watch.losses, dtype=np.float64)
    return tensors


def _pack_sample(run: Run) -> dict[str, np.ndarray]:
    """What is kept for each training row and each validation row."""
    state, evidence, watch = run.state, run.state.evidence, run.watch
    tensors = {
        "scores": finite(state.scores, "scores"),
        "residual": finite(state.residual, "residuals"),
    }
    if not evidence.light:
        for name, gradient in zip(SUMMED, evidence.gradient, strict=True):
            tensors[f"gradient.{name}"] = finite(gradient.reshape(evidence.shape), "gradients")
        if evidence.rounds:
            tensors["gradient.last"] = finite(evidence.last_gradient, "gradients")
    if state.ensemble.needs_offset:
        tensors["offset"] = finite(state.start, "start scores")
    if watch is not None:
        tensors["valid.scores"] = finite(watch.scores, "validation scores")
    return tensors


def unpack(header: Fields, tensors: Tensors, loss: Any = None, descent: Any = None) -> Run:
    """The run, with a stand-in for what is not in the file unless that is given."""
    entries = {name: header.take(name) for name in ("loss", "learner", "descent")}
    loss = parts.decode_loss(entries["loss"], loss)
    descent = parts.decode_descent(entries["descent"], descent)
    learner = parts.LEARNERS.decode(entries["learner"])
    if header.take("needs") != _needs(entries):
        raise refusal("needs")
    seed, start_loss = header.take("seed", count()), header.take("start_loss", real)
    norm, infimum = header.get("norm", real, math.nan), header.get("infimum", real, -math.inf)
    options = Options(**header.take("options", _OPTIONS))
    ensemble: Ensemble = header.part("ensemble", ensembles.unpack, tensors)
    by_trees = header.get("keeps", choice(_TREES)) is not None
    rounds, k = ensemble.n_rounds, ensemble.outputs
    trees, light = None, options.record == "light"
    n = 0 if by_trees else tensors.length("scores")
    shape = (n,) if k == 1 else (n, k)
    if by_trees:
        trees = journals.unpack(tensors, ensemble.n_features)
        evidence = header.part("evidence", _unpack_proofs, rounds, shape, light)
        scores = residual = start = np.empty(shape)
    else:
        if n == 0:
            raise Fault("it is a run on no rows")
        scores, residual = tensors.floats("scores", shape), tensors.floats("residual", shape)
        constant = np.broadcast_to(ensemble.start, (n, k)).reshape(shape).copy()
        start = tensors.floats("offset", shape) if ensemble.needs_offset else constant
        evidence = header.part("evidence", _unpack_evidence, tensors, rounds, shape, light)
    watch = None
    if tensors.has("valid.losses"):
        none = np.zeros((0, k))
        watched = none if by_trees else tensors.floats("valid.scores", (None, k))
        # A validation loss may overflow where the training loss does not.
        losses = tensors.floats("valid.losses", (rounds + 1,), nan=True).tolist()
        watch = Watch(None, None, none, watched, losses)
    # What the ensemble and the validation losses say already is not stored twice.
    learners = np.searchsorted(ensemble.rounds, np.arange(1, rounds + 1), side="right").tolist()
    valid = [None] * rounds if watch is None else watch.losses[1:]
    steps = history.unpack(tensors, _OF_STEPS, rounds, learners=learners, valid_loss=valid)
    geometry = []
    if not light:
        geometry = [Geometry(*row) for row in tensors.floats("geometry", (rounds, 3)).tolist()]
    loss_now = steps[-1].loss if steps else start_loss
    state = State(start, scores, residual, loss_now, start_loss, ensemble, evidence, rounds, norm, geometry)
    made = (loss, learner, descent, seed, start_loss)
    return Run(*made, None, None, state, watch, steps, options, infimum, trees)


def _pack_options(options: Options) -> dict[str, Any]:
    packed = options._asdict() | {"categorical": list(options.categorical)}
    said = {"categorical": bool(options.categorical), "record": options.record != "full"}
    return {name: value for name, value in packed.items() if said.get(name, True)}


def _share(value: Any, name: str) -> float:
    if not 0 < real(value, name) <= 1:
        raise Fault("its projections see no share of the sample")
    return float(value)


def _columns(value: Any, name: str) -> tuple[int, ...]:
    return tuple(items(each=count())(value, name))


_LATER = {"categorical": _columns, "record": choice("light")}
_OPTIONS = record(_LATER, row_fraction=_share, feature_fraction=_share, max_bins=count(2, 255), **_LATER)


def _unpack_proofs(header: Fields, rounds: int, shape: tuple[int, ...], light: bool) -> Evidence:
    most = certificates.MOST_WITNESSES + len(WEIGHTINGS)
    evidence = Evidence(shape, light)
    evidence.rounds = rounds
    evidence.witnesses = header.take("witnesses", items(most, partial(certificates.unpack_witness, rounds)))
    evidence.latest = (rounds, [])
    return evidence


def _unpack_evidence(
    header: Fields, tensors: Tensors, rounds: int, shape: tuple[int, ...], light: bool
) -> Evidence:
    witness = partial(certificates.unpack_witness, rounds)
    weight = header.take("weight", record(**dict.fromkeys(SUMMED, real)))
    intercept = header.take("intercept", record(**dict.fromkeys(WEIGHTINGS, real)))
    witnesses = header.take("witnesses", items(certificates.MOST_WITNESSES, witness))
    current = header.take("current", items(len(WEIGHTINGS), witness))
    usable = [(name, rounds) for name in WEIGHTINGS if rounds and (name == "last" or weight[name] > 0)]
    if [(each.weighting, each.rounds) for each in current] != usable:
        raise Fault("it lacks a witness of its last round")
    evidence = Evidence(shape, light)
    evidence.rounds, evidence.witnesses = rounds, witnesses
    evidence.weight = np.array([weight[name] for name in SUMMED])
    evidence.intercept = np.array([intercept[name] for name in SUMMED])
    evidence.last_intercept = intercept["last"]
    if not light:
        sums = [tensors.floats(f"gradient.{name}", shape).reshape(-1) for name in SUMMED]
        evidence.gradient = np.array(sums)
    if rounds:
        evidence.latest = (rounds, current)
        if not light:
            evidence.last_gradient = tensors.floats("gradient.last", shape)
    return evidence
