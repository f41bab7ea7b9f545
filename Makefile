# Everything a contributor does, by name. The recipes are short on purpose: they can be typed by hand.
SHELL := /bin/bash

.DEFAULT_GOAL := help
.PHONY: help build demo test check format

help: ## Print this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

build: ## Install what is missing and build the three programs.
	Scripts/bootstrap
	swift build

demo: ## One payment authentication from start to end, in a temporary directory.
	Scripts/demo

test: ## Set up what the tests need and run them all.
	Scripts/bootstrap --tests
	swift build --build-tests
	swift test --skip-build

check: ## Format lint, the arrows between targets, and the walls.
	swift format lint --strict --recursive Sources Tests Package.swift
	swift build --build-tests --explicit-target-dependency-import-check error
	Scripts/check-walls --self-test
	Scripts/check-walls

format: ## Format all Swift code in place.
	swift format --in-place --recursive Sources Tests Package.swift
