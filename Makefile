# The commands of the project. CONTRIBUTING.md says when to use which.

GO      ?= go
# How many packages are built and tested at once: the servers' share of the
# machine is left to them.
JOBS    ?= 2
TIMEOUT ?= 20m
FUZZTIME ?= 1m
KILLS   ?= 30
RUNS    ?= 1000
# Packages to test, for a run of fewer.
PKG     ?= ./...
# The longest of all go first, so that none of them is left to run alone.
LONGEST  = ./test/crash ./internal/connectors/mysql ./test/cases ./internal/connectors/postgres

TOOL     = $(GO) tool -modfile=tools/go.mod
# Tests that measure run without the race detector, which would change what they
# measure: they are known by their names, and test/house holds them to it.
MEASURED = ^Test(Alloc|Memory|Startup)
# What tests need beside Go: a C compiler for the race detector, servers, and
# Node.js, for which there is a DuckDB.
PACKAGES = gcc postgresql mariadb-server nodejs npm zookeeper default-jre-headless iproute2 iptables
# What leat is measured beside.
PEERS    = mariadb-client pgloader sqlite3

.PHONY: build test test-race test-measured packages peers check bench bench-rpc bench-ha test-bench fuzz soak rate
# One goal after the other: test prints its two runs in order.
.NOTPARALLEL:

build:
	$(GO) build -o leat ./cmd/leat

test: packages test-race test-measured

packages:
	@scripts/install-packages $(PACKAGES)
	@scripts/install-duckdb

test-race:
	$(GO) test -race -p $(JOBS) -timeout $(TIMEOUT) -skip '$(MEASURED)' $(if $(filter ./...,$(PKG)),$(LONGEST)) $(PKG)

test-measured:
	@packages=$$(scripts/list-tests '$(MEASURED)') && \
	echo $(GO) test -p 1 -timeout $(TIMEOUT) -run "'$(MEASURED)'" $$packages && \
	$(GO) test -p 1 -timeout $(TIMEOUT) -run '$(MEASURED)' $$packages

check:
	scripts/check-format "$(TOOL) gofumpt"
	$(GO) vet ./...
	$(GO) fix -diff ./...
	$(GO) mod tidy -diff
	$(TOOL) staticcheck ./...
	$(TOOL) golangci-lint run ./...
	cd bench && $(GO) vet ./... && $(GO) fix -diff ./...
	cd bench/rpc && $(GO) vet ./... && $(GO) fix -diff ./...
	cd bench/ha && $(GO) vet ./... && $(GO) fix -diff ./...

# Each fuzz test of the tree for FUZZTIME. What one finds is written below its
# package's testdata/fuzz and is kept: commit it with the repair.
fuzz:
	@scripts/fuzz $(FUZZTIME)

# The kill tests at many more moments than in each run, and random schedules of faults.
soak: packages
	LEAT_KILLS=$(KILLS) LEAT_RUNS=$(RUNS) $(GO) test -p 1 -count 1 -timeout 6h -run 'Kill|Crash|Freeze|Cut' -v $(PKG)

# The job's limit over 20 seconds on a machine that is quiet: 0.90 to 1.05 of it.
rate: packages
	LEAT_QUIET=1 $(GO) test -count 1 -v -run TestTheLimitHoldsForReal ./internal/local

bench: packages peers
	cd bench && $(GO) run .

# The rpc package beside its peers, a module of its own.
bench-rpc:
	cd bench/rpc && $(GO) run .

# Elections beside Curator's, and what a fence costs.
bench-ha: packages
	@scripts/install-packages default-jdk-headless libcurator-recipes-java
	cd bench/ha && $(GO) run .

# The tests of bench itself, which run all peers on few rows.
test-bench: packages peers
	cd bench && $(GO) test -p $(JOBS) -timeout $(TIMEOUT) ./...

peers:
	@scripts/install-packages $(PEERS)
	@scripts/install-duckdb bench/duckdb/query.c bench/duckdb/query
