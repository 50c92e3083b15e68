# Two commands: `make demo` and `make test`. Both set themselves up; a second call starts at once.
SHELL := /bin/bash
.DELETE_ON_ERROR:

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
CPUS ?= $(shell nproc)

.PHONY: demo test check docs lock clean help

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: $(READY) ## the whole job on this machine: reference gateway, one night, all societies, the site
	@$(BIN)/harness demo

test: check ## everything that must hold: style, types, import direction, tests
	$(BIN)/python -m pytest -n $(CPUS) --dist loadgroup

check: $(READY) ## style, types and import direction only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY) ## renew what README.md takes from the commands' help
	$(BIN)/python -m harness.cli.readme

lock: ## renew requirements.lock from pyproject.toml (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
		--no-header --group dev pyproject.toml -o requirements.lock

clean: ## remove the environment and all output
	rm -rf .venv build reports/demo reports/site reports/internal

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or later is needed; name one with: make PYTHON=/path/to/python3" >&2; exit 2; }
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
