"""Build wheel and sdist, install each into an empty environment, and run the README there: `make release-check`.

What is run is the installed package, from a folder without sources: a file that the package forgot is missing there.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEST = "test_python_blocks_print_what_the_page_says"
BESIDE = ("pandas", "pytest")  # what the README's frames and its test need beside the library


def run(*words: object, where: Path = ROOT) -> None:
    """A command, which has to succeed."""
    subprocess.run([str(word) for word in words], cwd=where, check=True)


def check(package: Path, folder: Path) -> None:
    """Install a package, and nothing else of this checkout; then its command, and the README."""
    home = folder / package.name.replace(".", "-")
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{package}[cli]", *BESIDE)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    run(home / "bin" / "anyboost", "--version", where=elsewhere)
    run(
        *(python, "-m", "pytest", "-q", "-c", "/dev/null", "--noconftest", "-p", "no:cacheprovider"),
        *("--rootdir", elsewhere, f"{ROOT}/tests/test_readme.py::{TEST}[README.md]"),
        where=elsewhere,
    )


def main() -> None:
    """Both packages."""
    with tempfile.TemporaryDirectory(prefix="anyboost-release-") as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT)
        packages = sorted((folder / "dist").iterdir())
        assert sorted(path.suffix for path in packages) == [".gz", ".whl"], packages
        for package in packages:
            print(f"{package.name}: {package.stat().st_size:,} bytes", flush=True)
            check(package, folder)
            print(f"{package.name}: installed into an empty environment, the README runs", flush=True)


if __name__ == "__main__":
    main()
