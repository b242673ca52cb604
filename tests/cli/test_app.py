"""The command line answers at once, explains itself, and says what to install when it cannot run."""

import importlib
import inspect
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import anyboost
from anyboost import cli


@pytest.fixture
def invoke():
    runner = CliRunner()
    return lambda *arguments: runner.invoke(cli.build(), arguments)


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60
    )


def test_help_lists_every_command(invoke):
    result = invoke("--help")
    assert result.exit_code == 0
    for name in cli.command_names():
        assert name.replace("_", "-") in result.output


@pytest.mark.parametrize(
    "command", ["fit", "cv", "stream", "combine", "predict", "explain", "report", "convert"]
)
def test_a_file_that_is_not_there_is_said_at_once(command):
    """What is wrong with the line is seen without the two seconds that compiled code takes to import."""
    words = {
        "fit": "x.csv --target y -o m",
        "convert": "m o.json",
        "predict": "m x.csv",
        "explain": "m",
        "report": "m",
    }
    line = [command, *words.get(command, "x.csv --target y").split()]
    code = """
import sys
from anyboost.cli import build
code = build()(sys.argv[1:], standalone_mode=False)
print(code, [name for name in ("numba", "sklearn", "pyarrow") if name in sys.modules])
"""
    done = python(code, *line)
    assert done.stdout == "1 []\n"
    assert "cannot be read: there is no such" in done.stderr


def test_no_arguments_show_the_help(invoke):
    assert "Usage" in invoke().output


def test_every_command_explains_itself(invoke):
    for name in cli.command_names():
        result = invoke(name.replace("_", "-"), "--help")
        assert result.exit_code == 0
        assert "Usage" in result.output


@pytest.mark.parametrize("name", ["", *cli.command_names()])
def test_help_teaches_by_example(name):
    """Lines to begin from, with options that are there."""
    module = importlib.import_module(f"anyboost.cli.{name}") if name else None
    text = inspect.cleandoc(cli.HELP if module is None else module.command.__doc__)
    lines = re.findall(r"^    .*?\b(anyboost .*)$", text, re.MULTILINE)
    assert lines
    for line in lines:
        words = line.split("|")[0].split()
        assert words[1] == name or not name
        shown = CliRunner().invoke(cli.build(), [words[1], "--help"], env={"COLUMNS": "200"}).output
        options = [word for word in words[2:] if re.match("-+[a-z]", word)]
        assert all(re.search(rf"(?<![\w-]){option}(?![\w-])", shown) for option in options), line


def test_help_begins_with_what_one_needs_first(invoke):
    assert cli.command_names()[:2] == ["fit", "predict"]
    assert "130, stopped" in " ".join(invoke("--help").output.split())


def test_version(invoke):
    result = invoke("--version")
    assert (result.exit_code, result.output) == (0, f"anyboost {anyboost.__version__}\n")


def test_unknown_command_is_named(invoke):
    result = invoke("bosting")
    assert result.exit_code != 0
    assert "bosting" in result.output


def test_help_loads_no_compiler_and_no_learner():
    # A user who only looks something up would otherwise wait for numba and scikit-learn.
    done = python(
        "import sys\n"
        "from anyboost.cli import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "heavy = {'numba', 'sklearn', 'scipy', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy",
        "--help",
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("missing", ["typer", "rich", "matplotlib", "jinja2"])
def test_missing_library_is_one_sentence(missing):
    done = python(
        f"import sys; sys.modules[{missing!r}] = None; from anyboost.cli import main; main()", "demo"
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f'The anyboost command needs {missing}: pip install "anyboost[cli]"\n'


def test_python_runs_the_command_as_a_module():
    done = subprocess.run([sys.executable, "-m", "anyboost", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"anyboost {anyboost.__version__}\n")
