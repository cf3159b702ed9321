# Everything runs from .venv, which `scripts/bootstrap.py` makes on first use: `make up` with the packages that run
# (requirements.runtime.lock), the others with the developers' tools as well (requirements.lock).
.DEFAULT_GOAL := help
.PHONY: help python runtime setup web dev up test pooled check docs reference bench soak fmt lock audit clean
MAKEFLAGS += --no-print-directory
# Packages are installed without bytecode, and Python stores that of a module when it is first imported. With this
# variable, which some containers set, every process would compile all that it imports: a second for each command.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
PYTHON ?= python3
QUICK ?=
ARGS ?=

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' Makefile

python:
	@command -v $(PYTHON) >/dev/null || { echo "forebay needs Python 3.11 or newer: install python3"; exit 1; }

runtime: python ## create .venv with the packages that forebay needs to run
	@$(PYTHON) scripts/bootstrap.py

setup: python ## create .venv with the development tools as well, and build the web app; instant if up to date
	@$(PYTHON) scripts/bootstrap.py --dev
	@$(BIN)/python scripts/web.py build --if-needed

# Where it cannot be built, as without a network, the API runs without it and says what to do.
web: runtime ## build the web app; instant if it is up to date
	@$(BIN)/python scripts/web.py build --if-needed

up: web ## start forebay with its own PostgreSQL
	@$(BIN)/forebay up $(ARGS)

dev: setup ## serve the web app while it is written; needs a running API
	@$(BIN)/python scripts/web.py dev

test: setup ## run the tests; ARGS goes to pytest
	@$(BIN)/python -m pytest --durations 20 --durations-min 2 $(ARGS)

# What differs most there: sessions, transactions, prepared statements. `make soak` runs all tests of the engine there.
POOLED := $(addprefix tests/engine/test_,children.py leader.py settling.py signals.py stream.py unique.py)

pooled: setup ## run some tests of the engine behind PgBouncer
	@$(BIN)/python -m pytest --pooler $(POOLED) $(ARGS)

# Two at a time; what one says stays together, where this make can do that.
check: setup ## check format, lint, types, imports, schema, licences and documentation
	@$(MAKE) --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) $(CHECKS)

# The longest first.
CHECKS := $(addprefix check-,pyright mypy docs web schema format lint imports licences)
.PHONY: $(CHECKS)

check-format:
	@echo "check: format" && $(BIN)/ruff format --check --quiet .

check-lint:
	@echo "check: lint" && $(BIN)/ruff check --quiet .

check-mypy:
	@echo "check: mypy" && $(BIN)/mypy --no-error-summary

check-pyright:
	@echo "check: pyright" && $(BIN)/basedpyright

check-imports:
	@echo "check: imports" && $(BIN)/lint-imports

check-schema:
	@echo "check: schema" && $(BIN)/python scripts/schema_dump.py --check

check-licences:
	@echo "check: licences" && $(BIN)/python scripts/licences.py --check

check-web:
	@echo "check: web" && $(BIN)/python -m scripts.web_client --check && $(BIN)/python -m scripts.web_pages --check \
	  && $(BIN)/python scripts/web.py check
	@$(BIN)/python scripts/web.py size

check-docs:
	@echo "check: docs" && for script in $(REFERENCE); do $(BIN)/python -m scripts.$$script --check || exit 1; done
	@$(BIN)/python scripts/docs_site.py && $(BIN)/python -m pytest -q --no-header tests/docs

docs: setup ## build the documentation as a site that works offline
	@$(BIN)/python scripts/docs_site.py

# The scripts that write docs/reference from the code.
REFERENCE := reference_docs metrics_docs http_docs python_docs demands

reference: setup ## write the generated pages of the documentation
	@for script in $(REFERENCE) web_client web_pages; do $(BIN)/python -m scripts.$$script || exit 1; done

bench: setup ## run the benchmarks; QUICK=1 for a short run
	@QUICK=$(QUICK) $(BIN)/python -m bench $(ARGS)

soak: setup ## run the tests that take minutes
	@$(BIN)/python -m pytest -m soak --timeout 3600 $(ARGS)
	@$(BIN)/python -m pytest --pooler tests/engine

fmt: setup ## format the code and fix what the linter can fix
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

# The extras that `make up` installs: all but the drivers that only programs of one's own use.
RUNTIME := api articles attachments bullmq embedded images media nats ocr sentry sheets sources speech storage tracing web webhooks
COMPILE := UV_PYTHON_DOWNLOADS=never $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 \
  --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet

lock: setup ## update both lock files from pyproject.toml
	@$(COMPILE) --all-extras --group dev --output-file requirements.lock $(ARGS)
	@$(COMPILE) $(RUNTIME:%=--extra %) --group build --group models --group fonts --constraint requirements.lock --output-file requirements.runtime.lock
	@! grep -n '://' requirements.lock requirements.runtime.lock
	@$(PYTHON) scripts/bootstrap.py --dev

# Outside of .venv, so that the dependencies of pip-audit are not those of forebay. --strict: it fails where PyPI does not
# answer for a package, as behind some mirrors.
audit: setup ## check the locked packages for known vulnerabilities; needs the network
	@UV_PYTHON_DOWNLOADS=never $(BIN)/uv tool run --quiet pip-audit==2.10.1 --strict --requirement requirements.lock \
	  --disable-pip --require-hashes --progress-spinner off $(ARGS)

clean: ## remove .venv, caches and builds; keep the data
	@rm -rf .venv build dist web/dist web/node_modules src/forebay/web .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
