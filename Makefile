# Everything a developer does here, by name. "go test ./..." needs nothing but Go.

GO ?= go
FUZZTIME ?= 10s
BENCH ?= .
PORT ?=

# The linter is pinned, and built from source into .bin on first use.
LINT_VERSION := v2.12.2
LINT := .bin/golangci-lint-$(LINT_VERSION)
# Its cache remembers paths, so one that two checkouts share reports the other's.
export GOLANGCI_LINT_CACHE := $(CURDIR)/.bin/cache

# SQLite itself, which is C made into Go, is not watched for races: it would take most of
# the time, and every access of ours is seen without it (core/doc/decisions/0056).
RACE_FLAGS ?= -race -gcflags=modernc.org/...=-race=false
RACE_PACKAGES ?= $(shell .ci/concurrent)

# What "make generate" writes.
GENERATED := README.md core/doc/scopes.md core/doc/errors.md core/doc/schema.sql '*/testdata/*'

.DEFAULT_GOAL := help
.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## Build bin/mailhelm
	$(GO) build -o bin/mailhelm ./cmd/mailhelm

.PHONY: run
run: ## Start everything with demo data; PORT=N takes N and the five ports behind it
	$(GO) run ./cmd/mailhelm demo $(if $(PORT),--port $(PORT))

.PHONY: test
test: $(if $(RACE),check) ## Run every test; says what was skipped, and fails for it when CI=true; RACE=1 as "check"
	$(if $(RACE),,$(GO) run ./conformance/verdict $(TEST_FLAGS) ./...)

PKG ?= ./core/...
.PHONY: test-fast
test-fast: ## Run the tests of PKG (./core/...) that need no database server, Redis, Chromium or npm
	MAILHELM_TEST_SERVICES=none $(GO) test $(TEST_FLAGS) $(PKG)

.PHONY: test-full
test-full: ## Run every test at full length: on every engine, with every text, seed and round
	MAILHELM_TEST_FULL=1 $(GO) run ./conformance/verdict -timeout 60m $(TEST_FLAGS) ./...

.PHONY: race
race: ## Run the tests of concurrent code under the race detector
	$(GO) run ./conformance/verdict $(RACE_FLAGS) $(TEST_FLAGS) $(RACE_PACKAGES)

.PHONY: check
check: race ## Run each test once: concurrent code under the race detector, the rest without
	$(GO) run ./conformance/verdict $(TEST_FLAGS) $$(.ci/concurrent --others)

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (10s)
	@grep -rE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\(' . | sed -E 's#/[^/]+\.go:func (Fuzz[A-Za-z0-9_]*).*# \1#' | sort | \
	while read -r package target; do \
		echo "$$package $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" || exit 1; \
	done

.PHONY: bench
bench: ## Run the benchmarks that match BENCH (all)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: lint
lint: $(LINT) ## Check style and the linters of .golangci.yaml
	$(LINT) run ./...

$(LINT):
	GOBIN=$(CURDIR)/.bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv .bin/golangci-lint $@

.PHONY: format
format: $(LINT) ## Rewrite the sources as lint wants them
	$(LINT) fmt ./...

# Tests that can write what they compare with declare the flag "update", and are named
# TestGolden.
.PHONY: generate
generate: ## Write what is derived: tables, schema, goldens
	$(GO) test -vet=off -count=1 -run '^TestGolden' $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update

.PHONY: verify
verify: ## Generate, and fail when that changed or added a file
	@.ci/unchanged $(MAKE) --no-print-directory generate
	@untracked=$$(git ls-files --others --exclude-standard -- $(GENERATED)); \
	if [ -n "$$untracked" ]; then printf 'generated but not added to git:\n%s\n' "$$untracked"; exit 1; fi

.PHONY: figures
figures: ## Print the sizes of files and functions
	$(GO) test ./conformance/layout -count=1 -run '^TestFigures$$' -v
