# The list of tasks; `make help` prints it. Every task does its own set-up.
.DEFAULT_GOAL := help
.PHONY: help setup engines demo test check campaign bench docs protos format clean
BIN := .venv/bin
SHELL := /bin/bash

help: ## Print this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

setup: ## Make the virtual environment and install what is missing
	@scripts/setup.sh

engines: ## Install FreeCAD, Octave and LibreOffice Calc by apt
	@scripts/engines.sh

demo: setup ## Design, verify, refine and show a part with the real service
	@$(BIN)/python scripts/demo.py

test: setup ## Run the whole test suite; installs the engines where it may
	@scripts/engines.sh --try
	@$(BIN)/python -m pytest $(PYTEST_ARGUMENTS)

check: setup ## Lint, types, import rules, protos, generated files
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/buf lint
	@$(BIN)/buf format --diff --exit-code
	@$(BIN)/buf breaking --against proto/baseline.binpb
	@scripts/gen_protos.sh --check
	@$(BIN)/python scripts/gen_docs.py --check

campaign: setup ## Run the long test campaigns
	@$(BIN)/python -m pytest -m campaign --timeout 3600 $(PYTEST_ARGUMENTS)

bench: setup ## Print the ratios of speed, measured in one run
	@$(BIN)/python -m bench

docs: setup ## Write the generated pages
	@$(BIN)/python scripts/gen_docs.py

protos: setup ## Generate the stubs and the descriptor set
	@scripts/gen_protos.sh

format: setup ## Format the code and the protos
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .
	@$(BIN)/buf format --write

clean: ## Remove what was built, with the virtual environment
	rm -rf .venv build dist demo-workspace demo-workspace.log .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
