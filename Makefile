# Everything runs from a bare clone with nothing but python3 (3.11 or newer) and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench docs clean

# The stamp is remade when the project's needs change, so a stale environment mends itself.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

demo: $(VENV)/.installed
	$(BIN)/hopwave demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --dist worksteal -q

lint: $(VENV)/.installed
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/clang-format --dry-run --Werror $(shell find src -name '*.cuh')
	$(BIN)/mypy

bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks

docs: $(VENV)/.installed
	$(BIN)/python -m docs

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
