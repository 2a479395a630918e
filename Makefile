# Everything that is done with this checkout. `make` lists the targets; .ci/run is `make check`.
#
#   PYTHON=…          the Python that .venv is made with (3.11 or newer)
#   PYTEST_ARGS=…     more options for pytest in `make test`, as PYTEST_ARGS="-k url"
#   JOBS=3            test processes at once (one more than there are processors: many tests wait)
#   NEEDS_BROWSER=    set while tests need a browser, which `make test` installs; empty: leave it be
#   SPIDER_BROWSER=…  the browser to use instead of /usr/bin/chromium

SHELL := /bin/sh
BIN := .venv/bin
PYTHON_M := $(BIN)/python -m
JOBS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
PYTEST_ARGS ?=
NEEDS_BROWSER ?= $(wildcard tests/ajax/conftest.py)

# Without a browser its tests are skipped, with the reason; only a build server takes that for a failure.
BROWSER_FOR_TESTS := $(if $(NEEDS_BROWSER),.ci/browser tests || test -z "$$CI",:)

.DEFAULT_GOAL := help
.PHONY: help venv dev browser demo test check format lint types floors audit lock docs-check docs pictures wheel bench soak clean

help:  ## List these targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

venv:  ## Make .venv with the spider alone in it.
	@.ci/venv core

dev:  ## Make .venv with the tools and libraries of the tests too.
	@.ci/venv dev

browser:  ## Install the browser that Ajax crawling uses (Debian's chromium).
	@.ci/browser

demo: venv  ## Crawl the bundled sample site and show the report (seconds).
	@$(BIN)/spider demo

# Tests of deadlines and of a browser share a machine with each other and with strangers. Those that fail are
# run once more, one at a time, and must pass then; both runs are shown.
test: dev  ## Run the tests and show their branch coverage.
	@$(BROWSER_FOR_TESTS)
	@rm -f .pytest_cache/v/cache/lastfailed
	$(PYTHON_M) pytest -n $(JOBS) --dist worksteal --cov --cov-report=term $(PYTEST_ARGS) || \
		{ code=$$?; test $$code = 1 || exit $$code; echo "test: once more, alone: what failed"; \
		$(PYTHON_M) pytest --last-failed --last-failed-no-failures none; }

# The tests hold the generated documents and the wheel to their laws; neither is made a second time here.
check: dev  ## Do everything that must pass before a change lands.
	@$(MAKE) --no-print-directory --jobs=2 types floors lint
	@$(MAKE) --no-print-directory test
	@.ci/audit || echo "check: what is named above is for a change of its own (make lock, or a newer range)"
	@echo "check: all passed"

lint: dev  ## Check the format and the style of the code.
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: dev  ## Check the types.
	$(BIN)/mypy
	$(BIN)/mypy --no-explicit-package-bases alembic/env.py alembic/versions/*.py

floors: dev  ## Check that no room imports sideways or upwards.
	$(BIN)/lint-imports --no-logo

audit: dev  ## Ask whether a library of .ci/lock.txt has a known weakness, where a network allows.
	@.ci/audit

lock:  ## Pin the libraries of development anew in .ci/lock.txt, after a change of pyproject.toml.
	@.ci/lock

docs-check: dev  ## Check that the generated documents are up to date.
	$(BIN)/python docs/make_data.py --check
	$(BIN)/python docs/make_diagrams.py --check
	$(BIN)/python docs/make_reliability.py --check

docs: dev  ## Write the generated documents anew.
	$(BIN)/python docs/make_data.py
	$(BIN)/python docs/make_diagrams.py
	$(BIN)/python docs/make_reliability.py

pictures: dev browser  ## Take the pictures of docs/pictures anew, with a browser.
	$(BIN)/python docs/make_pictures.py

format: dev  ## Format the code and mend what can be mended by itself.
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

wheel: dev  ## Build the wheel into dist/.
	@rm -rf build dist && mkdir build
	$(PYTHON_M) build --wheel --no-isolation --outdir dist . >build/log 2>&1 || { cat build/log; exit 1; }
	@ls dist/*.whl

bench: dev  ## Measure (see benchmarks/README.md).
	@for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

soak: dev  ## Run the tests that are too long for `make check`.
	@$(BROWSER_FOR_TESTS)
	$(PYTHON_M) pytest -m soak --timeout 3600 $(PYTEST_ARGS)

clean:  ## Remove what is built: .venv, caches, dist.
	rm -rf .venv build dist *.egg-info .coverage .coverage.* htmlcov .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find spider alembic tests docs benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
