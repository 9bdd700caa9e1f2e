# Each target works as the only command on a fresh machine: it makes .venv first. No compiler is
# needed. Another interpreter, for .venv from then on: make test PYTHON=/path/to/python3.13

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Test modules run side by side; at most four, since many start processes of their own. One that
# ends for a deadlock (faulthandler_timeout) ends the run: with another in its place, xdist may hang.
# xdist would start modules of few tests last, which are those of whole clusters, of minutes each:
# one process would end long after the others.
SIDE_BY_SIDE := --numprocesses=logical --maxprocesses=4 --dist=loadscope --no-loadscope-reorder \
  --max-worker-restart=0
# Images of containers set it. Hundreds of processes of tests would compile the package each.
unexport PYTHONDONTWRITEBYTECODE
# setuptools warns of each editable installation, in a box.
PIP := PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check
CANDIDATES := python3.14 python3.13 python3.12 python3.11 python3 python
# Runs before anything is installed, so it may use nothing but the standard library. Asking for
# ensurepip too skips interpreters that cannot make a virtual environment (Debian splits it off).
SUITABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

.PHONY: quickstart test suite style types test-slow test-fast test-long test-oldest conformance compat estimators chaos chaos-mutants fuzz kube lint format bench docs clean
.DEFAULT_GOAL := test

quickstart: $(STAMP)
	$(BIN)/python examples/quickstart.py

# A sixth of the time: faults at random, Kubernetes from end to end, long chains, reported programs in
# every mode, whole tables in eager mode, and the suites of others. make test-slow runs these alone.
SLOW := tests/benchmarks/test_dask_queries.py tests/chaos tests/compat/test_compare.py \
  tests/conformance/test_chains.py tests/conformance/test_eager.py \
  tests/deploy/kubedl/test_cluster.py tests/deploy/kubernetes/test_cluster.py tests/kube \
  tests/learn/test_estimator_checks.py tests/reports/test_modes.py tests/reports/test_sessions.py

# Types take a minute and a half of one core without a cache: tests run meanwhile.
test: style
	@$(MAKE) --no-print-directory --jobs=2 types suite

suite: $(STAMP)
	$(BIN)/python -m pytest -q $(SIDE_BY_SIDE) $(SLOW:%=--ignore=%)

test-slow: $(STAMP)
	$(BIN)/python -m pytest -q $(SIDE_BY_SIDE) $(SLOW)

# Hypothesis draws anew, and more than ten times as much.
test-long: lint
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -q $(SIDE_BY_SIDE)

# What needs no cluster, with few random examples, and each row of a table in one of its modes.
SANS_IO := test_errors.py test_order.py test_callable.py test_dask_graph.py \
  $(addprefix inprocess/test_,evaluate.py records.py results.py single_handle.py state.py) \
  $(addprefix supervisor/test_,fair_share.py placement.py result_info.py waiting_tasks.py) \
  $(addprefix supervisor/affinity/test_,affinities.py worker_ranges.py) \
  $(addprefix supervisor/compilation/test_,packed_tasks.py packing.py total_memory.py) \
  $(addprefix supervisor/failover/test_,epoch.py generations.py leader_lease.py lost_inputs.py) \
  supervisor/failover/test_shuffle_runs.py worker/test_admission.py worker/test_running_tasks.py
test-fast: $(STAMP)
	HYPOTHESIS_PROFILE=fast $(BIN)/python -m pytest -q $(SIDE_BY_SIDE) $(SLOW:%=--ignore=%) \
	  tests/core tests/tensor tests/dataframe tests/learn $(SANS_IO:%=tests/scheduler/%)

# On the lowest versions that pyproject.toml allows. TESTS="tests/core tests/learn" takes some.
OLDEST := .venv-oldest
TESTS :=
test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -q $(SIDE_BY_SIDE) $(TESTS)

# The array API standard. The community's own suite is on no package index: give a checkout of
# data-apis/array-api-tests, with its submodule, as ARRAY_API_TESTS=path; EXAMPLES=100 draws more.
# As a word of its own pytest takes the path of the xfails for one of tests, and our configuration.
EXAMPLES := 20
conformance: $(VENV)/.conformance
	$(BIN)/python -m pytest -q tests/conformance/test_array_api.py
	@if [ -n "$(ARRAY_API_TESTS)" ]; then \
	  $(PIP) --requirement "$(ARRAY_API_TESTS)/requirements.txt" && \
	  here="$$(pwd)" && cd "$(ARRAY_API_TESTS)" && \
	  ARRAY_API_TESTS_MODULE=marsdask.tensor PYTHONPATH="$$here/tests/conformance" \
	    "$$here/$(BIN)/python" -m pytest -q -p eager_tensors array_api_tests \
	    --max-examples $(EXAMPLES) --disable-deadline \
	    --xfails-file="$$here/tests/conformance/xfails.txt"; \
	else \
	  echo "array-api-tests was not run: give a checkout, ARRAY_API_TESTS=path"; \
	fi

