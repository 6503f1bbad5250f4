# The two that matter: `make demo` and `make test`. Both install what they need (tools/setup).
.DEFAULT_GOAL := help
.PHONY: help setup build demo test lint schemas

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## what the build needs, by apt where it is missing
	@tools/setup

build: setup ## the release binary, .build/release/locsearch
	swift build -c release --product locsearch

test: setup ## all suites
	swift test

lint: ## format and lint
	swift-format lint --strict --recursive Sources Tests Package.swift

.venv/ready: schemas/requirements.txt
	python3 -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check -r schemas/requirements.txt
	@touch $@

schemas: .venv/ready ## check schemas, examples and the AsyncAPI document
	.venv/bin/python schemas/validate.py
