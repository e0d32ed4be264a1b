# The commands of developers. "go test ./..." needs only Go.

GO ?= go
FUZZTIME ?= 10s
BENCH ?= .
PORT ?=

# The version of the linter is fixed. The first use builds it from source into .bin, with the linters of
# .golangci.yaml.
LINT_VERSION := v2.12.2
LINT := .bin/golangci-lint-$(LINT_VERSION)
# The cache stores paths. If two checkouts shared one, lint would report the paths of the other.
export GOLANGCI_LINT_CACHE := $(CURDIR)/.bin/cache

# Without MessagePack, which no route uses, Gin does not import a codec that takes a twelfth of a build and
# 6 MB of the program.
export GOFLAGS := $(strip $(GOFLAGS) -tags=nomsgpack)

# SQLite, translated from C to Go, and the packages that compress run without the race detector,
# because they would take most of the time. Races in our code are found without it
# (core/doc/decisions/0056). Without debugging data, they compile a little faster. The SDK of Amazon runs with
# it, but little, so the compiler does not optimize it, and takes a third less time for it.
RACE_EXEMPT := modernc.org/... compress/... hash/crc32
RACE_FLAGS ?= -race $(foreach package,$(RACE_EXEMPT),'-gcflags=$(package)=-race=false -dwarf=false') \
	'-gcflags=github.com/aws/...=-N -l -dwarf=false'
RACE_PACKAGES ?= $(shell .ci/packages --concurrent)

# The files that "make generate" writes.
GENERATED := README.md core/doc/scopes.md core/doc/errors.md core/doc/schema.sql rest/docs/changelog.md rest/docs/reference/examples/answers rest/docs/guides/personal-data.md rest/docs/guides/workflow-examples.md rest/docs/guides/figures '*/testdata/*'

.DEFAULT_GOAL := help
.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## Build bin/mailhelm
	@test -e bin/mailhelm || echo "The first build compiles every dependency and takes minutes. Later builds take seconds."
	$(GO) build -o bin/mailhelm ./cmd/mailhelm

.PHONY: run
run: build ## Start everything with demo data; PORT=N uses the six ports from N on
	bin/mailhelm demo $(if $(PORT),--port $(PORT))

.PHONY: cluster
cluster: build ## Start 2 API servers and 2 workers with PostgreSQL, standby, PgBouncer, Redis and S3; PORT=N as above
	$(GO) run ./conformance/cluster $(if $(PORT),-port $(PORT))

.PHONY: test
test: $(if $(RACE),check) ## Run every test and list the skipped ones, which fail the run if CI=true; with RACE=1 run "check"
	$(if $(RACE),,$(GO) run ./conformance/verdict $(TEST_FLAGS) $$(.ci/packages))

PKG ?= ./core/...
.PHONY: test-fast
test-fast: ## Run the tests of PKG (./core/...) that need no database server, Redis, Chromium or npm
	MAILHELM_TEST_SERVICES=none $(GO) test $(TEST_FLAGS) $(PKG)

.PHONY: test-full
test-full: ## Run every test in full: on both databases, with every text, seed and round
	MAILHELM_TEST_FULL=1 $(GO) run ./conformance/verdict -timeout 60m $(TEST_FLAGS) $$(.ci/packages)

.PHONY: faults
faults: ## Kill parts of the cluster 100 times in ten minutes of work; SEED=N draws other calls and kills
	MAILHELM_TEST_FULL=1 MAILHELM_FAULT_SEED=$(or $(SEED),1) $(GO) test ./conformance/cluster -count=1 -run '^TestFaultsAtScale$$' -timeout 60m -v

.PHONY: race
race: ## Run the tests of packages with concurrent code under the race detector
	$(GO) run ./conformance/verdict $(RACE_FLAGS) $(TEST_FLAGS) $(RACE_PACKAGES)

.PHONY: check
check: race ## Run each test once: packages with concurrent code under the race detector, the rest without
	$(GO) run ./conformance/verdict $(TEST_FLAGS) $$(.ci/packages --others)

# Without a bound, a worker minimizes each interesting input for a minute, and runs no other
# inputs in that time.
.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (10s)
	@grep -rE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\(' . | sed -E 's#/[^/]+\.go:func (Fuzz[A-Za-z0-9_]*).*# \1#' | sort | \
	while read -r package target; do \
		echo "$$package $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$package" || exit 1; \
	done

.PHONY: bench
bench: ## Run the benchmarks that match BENCH (all)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: drivers
drivers: ## Compare drivers of SQLite on the statements of the most used operations, for three minutes
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	$(GO) test ./conformance/load -run '^$$' -bench Operations -benchtime 1x -load.statements "$$folder"; \
	cd conformance/load/drivers && $(GO) run . "$$folder"

.PHONY: lint
lint: $(LINT) ## Run the linters of .golangci.yaml
	$(LINT) run ./...

$(LINT): .golangci.yaml .ci/linter
	.ci/linter $(LINT_VERSION) $@

.PHONY: format
format: $(LINT) ## Format the sources
	$(LINT) fmt ./...

# Tests that can write the files they compare with declare the flag "update". Their names
# begin with TestGolden.
.PHONY: generate
generate: ## Write the generated files: tables, schema, goldens
	$(GO) test -vet=off -count=1 -run '^TestGolden' $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update

.PHONY: verify
verify: ## Run "generate", and fail if it changed or added a file
	@.ci/unchanged $(MAKE) --no-print-directory generate
	@untracked=$$(git ls-files --others --exclude-standard -- $(GENERATED)); \
	if [ -n "$$untracked" ]; then printf 'generated but not added to git:\n%s\n' "$$untracked"; exit 1; fi

# The platforms of a release. The version comes from the newest tag v1.2.3; without a tag it
# is 0.0.0 with the time and the commit.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
COMMIT = $(shell git rev-parse HEAD)
COMMIT_TIME = $(shell git log -1 --format=%ct)
TAG = $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null)
VERSION ?= $(or $(patsubst v%,%,$(TAG)),0.0.0-dev.$(COMMIT_TIME).$(shell git rev-parse --short=12 HEAD))
RELEASE_FLAGS = -X github.com/mailhelm/mailhelm/cmd/mailhelm/cli.version=$(VERSION) -X github.com/mailhelm/mailhelm/cmd/mailhelm/cli.commit=$(COMMIT)

# The folder of a release, whose content is replaced.
DIST ?= dist

.PHONY: release
release: ## Build the files of a release for PLATFORMS into dist/
	rm -rf $(DIST)
	@set -e; for platform in $(PLATFORMS); do \
		system=$${platform%/*}; arch=$${platform#*/}; program=mailhelm; \
		if [ $$system = windows ]; then program=mailhelm.exe; fi; \
		echo "building for $$platform"; \
		CGO_ENABLED=0 GOOS=$$system GOARCH=$$arch $(GO) build -trimpath -ldflags="-s -w $(RELEASE_FLAGS)" \
			-o $(DIST)/binaries/$${system}_$$arch/$$program ./cmd/mailhelm; \
	done
	$(GO) run ./cmd/mailhelm/packaging -version $(VERSION) -commit $(COMMIT) -time $(COMMIT_TIME) \
		-binaries $(DIST)/binaries -dist $(DIST) -native $(DIST)/binaries/$$($(GO) env GOOS)_$$($(GO) env GOARCH)/mailhelm
	@ls -l $(DIST)

.PHONY: figures
figures: ## Print the sizes of files and functions
	$(GO) test ./conformance/layout -count=1 -run '^TestFigures$$' -v