# Dask's and pandas's own tests with ours, and with theirs where they fail; with DISTRIBUTED=path, a
# checkout of dask/distributed, its tests with our servers. COMPAT="--suite dask dask/array/*" takes
# some of them, COMPAT="--jobs 2" two files side by side.
compat: $(VENV)/.compat
	$(BIN)/python tests/compat/compare.py $(if $(DISTRIBUTED),--distributed "$(DISTRIBUTED)") $(COMPAT)

# scikit-learn's checks of all estimators, over arrays and tensors, counted: ESTIMATORS="PCA Ridge".
ESTIMATORS :=
estimators: $(STAMP)
	$(BIN)/python -m tests.learn.estimator_checks $(ESTIMATORS)

# Minutes of jobs on a cluster of which parts fail, or SEEDS="1 2 3" one after the other:
# make chaos SECONDS=600 SEED=42. Each step is drawn from the seed and its number alone, so FIRST=17
# SECONDS=1 repeats the seventeenth. FAULTS=kill_worker,cut_host chooses among tests/chaos/faults.py.
SECONDS := 180
SEED := 1
SEEDS := $(SEED)
FIRST := 0
FAULTS :=
chaos: $(STAMP)
	for seed in $(SEEDS); do \
	  CHAOS_SECONDS=$(SECONDS) CHAOS_SEED=$$seed CHAOS_FIRST=$(FIRST) CHAOS_FAULTS="$(FAULTS)" \
	    $(BIN)/python -m pytest -q -s -n0 -o faulthandler_timeout=0 \
	    tests/chaos/test_random_failures.py || exit 1; \
	done

# Whether the tests notice what would break: each change of tests/chaos/mutants.py turns some red.
chaos-mutants: $(STAMP)
	$(BIN)/python -m tests.chaos.mutants

# Broken requests and frames, then settings, then programs of tensors and frames, for SECONDS each:
# make fuzz SECONDS=1800 SEED=7; make fuzz FUZZ=tests/fuzzing/test_programs.py takes the last alone.
FUZZ := tests/fuzzing
fuzz: $(STAMP)
	FUZZ_SECONDS=$(SECONDS) FUZZ_SEED=$(SEED) $(BIN)/python -m pytest -q -n0 \
	  -o faulthandler_timeout=0 $(FUZZ)

# The tests of Kubernetes on a real etcd and kube-apiserver, which KUBE has or gets: minutes.
KUBE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/marsdask/kube
KUBE_TESTS := tests/deploy/kubernetes tests/deploy/kubedl tests/kube
kube: $(STAMP)
	tests/kube/build-apiserver.sh "$(KUBE)"
	MARSDASK_KUBE_APISERVER="$(KUBE)" $(BIN)/python -m pytest -q -o faulthandler_timeout=1200 \
	  $(KUBE_TESTS)

lint: style types

style: $(STAMP)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .

types: $(STAMP)
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --quiet --fix-only .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --quiet --strict --site-dir build/site

clean:
	rm -rf $(VENV) $(OLDEST) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf quickstart-output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml setup.py
	@python="$(PYTHON)"; \
	if [ -z "$$python" ]; then \
	  for name in $(BIN)/python $(CANDIDATES); do \
	    if "$$name" -c "$(SUITABLE)" >/dev/null 2>&1; then python="$$name"; break; fi; \
	  done; \
	fi; \
	if [ -z "$$python" ]; then \
	  echo "marsdask needs Python 3.11 or newer with venv and ensurepip on PATH (tried:" \
	    "$(CANDIDATES)); on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; \
	fi; \
	echo "Installing into $(VENV) with $$("$$python" --version) ..."; \
	"$$python" -m venv $(VENV)
	@$(PIP) --upgrade pip
	@$(PIP) --editable '.[dev]'
	@touch $@

# A second environment, of the interpreter of the first; uv is asked what the lowest versions are.
$(OLDEST)/.installed: $(STAMP)
	@$(PIP) uv
	@mkdir -p build
	@$(BIN)/uv pip compile --quiet --resolution lowest-direct --extra test --no-header \
	  --python $(BIN)/python --output-file build/oldest.txt pyproject.toml
	$(BIN)/python -m venv --clear $(OLDEST)
	@PYTHONWARNINGS=ignore $(OLDEST)/bin/python -m pip install --quiet \
	  --disable-pip-version-check --requirement build/oldest.txt --editable .
	@touch $@

$(VENV)/.conformance: $(STAMP)
	@$(PIP) --editable '.[conformance]'
	@touch $@

$(VENV)/.compat: $(STAMP)
	@$(PIP) --editable '.[compat]'
	@touch $@

$(VENV)/.docs: $(STAMP)
	@$(PIP) --editable '.[docs]'
	@touch $@
