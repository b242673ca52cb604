"""The oldest versions that pyproject.toml allows, as constraints for pip: `python tests/oldest.py [EXTRA ...]`.

`make test-oldest` installs these and no others: a minimum that no longer works is found there, and not by a user.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
NEED = re.compile(r"([A-Za-z0-9._-]+)(?:\[([\w,]+)\])?(?:>=([\w.]+))?")


def oldest(extras: list[str]) -> dict[str, str]:
    """Package and version, of what the library needs and of some extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, str] = {}
    ahead = [
        *project["dependencies"],
        *(need for extra in extras for need in project["optional-dependencies"][extra]),
    ]
    while ahead:
        name, more, version = NEED.fullmatch(ahead.pop()).groups()
        if name == project["name"]:
            ahead += [need for extra in more.split(",") for need in project["optional-dependencies"][extra]]
        else:
            found[name] = version
    return dict(sorted(found.items()))


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in oldest(sys.argv[1:]).items()))
