"""The group of all commands: whatever goes wrong ends in one sentence and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from anyboost.cli.shared.console import DEBUG, fail, of_system

# typer has click's classes, of click or of its own copy of it, by this one alone
_UsageError: Any = typer.BadParameter.__mro__[1]
_ClickException: Any = typer.BadParameter.__mro__[2]
STOPPED = 130  # as shells have it for a command that the user stopped


class OneSentence(TyperGroup):
    """Errors of the line and of the command as one sentence each; `--debug` may stand anywhere."""

    def main(self, args: Sequence[str] | None = None, *given: Any, **more: Any) -> Any:
        """Run the command that the words say."""
        words = list(sys.argv[1:] if args is None else args)
        before = os.environ.get(DEBUG)
        if "--debug" in words:
            words.remove("--debug")
            os.environ[DEBUG] = "1"
        try:
            code = self._run(words, *given, **{**more, "standalone_mode": False})
            if more.get("standalone_mode", True):
                sys.exit(code)
            return code
        finally:
            if before is None:
                os.environ.pop(DEBUG, None)

    def _run(self, words: list[str], *given: Any, **more: Any) -> int:
        try:
            try:
                found = super().main(words, *given, **more)
                if found == STOPPED:  # typer's word for it
                    raise KeyboardInterrupt
                return found if isinstance(found, int) else 0
            except _UsageError as error:
                if type(error).__name__ == "NoArgsIsHelpError":
                    error.show()
                    return 0
                fail(_usage(error), 2)
            except _ClickException as error:
                fail(error.format_message(), error.exit_code)
            except (typer.Abort, KeyboardInterrupt):
                fail("stopped", STOPPED)
            except BrokenPipeError:  # whoever read the output has seen enough
                sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - Python flushes it at exit
                return 0
            except MemoryError:
                fail("it needs more memory than there is: give it fewer rows or columns")
            except OSError as error:
                fail(of_system(error) if error.strerror else str(error))
            except Exception as error:
                fail(f"{type(error).__name__}: {error} (an error of anyboost itself: --debug shows where)")
        except typer.Exit as end:
            return int(end.exit_code)


def _usage(error: Any) -> str:
    command = error.ctx.command_path if error.ctx is not None else "anyboost"
    message = error.format_message().strip().rstrip(".")
    return f"{message}{'' if message.endswith('?') else ';'} {command} --help shows how it is used"
