"""`python -m anyboost`: the `anyboost` command, for environments whose scripts are not on the path."""

from anyboost.cli import main

if __name__ == "__main__":
    main()
