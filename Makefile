# Everything a contributor does, by name. The recipes are short on purpose: they can be typed by hand.
SHELL := /bin/bash

.DEFAULT_GOAL := help
.PHONY: help build deb demo test crash-test model-test fuzz sanitize check format

help: ## Print this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

build: ## Install what is missing and build the three programs.
	Scripts/bootstrap
	swift build

deb: ## Build the Debian package into .build: a release build, 10 minutes or more the first time.
	Scripts/bootstrap
	Scripts/deb

demo: ## One payment authentication from start to end, in a temporary directory; PUSH=1 pushes the request.
	Scripts/demo

test: ## Set up what the tests need and run them all.
	Scripts/bootstrap --tests
	swift build --build-tests
	Scripts/test

crash-test: ## Kill the agent at every point and at random; CRASHES=10000, SEED=, and DEATH= or ROUND= for one of them.
	Scripts/bootstrap
	swift build
	python3 -B Tests/Outside/crash_campaign.py --record .build/crash-test.json $(if $(CRASHES),--crashes $(CRASHES)) \
		$(if $(SEED),--seed $(SEED)) $(if $(DEATH),--death "$(DEATH)") $(if $(ROUND),--round $(ROUND))

fuzz: ## Feed a parser with octets that libFuzzer makes: TARGET=, SECONDS=60; without TARGET, list the targets.
	@Scripts/fuzz $(TARGET) $(SECONDS)

model-test: ## Random schedules against the model of the protocol: SCHEDULES=10000, SEED=1, which one failure names.
	swift build --build-tests
	MODEL_SCHEDULES=$(or $(SCHEDULES),10000) MODEL_SEED=$(or $(SEED),1) swift test --skip-build --filter ModelTests

sanitize: ## All tests under the address and then the thread sanitizer, in builds of their own: an hour or more.
	Scripts/bootstrap --tests
	Scripts/sanitize

check: ## Format lint, the arrows between targets, and the walls.
	swift format lint --strict --recursive Sources Tests Package.swift Fuzz/Package.swift Fuzz/Fuzzer
	swift build --build-tests --explicit-target-dependency-import-check error
	Scripts/check-walls --self-test
	Scripts/check-walls

format: ## Format all Swift code in place.
	swift format --in-place --recursive Sources Tests Package.swift Fuzz/Package.swift Fuzz/Fuzzer
