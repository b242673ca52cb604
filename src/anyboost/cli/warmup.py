"""`anyboost warmup`: compile ahead what everyday work needs."""

from __future__ import annotations

from anyboost.cli.shared.console import fail, showing

UNKEPT = (
    "no folder for compiled kernels can be written, so that every process compiles its own: set NUMBA_CACHE_DIR to a "
    "folder that can"
)


def command() -> None:
    """Compile the kernels that everyday use of estimators, files, streams and averaging needs.

    They are kept for later processes of this user on this machine, which then begin at once.

    For example:

        anyboost warmup

        NUMBA_CACHE_DIR=/srv/kernels anyboost warmup
    """
    from rich.console import Console

    from anyboost import warming

    if not warming.folders():
        fail(UNKEPT)
    console = Console(highlight=False)
    with showing(console) as show:
        kept = warming.warmup(show)
    console.print(f"compiled; kept in {' and '.join(kept)}", soft_wrap=True, markup=False)
