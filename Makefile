# Two commands do everything: `make demo` and `make test`. Both set up .venv first, and again
# whenever pyproject.toml has changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
CODE := src tests examples bench docs
# Every process that a test starts would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: browser demo test suite check bench bench-scale soak docs format clean setup

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable ".[all,dev]"
	@touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python examples/demo.py

check: $(STAMP)
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check --quiet $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The explorer's tests need a real browser: Debian's, installed here where that is possible.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	       && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	  || echo "no Chromium: the tests of the explorer will fail until one is installed"

# What half a minute can find is not looked for ten minutes later.
test: check suite

suite: $(STAMP) browser
	$(BIN)/pytest -n auto -p no:langsmith_plugin

bench: $(STAMP)
	$(BIN)/python bench/engine.py

bench-scale: $(STAMP)
	$(BIN)/python bench/scale.py

soak: $(STAMP)
	$(BIN)/python bench/soak.py
	WORLDLINE_EMBEDDER=none $(BIN)/python bench/traffic.py

docs: $(STAMP)
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict --quiet

format: $(STAMP)
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
