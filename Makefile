# Everything a contributor does, by name. The recipes are short on purpose: they can be typed by hand.
SHELL := /bin/bash

.DEFAULT_GOAL := help
.PHONY: help build deb demo docs man test crash-test host-test takeover-test push-test model-test bench bench-large fuzz sanitize check format \
	help-texts texts conform-proof long-test changelog drawings

help: ## Print this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

build: ## Install what is missing and build the programs for tests, with personas; plain `swift build` has none.
	Scripts/bootstrap
	Scripts/build

deb: ## Build the Debian packages into .build: a release build, 10 minutes or more the first time.
	Scripts/bootstrap
	Scripts/deb

demo: ## One payment authentication from start to end, in a temporary directory; PUSH=1 pushes the request, KEEP=keys/demo keeps what it made.
	Scripts/demo

conform-proof: ## Show that oob-conform can fail: try all the wrong issuers of conformance/mutants with a finished build.
	.venv/bin/python -B conformance/proof.py

docs: ## Build the documentation of the library D1 into .build/documentation; any warning fails.
	Scripts/docs

test: ## Set up what the tests need and run them all; SKIPS=none makes each skipped test a failure, as in .ci/run.
	Scripts/bootstrap --tests
	Scripts/build --build-tests
	Scripts/test $(if $(filter none,$(SKIPS)),--nothing-skipped)

crash-test: ## Kill the agent at every point and at random; CRASHES=10000, SEED=, and DEATH= or ROUND= for one of them.
	Scripts/bootstrap
	Scripts/build
	PYTHONPATH=Tests/Stories python3 -B Tests/Hosts/crash_campaign.py $(if $(RECORD),--record $(RECORD)) $(if $(CRASHES),--crashes $(CRASHES)) \
		$(if $(SEED),--seed $(SEED)) $(if $(DEATH),--death "$(DEATH)") $(if $(ROUND),--round $(ROUND))

host-test: ## Faults at hosts that share a PostgreSQL: FAULTS=10000, HOSTS=3, LEASE=300, STANDBY=no, STOPS=1-60, SEED=, ROUND= for one.
	Scripts/bootstrap --tests
	Scripts/build
	.venv/bin/python -B Tests/Hosts/host_campaign.py $(if $(RECORD),--record $(RECORD)) $(if $(FAULTS),--faults $(FAULTS)) \
		$(if $(HOSTS),--hosts $(HOSTS)) $(if $(LEASE),--lease $(LEASE)) $(if $(filter no,$(STANDBY)),--no-standby) $(if $(STOPS),--stops $(STOPS)) $(if $(SEED),--seed $(SEED)) $(if $(ROUND),--round $(ROUND))

takeover-test: ## How long until others have the work of a host that was killed: KILLS=100, HOSTS=2, LEASE=15000, SEED=1.
	Scripts/bootstrap --tests
	Scripts/build
	.venv/bin/python -B Tests/Hosts/host_takeovers.py $(if $(KILLS),--kills $(KILLS)) \
		$(if $(HOSTS),--hosts $(HOSTS)) $(if $(LEASE),--lease $(LEASE)) $(if $(SEED),--seed $(SEED))

push-test: ## Many requests pushed twice and polled, and garbage meanwhile: REQUESTS=10000, SECONDS=600, SEED=1.
	Scripts/bootstrap --tests
	Scripts/build
	.venv/bin/python -B Tests/Counterparts/push_campaign.py $(if $(REQUESTS),--requests $(REQUESTS)) \
		$(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

fuzz: ## Feed a parser with bytes that libFuzzer makes: TARGET=, SECONDS=60; without TARGET, list the targets.
	@Scripts/fuzz $(TARGET) $(SECONDS)

model-test: ## Random schedules against the model of the protocol: SCHEDULES=10000, SEED=1, which one failure names.
	Scripts/build --build-tests
	MODEL_SCHEDULES=$(or $(SCHEDULES),10000) MODEL_SEED=$(or $(SEED),1) swift test $$(Scripts/traits) --skip-build --filter ModelTests

long-test: ## The checks that take hours, each by its name: CHECKS="host-campaign pushes"; goes on where it was interrupted; LIST=1 lists them.
	Scripts/long-test $(if $(LIST),--list) $(CHECKS)

BENCH = .venv/bin/python -B Benchmarks/bench.py

bench: ## Measure how fast and small the programs of `make deb` are, in a quarter of an hour: ONLY=group, QUICK=1.
	Scripts/bootstrap --tests
	$(BENCH) $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick)

bench-large: ## The measures that take millions of rows: an hour.
	Scripts/bootstrap --tests
	$(BENCH) --large $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),--quick)

sanitize: ## All tests under the address and then the thread sanitizer, in builds of their own: an hour or more.
	Scripts/bootstrap --tests
	Scripts/sanitize

check: ## Format lint, the arrows between targets, the walls, and the versions of packages.
	swift format lint --strict --recursive Sources Tests Package.swift Fuzz/Package.swift Fuzz/Fuzzer \
		examples/swift-testing
	Scripts/check-walls --self-test
	Scripts/check-walls
	Scripts/check-packages

man: ## Write the man pages of a finished build into MAN=.build/man.
	Scripts/man $(or $(MAN),.build/man)

texts: ## Write what a finished build prints into the text scripts (NAMES="pin enroll", or all), for a reviewer to read.
	.venv/bin/python -B Tests/Stories/text_scripts.py --update $(NAMES)

help-texts: ## Keep what --help of a finished build prints in Tests/Fixtures/Cases/help, for a reviewer to read.
	python3 -B Tests/Stories/test_help.py --update

drawings: ## Draw the pictures of the architecture, from Package.swift, and of several hosts.
	Scripts/draw

changelog: ## Print the unreleased changes as CHANGELOG.md will have them; VERSION=0.1.0 puts them there and removes their files.
	Scripts/bootstrap --tests
	@.venv/bin/towncrier build --config changelog/towncrier.toml --dir . $(if $(VERSION),--version $(VERSION) --yes,--version Unreleased --draft)

format: ## Format all Swift code in place.
	swift format --in-place --recursive Sources Tests Package.swift Fuzz/Package.swift Fuzz/Fuzzer \
		examples/swift-testing
