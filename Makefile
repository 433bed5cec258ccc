# The commands of development. `make` alone lists them. Everything is installed into .venv and nowhere else.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
# Processes of the tests, for two cores: the third computes while the others wait, a sixth of their time.
WORKERS ?= 3

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test check trials bench pictures constraints clean

help:
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1|/' | column -t -s '|'

install: $(INSTALLED) ## the environment, with everything that development needs

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    f"Python 3.11 or later is needed and $(PYTHON) is {sys.version.split()[0]}: make PYTHON=python3.12")'
	@echo "installing into .venv (twenty seconds)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@# Twice quiet: errors, but no warning for each package that one of several indexes lacks. Most modules are never
	@# imported here: those that are get compiled then, which spares a third of the time.
	@$(BIN)/python -m pip install -qq --no-compile -c constraints.txt -e '.[site,test,check,bench]'
	@$(BIN)/python -m compileall -q leaderboard  # as pip does where the program is installed
	@touch $@

demo: install ## the site, a worker and the demonstration campaigns at http://127.0.0.1:8000
	@exec $(BIN)/leaderboard demo

test: install ## all tests, with a real PostgreSQL and a real browser
	@$(BIN)/python -m scripts.programs
	@# Compiled modules are kept, whatever the shell says: the tests start Python some hundred times.
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

check: install ## ruff, mypy, the import contracts, the migrations; seconds
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m scripts.check_migrations

trials: install ## the long trials: kill storms, load, big files
	@$(BIN)/python -m trials

bench: install ## the benchmarks, each as a ratio against a named peer of the same run
	@$(BIN)/python -m bench
	@$(BIN)/python -m bench.pages

pictures: install ## the README's pictures anew, from a demonstration
	@$(BIN)/python -m scripts.pictures

constraints: ## constraints.txt anew, from the newest versions that pyproject.toml allows
	@$(PYTHON) scripts/refresh_constraints.py

clean: ## removes the environment and everything that was built or cached
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
