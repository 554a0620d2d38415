# Everything runs from a fresh clone with only python3 (3.11 or newer) and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Modules are compiled to bytecode when they are first imported (pip compiles none below), and that must be kept: the
# tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test complete quick random fuzz oldest audit lint style bench bench-quick against report papers docs site readme wheels clean

# A stamp that is older than pyproject.toml means that dependencies may have changed: the environment is updated.
# The demo needs a small part of what the tests need (no CUDA, no MPI), so it has a stamp of its own. To stay below 500 MB,
# it gives back its pip, and modules are compiled to bytecode only when they are imported. The newest pip installs in half
# the time of the one that comes with Python 3.11; it is put into the environment by that one, as ensurepip takes seconds.
ENVIRONMENT = $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet --no-compile --upgrade pip
INSTALL = $(BIN)/python -m pip install --quiet --no-compile

$(VENV)/.demo: pyproject.toml
	$(ENVIRONMENT)
	$(INSTALL) --editable '.[networkx,plot]'
	$(BIN)/python -m pip uninstall --quiet --yes pip
	touch $@

$(VENV)/.site: pyproject.toml
	$(ENVIRONMENT)
	$(INSTALL) --editable '.[site]'
	touch $@ $(VENV)/.demo

$(VENV)/.test: pyproject.toml
	$(ENVIRONMENT)
	$(INSTALL) --editable '.[test]'
	touch $@ $(VENV)/.demo $(VENV)/.site

demo: $(VENV)/.demo
	$(BIN)/hopwave demo

# All tests: what CI runs. Of tests with very many similar cases, a sample that has every value of every parameter.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist worksteal -q

# All cases of all tests, all functions of NetworkX's own suite, and four times as many attempts of every fuzzer.
complete: $(VENV)/.test
	HOPWAVE_TESTS=complete $(BIN)/python -m pytest -n auto --dist worksteal -q

# The daily loop: every test function, on a sample of its cases (tests/conftest.py says which), without those that start
# MPI or take more than two seconds. The first run also compiles the CPU engine, later runs do not.
quick: $(VENV)/.test
	@echo "About 1,400 tests: three minutes of one core, shared by all cores. The first run also compiles the CPU engine, for minutes."
	HOPWAVE_TESTS=quick $(BIN)/python -m pytest -n auto --dist worksteal -q -m 'not slow and not mpi'

# The tests that draw examples, on new ones each time and forty times as many. In `make test` the examples stay the same,
# so that it fails because of a change and not by chance.
random: $(VENV)/.test
	HOPWAVE_TESTS=random $(BIN)/python -m pytest -n auto --dist worksteal -q -m hypothesis

# Random inputs for every promise of docs/guarantees.md, beside other programs, for as long as you like:
# make fuzz MINUTES=60. What was tried is added to benchmarks/results/fuzz.jsonl.
MINUTES ?= 5
fuzz: $(VENV)/.test
	PYTHONPATH=src:tests:. $(BIN)/python tests/fuzz/long_run.py $(MINUTES) --record benchmarks/results/fuzz.jsonl

# The oldest versions of all dependencies that pyproject.toml allows, in an environment of their own. Python 3.11 is the
# oldest one, and the only one for which all of them have wheels: make oldest PYTHON=python3.11
oldest:
	$(PYTHON) tests/oldest.py .venv-oldest

# Known vulnerabilities of what the demo and the extras install. pip-audit asks the package index; with --strict, a package
# of which it learns nothing is a failure.
audit: $(VENV)/.test
	$(PYTHON) -m venv .venv-audit && .venv-audit/bin/pip install --quiet pip-audit
	$(BIN)/python -m pip freeze --exclude-editable > .venv-audit/installed.txt
	.venv-audit/bin/pip-audit --strict --no-deps --disable-pip --requirement .venv-audit/installed.txt

lint: style
	$(INSTALL) --editable '.[lint]'
	$(BIN)/mypy

# All of lint but the types.
style: $(VENV)/.test
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/clang-format --dry-run --Werror $(shell find src -name '*.cuh')

# Every benchmark of the CPU. Real graphs are read from HOPWAVE_DATA; those that are not there are left out, and said so.
# A failure does not stop the others; the summary at the end names it, and the exit status is then not 0.
bench: $(VENV)/.test
	$(INSTALL) --editable '.[bench]'
	$(BIN)/python -m benchmarks

# The same benchmarks on small graphs, two at once: minutes. The tables go to build/bench-quick.
bench-quick: $(VENV)/.test
	$(INSTALL) --editable '.[bench]'
	$(BIN)/python -m benchmarks --quick

# Every public question under the source of REV and under this one, in alternation: prints each answer that differs and
# each time that differs by more than 5%. make against REV=main~20; ARGS='--device cuda --scale 24'
REV ?= HEAD
against: $(VENV)/.test
	$(BIN)/python -m benchmarks.against $(REV) $(ARGS)

# All measurements of benchmarks/results on one page with a filter: build/report/index.html. RESULTS=build/bench-quick shows
# your own of a quick run.
RESULTS ?= benchmarks/results
report: $(VENV)/.demo
	$(BIN)/python -m benchmarks.report --results $(RESULTS)

# The tables and figures of the five papers, one page each in build/papers. Graphs that can be neither made nor downloaded
# are replaced by others of the same kind. make papers DEVICE=cuda, or QUICK=--quick for two minutes per paper.
DEVICE ?= cpu
papers: $(VENV)/.test
	for paper in turbobfs hiragushi turbobc xbfs pushpull; do \
	  $(BIN)/hopwave paper $$paper --device $(DEVICE) $(QUICK) --out build/papers || exit 1; done

docs: $(VENV)/.test
	$(BIN)/python -m docs

# The documentation site, in build/site/html. Its gallery is run; a warning of Sphinx is an error. `make test` does this too.
site: $(VENV)/.site
	$(BIN)/python -m docs.site

# Everything that the README says, in a new environment with nothing but its install line. Takes minutes: it installs and
# compiles. `make test` runs the same commands and examples in the environment of the tests.
readme:
	$(PYTHON) docs/readme.py

# The archives of a release: built, checked, and tried with every Python that is found. Takes minutes.
wheels:
	$(PYTHON) docs/wheels.py

clean:
	rm -rf $(VENV) .venv-oldest .venv-audit .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
