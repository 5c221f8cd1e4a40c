# Two commands do everything: `make demo` and `make test`. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: demo test check bench soak format clean setup

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable ".[all,dev]"
	@touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python examples/demo.py

check: $(STAMP)
	$(BIN)/ruff check src tests examples bench
	$(BIN)/ruff format --check --quiet src tests examples bench
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: check
	$(BIN)/pytest -n auto

bench: $(STAMP)
	$(BIN)/python bench/engine.py

soak: $(STAMP)
	$(BIN)/python bench/soak.py

format: $(STAMP)
	$(BIN)/ruff check --fix src tests examples bench
	$(BIN)/ruff format src tests examples bench

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
