# Every target does its own set-up: nox goes to .venv/tools-<version>, what it makes to .venv/nox-<version>.
# PYTHON=python3.12 picks another interpreter; ARGS="-k dump" is handed on to pytest or to the demonstration.
# ADAPTER_PYTHON=/usr/bin/python3.7 is an interpreter with npu_bridge, its TensorFlow, pytest and hypothesis.

PYTHON ?= python3
ARGS ?=
export ADAPTER_PYTHON ?=
# The vendor's environment script puts npu_bridge on PYTHONPATH, which no other target may see.
export ADAPTER_PYTHONPATH ?= $(PYTHONPATH)
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
TOOLS := .venv/tools-$(VERSION)
NOX := $(TOOLS)/bin/python -m nox

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# None of these may leak from the caller's shell into the environments.
unexport PIP_PREFIX PIP_TARGET PIP_USER PYTHONHOME PYTHONPATH VIRTUAL_ENV

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test contract check bench clean tools

help: ## Show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile

demo: tools ## Train the digits example on this machine
	@$(NOX) -s demo -- $(ARGS)

test: tools ## Run the tests: Python 3.7 with TensorFlow 1.15 (if there is a 3.7), then this Python with the newest
	@failed=; \
	for leg in test_legacy test_current; do $(NOX) -s $$leg -- $(ARGS) || failed="$$failed $$leg"; done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

contract: tools ## Run the contract suite: on the emulation, and on the adapter of ADAPTER_PYTHON where that is given
	@$(NOX) -s contract -- $(ARGS)

check: tools ## Lint, format, types, module sizes
	@$(NOX) -s check

bench: tools ## Measure what the wrapper costs
	@$(NOX) -s bench -- $(ARGS)

clean: ## Remove the environments and caches
	rm -rf .venv .nox build dist .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 9))' || \
	  { echo "$(PYTHON) must be Python 3.9 or newer (found: $(or $(VERSION),none)); try make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments: install its venv and ensurepip modules" \
	         "(on Debian and Ubuntu the package python$(VERSION)-venv)" >&2; exit 1; }
	@$(TOOLS)/bin/python -c 'import nox' 2>/dev/null || \
	  { $(PYTHON) -m venv --clear $(TOOLS) && $(TOOLS)/bin/python -m pip install -qq nox; }
