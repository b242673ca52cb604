"""`anyboost cv`: how good a model of a table would be, by fits to all but a part of its rows."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anyboost.cli.shared import options, paths
from anyboost.cli.shared.console import Warned, explaining, say, teller

if TYPE_CHECKING:
    from anyboost.cli.passes.fitting import TrainingRows


def command(
    data: options.Tables,
    target: options.Target = None,
    folds: Annotated[int, typer.Option(min=2, help="Into how many parts the rows are dealt.")] = 5,
    loss: Annotated[str | None, typer.Option(help="As for anyboost fit.")] = None,
    task: Annotated[str | None, typer.Option(help="As for anyboost fit.")] = None,
    config: Annotated[Path | None, typer.Option(help="As for anyboost fit.", metavar="FILE.toml")] = None,
    weight: options.Weight = None,
    groups: options.Groups = None,
    qid: options.Queries = None,
    ignore: options.Ignore = None,
    categorical: options.Categorical = None,
    type: options.Kinds = None,
    set: options.Parameters = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the parts that rows are dealt into.")] = 0,
    format: options.Format = None,
    separator: options.Separator = None,
    output: options.Results = None,
) -> None:
    """Fit all but one part of the rows, score that part, and do so for each part.

    Each fit is what anyboost fit would do with those rows. Prints, for each part, the rounds, the loss (not of
    rankings) and the score, more being better: R2 of numbers, whatever the loss, accuracy of classes, NDCG of rankings.

    For example:

        anyboost cv houses.csv --target price

        anyboost cv houses.csv --target price --loss absolute --folds 10 --set max_leaf_nodes=15

        anyboost cv web.tsv --target grade --qid query -o cv.json
    """
    from anyboost.cli.rows import sources
    from anyboost.cli.shared import settings

    with explaining(TypeError):
        named = {"target": target, "task": task, "loss": loss, "weight": weight, "groups": groups}
        asked = settings.gathered(config, set, type, categorical, ignore, qid, **named)
        paths.check("--output", output)
        paths.check_apart({"--output": output}, *sources.named(data, format, separator)[0], config)
        from anyboost.cli.passes import fitting  # which imports much: after what is refused without it

        fitting.check(asked)
        tell = teller(output)
        with sources.opened(data, format, wanted=asked.reads, separator=separator) as source:
            task, rows, _ = fitting.taken(source, asked, fitting, say)
        parts = _parts(rows, task, folds, seed)
        found, warned = [], Warned()
        for number, (train, held) in enumerate(parts, start=1):
            model = fitting.made(asked, task)
            some, rest = rows.take(train), rows.take(held)
            warned(partial(model.fit, some.X, some.y, **some.given(task)))
            found.append(warned(partial(_scored, model, rest, task)))
            tell(f"part {number} of {len(parts)}  {_spelled(found[-1])}")
        results = _means(found)
        tell(f"mean          {_spelled(results['mean'])}")
        tell(f"deviation     {_spelled(results['deviation'])}")
        if output is not None:
            paths.write_json(output, {"parts": found, **results})


def _parts(rows: TrainingRows, task: str, folds: int, seed: int) -> list[Any]:
    from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

    assert rows.y is not None
    if folds > len(rows.y):
        raise ValueError(f"--folds must be at most the {len(rows.y)} rows, got {folds}")
    if task == "ranking":
        assert rows.groups is not None
        queries = len(set(rows.groups.tolist()))
        if folds > queries:
            raise ValueError(f"--folds must be at most the {queries} queries, got {folds}")
        return list(GroupKFold(folds, shuffle=True, random_state=seed).split(rows.y, rows.y, rows.groups))
    if task == "classification":
        most = max(Counter(rows.y.tolist()).values())
        if folds > most:
            raise ValueError(f"--folds must be at most the {most} rows of the largest class, got {folds}")
        return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(rows.y, rows.y))
    return list(KFold(folds, shuffle=True, random_state=seed).split(rows.y))


def _scored(model: Any, rows: TrainingRows, task: str) -> dict[str, float]:
    """Rounds, loss and score of a model on rows that it was not fitted to."""
    rounds = {"rounds": float(model.ensemble_.n_rounds)}
    if task == "ranking":
        return rounds | {"score": float(model.score(rows.X, rows.y, qid=rows.groups))}
    weight = {} if rows.weight is None else {"sample_weight": rows.weight}
    y = model._as_fitted(rows.y)
    groups = {"groups": rows.groups} if model.loss_.uses_groups else {}
    loss = model.loss_.value(model._raw(rows.X), y, rows.weight, **groups)
    return rounds | {"loss": float(loss), "score": float(model.score(rows.X, rows.y, **weight))}


def _means(found: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    import numpy as np

    return {
        "mean": {name: float(np.mean([one[name] for one in found])) for name in found[0]},
        "deviation": {name: float(np.std([one[name] for one in found])) for name in found[0]},
    }


def _spelled(found: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.6g}" for name, value in found.items())
