# Needs python3 (3.11 or newer) and make; everything else goes into .venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test test-full test-oldest test-pythons bench docs lint release-check clean

demo: $(INSTALLED)
	$(BIN)/anyboost demo

test: lint
	$(BIN)/pytest -m "not full" -n 2 --dist worksteal

test-full: lint
	$(BIN)/pytest -n 2 --dist worksteal

# The oldest versions that pyproject.toml allows, and what everyone uses of the library.
OLDEST := .venv-oldest
CORE := $(addprefix tests/,test_import.py test_boosting.py test_certificates.py test_extremes.py \
	estimators/test_certified.py estimators/test_explained.py estimators/test_constraints.py estimators/test_files.py \
	estimators/test_intervals.py files/test_round_trip.py cli/test_app.py cli/test_report.py report dask/test_silence.py)
test-oldest:
	@$(OLDEST)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(OLDEST)
	@$(PYTHON) tests/oldest.py cli docs > $(OLDEST)/constraints.txt
	@echo "installing the oldest versions into $(OLDEST)"
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/constraints.txt \
		--editable ".[cli,dask]" pandas pytest hypothesis
	$(OLDEST)/bin/python -m pytest -m "not full" -o filterwarnings=default $(CORE)  # old versions warn of each other

# The same with what is newest, on each later Python that the path has. Asked and not looked up: a shim may run nothing.
LATER := 3.12 3.13 3.14
test-pythons:
	@for version in $(LATER); do \
		if python$$version -c "" 2>/dev/null; then $(MAKE) --no-print-directory test-python$$version || exit 1; \
		else echo "not tested on Python $$version: there is no python$$version on the path"; fi; \
	done

test-python%:
	@.venv-$*/bin/python -m pip --version >/dev/null 2>&1 || python$* -m venv .venv-$*
	@echo "installing anyboost[cli,dask] into .venv-$*"
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,dask]" pandas pytest hypothesis
	.venv-$*/bin/python -m pytest -m "not full" $(CORE)

# Wheel and sdist, each installed into an empty environment, which runs the README.
release-check: $(INSTALLED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python tests/release_check.py

# Alone on the machine: peers that spin while they wait lose many times over on a busy one.
bench: $(INSTALLED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	$(BIN)/anyboost bench speed

# The site, in docs/_build/html; any warning is an error. Its search works from files.
docs: $(INSTALLED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# An interrupted install leaves no stamp, and one without pip is made again.
$(INSTALLED): pyproject.toml
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { echo "creating .venv"; $(PYTHON) -m venv .venv; }
	@echo "installing anyboost[dev] into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

clean:
	rm -rf .venv build dist docs/_build docs/api docs/gallery .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src benchmarks tests -name __pycache__ -type d -prune -exec rm -rf {} +
