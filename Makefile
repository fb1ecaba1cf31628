# One command each. `make` alone lists them.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: help setup check dist test test-all bench lint types docs mutants notebooks golden fixtures stranger fuzz laboratory gallery what-if-table scores account

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make a virtual environment with everything for development
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e '.[notebooks,dev]'

check: ## All that CI runs, in an environment of its own
	.ci/run

dist: ## Build the sdist and the wheel into dist/, and print their digests
	$(BIN)/hatchling build -d dist
	sha256sum dist/*

test: ## Run the tests
	$(BIN)/python -m pytest

test-all: ## Run every case, of tests too that CI runs a part of
	$(BIN)/python -m pytest --every-case --every-notebook

stranger: ## Hand every capture on in every way that happens to captures (an hour of CPU; goes on where it ended)
	nice -n 10 $(BIN)/python -m tools.stranger $(if $(PART),--part $(PART)) $(if $(ONLY),--only $(ONLY))

fuzz: ## Read changed inputs, 60 s over all readers: make fuzz HOURS=1 ONLY=smaps (needs the extra fuzz)
	nice -n 19 $(BIN)/python -m tools.fuzz $(if $(HOURS),--hours $(HOURS)) $(if $(ONLY),--only $(ONLY))

bench: ## Time gomem against Go's own readers, where Go is present
	$(BIN)/python -m pytest tests/benchmarks --benchmark-only --numprocesses=0

lint: ## Check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: ## Check the types
	$(BIN)/mypy

mutants: ## List small changes that no test notices: make mutants OF=gomem/sources SAMPLE=40
	nice -n 10 $(BIN)/python -m tools.mutants $(OF) $(if $(SAMPLE),--sample $(SAMPLE)) --seed $(or $(SEED),0)

notebooks: ## Run every notebook on its fixtures, and on ten captures that it was not written for
	$(BIN)/python -m pytest tests/test_notebooks.py tests/test_papermill.py --every-notebook --dist=load
	$(BIN)/python -m pytest -p nbmake --nbmake notebooks --numprocesses=2

golden: ## Rewrite the golden files, for the diff to be reviewed
	$(BIN)/python -m pytest tests/views tests/cli --update-golden

scores: ## Fit the scores of growth and goroutine leaks to the laboratory, and print how they do
	$(BIN)/python -m tools.laboratory.fit --write

account: ## Print how the account's bounds hold on every recorded moment with files taken away
	$(BIN)/python -m tools.laboratory.account

laboratory: ## Print what was done to each recorded process against what gomem says; write it for the manual
	$(BIN)/python -m tools.laboratory.matrix --write

docs: ## Build the manual into build/docs, with warnings as errors
	$(BIN)/python -m sphinx -q -W -j auto -b html docs build/docs

gallery: ## Write every notebook and five reports as pages into docs/gallery, and pictures of them
	$(BIN)/python -m tools.gallery --pictures

what-if-table: ## Write what what-if foretold, and what was measured, into docs/what-if.md
	$(BIN)/python -m tools.what_if_table --write

fixtures: ## Record the fixtures again, with real Go toolchains
	$(BIN)/python fixtures/programs/record.py
