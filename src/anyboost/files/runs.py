"""The part of a file that is a run: all that `resume` continues from and `floor` rests on, without the sample."""

import math
from typing import Any

import numpy as np

from anyboost import descent as descents
from anyboost import losses
from anyboost.boosting import Options, Run
from anyboost.certificates import SUMMED, WEIGHTINGS, Evidence, Witness
from anyboost.descent import Geometry, State, Step
from anyboost.ensemble import Ensemble
from anyboost.files import ensembles, history, parts
from anyboost.files.container import Fault
from anyboost.files.fields import Fields, Tensors, finite, real
from anyboost.losses import Loss
from anyboost.watching import Watch

MOST_WITNESSES = 4 * 64  # four at each power of two
_OF_STEPS = ("loss", "gradient_norm", "edge", "step_size", "coefficient")


def pack(run: Run) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and tensors of a run."""
    about = _pack_method(run)
    ensemble, tensors = ensembles.pack(run.ensemble)
    evidence = run.state.evidence
    current = run.witnesses[len(evidence.witnesses) :]
    header = {
        "ensemble": ensemble,
        **about,
        "needs": [name for name in ("loss", "descent") if parts.is_yours(about[name])],
        "seed": int(run.seed),
        "start_loss": float(run.start_loss),
        **_pack_certificate(run),
        "options": _pack_options(run.options),
        "evidence": {
            "weight": dict(zip(SUMMED, evidence.weight.tolist(), strict=True)),
            "intercept": dict(
                zip(WEIGHTINGS, [*evidence.intercept.tolist(), float(evidence.last_intercept)], strict=True)
            ),
            "witnesses": [_witness_list(witness) for witness in evidence.witnesses],
            "current": [_witness_list(witness) for witness in current],
        },
    }
    return header, tensors | _pack_sample(run)


def _pack_certificate(run: Run) -> dict[str, float]:
    """Norm and infimum, where they are known: older files have none."""
    known = {"norm": float(run.state.norm), "infimum": float(run.infimum)}
    return {name: value for name, value in known.items() if math.isfinite(value)}


def check(run: Run) -> None:
    """Refuse, before any work, a run that `pack` would refuse after it."""
    _pack_method(run)


def _pack_method(run: Run) -> dict[str, Any]:
    return {
        "loss": parts.encode_loss(run.loss),
        "learner": parts.encode_learner(run.learner),
        "descent": parts.encode_descent(run.descent),
    }


def _witness_list(witness: Witness) -> list[Any]:
    numbers = [float(number) for number in witness[:3]]
    return [*numbers, witness.weighting, int(witness.rounds)]


def _pack_sample(run: Run) -> dict[str, np.ndarray]:
    """What is kept for each training row, each validation row and each round."""
    state, evidence, watch = run.state, run.state.evidence, run.watch
    tensors = {
        "scores": finite(state.scores, "scores"),
        "residual": finite(state.residual, "residuals"),
        "steps": history.pack(run.steps, _OF_STEPS),
        "seconds": finite([step.seconds for step in run.steps], "seconds"),
    }
    if not evidence.light:
        tensors["geometry"] = finite(state.geometry, "norms").reshape(-1, 3)
        for name, gradient in zip(SUMMED, evidence.gradient, strict=True):
            tensors[f"gradient.{name}"] = finite(gradient.reshape(evidence.shape), "gradients")
        if evidence.rounds:
            tensors["gradient.last"] = finite(evidence.last_gradient, "gradients")
    if state.ensemble.needs_offset:
        tensors["offset"] = finite(state.start, "start scores")
    if watch is not None:
        tensors["valid.scores"] = finite(watch.scores, "validation scores")
        tensors["valid.losses"] = np.array(watch.losses, dtype=np.float64)
    return tensors


def unpack(header: Fields, tensors: Tensors, given: dict[str, Any]) -> Run:
    """The run, with a stand-in for what is not in the file unless that is given."""
    if given.get("models") is not None:
        raise ValueError(
            "models belong to a mirror averaging estimator, and the file holds a run: leave them out"
        )
    loss, learner, descent = _unpack_method(header, given)
    seed, start_loss = header.count("seed"), header.real("start_loss")
    norm = header.real("norm") if header.has("norm") else math.nan
    infimum = header.real("infimum") if header.has("infimum") else -math.inf
    options = _unpack_options(header.fields("options"))
    ensemble = ensembles.unpack(header.fields("ensemble"), tensors, {})
    rounds, k = ensemble.n_rounds, ensemble.outputs
    n = tensors.length("scores")
    if n == 0:
        raise Fault("it is a run on no rows")
    shape = (n,) if k == 1 else (n, k)
    scores, residual = tensors.floats("scores", shape), tensors.floats("residual", shape)
    start = tensors.floats("offset", shape) if ensemble.needs_offset else _constant(ensemble, n)
    watch = _unpack_watch(tensors, ensemble)
    steps = _unpack_steps(tensors, ensemble, watch)
    geometry = []
    if options.record == "full":
        geometry = [Geometry(*row) for row in tensors.floats("geometry", (rounds, 3)).tolist()]
    evidence = _unpack_evidence(header.fields("evidence"), tensors, rounds, shape, options.record == "light")
    header.done()
    loss_now = steps[-1].loss if steps else start_loss
    state = State(start, scores, residual, loss_now, start_loss, ensemble, evidence, rounds, norm, geometry)
    return Run(loss, learner, descent, seed, start_loss, None, None, state, watch, steps, options, infimum)


def _pack_options(options: Options) -> dict[str, Any]:
    """The options; some only where they say something, for older files have none."""
    packed = options._asdict()
    columns, record = packed.pop("categorical"), packed.pop("record")
    packed |= {"categorical": list(columns)} if columns else {}
    return packed | ({"record": record} if record != "full" else {})


def _unpack_options(header: Fields) -> Options:
    options = Options(
        header.real("row_fraction"), header.real("feature_fraction"), header.count("max_bins", 2, 255)
    )
    if header.has("categorical"):
        columns = header.items("categorical", ensembles.MOST_FEATURES)
        if any(type(column) is not int or column < 0 for column in columns):
            raise header.refusal("categorical")
        options = options._replace(categorical=tuple(columns))
    if header.has("record"):
        options = options._replace(record="light")
        if header.text("record") != "light":
            raise header.refusal("record")
    if not (0 < options.row_fraction <= 1 and 0 < options.feature_fraction <= 1):
        raise Fault("its projections see no share of the sample")
    header.done()
    return options


def _unpack_method(header: Fields, given: dict[str, Any]) -> tuple[Loss, Any, Any]:
    loss_entry, descent_entry = header.take("loss"), header.take("descent")
    loss, descent = parts.decode_loss(loss_entry), parts.decode_descent(descent_entry)
    learner = parts.decode_learner(header.take("learner"))
    needs = [
        name for name, entry in (("loss", loss_entry), ("descent", descent_entry)) if parts.is_yours(entry)
    ]
    if header.items("needs", 2) != needs:
        raise header.refusal("needs")
    if given["loss"] is not None:
        own_loss = losses.get(given["loss"])
        _agree("loss", parts.encode_loss(own_loss), loss_entry)
        loss = own_loss
    if given["descent"] is not None:
        own_descent = descents.get(given["descent"])
        _agree("descent", parts.encode_descent(own_descent), descent_entry)
        descent = own_descent
    return loss, learner, descent


def _agree(name: str, given: dict[str, Any], stored: dict[str, Any]) -> None:
    if given != stored:
        raise ValueError(f"{name} must be that of the file, {parts.spell(stored)}, got {parts.spell(given)}")


def _constant(ensemble: Ensemble, n: int) -> np.ndarray:
    start = np.empty((n, ensemble.outputs))
    start[:] = ensemble.start
    return start[:, 0] if ensemble.outputs == 1 else start


def _unpack_watch(tensors: Tensors, ensemble: Ensemble) -> Watch | None:
    if not tensors.has("valid.scores"):
        return None
    scores = tensors.floats("valid.scores", (None, ensemble.outputs))
    # A validation loss may overflow where the training loss does not.
    losses = tensors.floats("valid.losses", (ensemble.n_rounds + 1,), nan=True).tolist()
    return Watch(None, None, np.zeros((0, ensemble.outputs)), scores, losses)


def _unpack_steps(tensors: Tensors, ensemble: Ensemble, watch: Watch | None) -> list[Step]:
    """The Steps; what the ensemble and the validation losses say already is not stored twice."""
    rounds = ensemble.n_rounds
    found = history.unpack(tensors, _OF_STEPS, rounds)
    seconds = tensors.floats("seconds", (rounds,)).tolist()
    learners = np.searchsorted(ensemble.rounds, np.arange(1, rounds + 1), side="right").tolist()
    valid = [None] * rounds if watch is None else watch.losses[1:]
    return [
        Step(round=t + 1, learners=learners[t], valid_loss=valid[t], seconds=seconds[t], **found[t])
        for t in range(rounds)
    ]


def _unpack_evidence(
    header: Fields, tensors: Tensors, rounds: int, shape: tuple[int, ...], light: bool
) -> Evidence:
    evidence = Evidence(shape, light)
    evidence.rounds = rounds
    weight, intercept = header.fields("weight"), header.fields("intercept")
    evidence.weight = np.array([weight.real(name) for name in SUMMED])
    evidence.intercept = np.array([intercept.real(name) for name in SUMMED])
    evidence.last_intercept = intercept.real("last")
    if not light:
        evidence.gradient = np.array(
            [tensors.floats(f"gradient.{name}", shape).reshape(-1) for name in SUMMED]
        )
    evidence.witnesses = [_unpack_witness(w, rounds) for w in header.items("witnesses", MOST_WITNESSES)]
    current = [_unpack_witness(w, rounds) for w in header.items("current", len(WEIGHTINGS))]
    summed = [name for name, total in zip(SUMMED, evidence.weight, strict=True) if total > 0]
    usable = [*summed, "last"] if rounds else []
    if [(witness.weighting, witness.rounds) for witness in current] != [(name, rounds) for name in usable]:
        raise Fault("it lacks a witness of its last round")
    if rounds:
        if not light:
            evidence.last_gradient = tensors.floats("gradient.last", shape)
        evidence.latest = (rounds, current)
    for part in (weight, intercept, header):
        part.done()
    return evidence


def _unpack_witness(values: Any, rounds: int) -> Witness:
    if not isinstance(values, list) or len(values) != 5 or values[3] not in WEIGHTINGS:
        raise Fault("it has a witness that is none")
    if type(values[4]) is not int or not 1 <= values[4] <= rounds:
        raise Fault("it has a witness of a round that was not run")
    intercept, reach, reach_found = (real(value, "witnesses") for value in values[:3])
    return Witness(intercept, reach, reach_found, values[3], values[4])
