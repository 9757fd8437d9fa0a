# Two commands are enough: make demo, make test.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test lint format docs screenshots bench clean

demo: $(STAMP)
	$(BIN)/vault-memex demo

# Two at a time with coverage; then, alone and uncounted, those that look at the clock or make ten thousand examples.
test: $(STAMP)
	$(BIN)/pytest -q $(ARGS) -n 2 --dist worksteal --cov --cov-report=term:skip-covered --counted
	$(BIN)/pytest -q $(ARGS) --uncounted

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(STAMP)
	$(BIN)/python -m tests.reference

screenshots: $(STAMP)
	$(BIN)/python -m tests.screenshots

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

# With uv on the PATH it takes seconds; plain pip works too. Both take their pins from constraints.txt, which comes from
#   uv pip compile pyproject.toml --group dev --python-version 3.11 --universal -o constraints.txt
$(STAMP): pyproject.toml constraints.txt
	@echo "Installing into $(VENV): about 1.1 GB, some minutes without uv"
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv -q --allow-existing --python $(PYTHON) $(VENV) && \
	  uv pip install -q --python $(BIN)/python -c constraints.txt -e . --group dev; \
	else \
	  $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install -q --upgrade "pip>=25.1" && \
	  $(BIN)/python -m pip install -q -c constraints.txt -e . --group dev; \
	fi
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
