# What is done to this repository. `make` alone lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO ?= go
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GOLANGCI_LINT_VERSION := v2.15.0
GOLANGCI_LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)

# Tests of a package run servers of their own, and wait for them, for leases and for
# faults as long as they compute: three packages at a time keep two cores busy. A run is
# never taken from the cache, for it also tests what is outside this tree. `check` has vetted
# the packages already. Without the tables that debuggers read, a binary is linked in half
# of the time. Binaries stay on the disk: together they are larger than what tests write.
# Tests of the product that need servers or other programs have the build tag `servers`.
TAGS = servers
TEST = $(GO) test -exec "env TMPDIR=$$(test/tmp.sh)" -json -count=1 -vet=off -ldflags=-w -p 3 -tags $(TAGS)

# ARGS goes to what demo and bench run; PKG says which packages test, race and
# test-long run: all of both modules, and first those that take longest, so that none of them is
# left to run alone at the end.
ARGS ?=
ALL := ./... ./test/...
LONGEST := $(addprefix ./test/,e2e demo histories switchover fleet suites suites/mtr trust differential moves protocol)
PKG ?= $(LONGEST) $(ALL)
NEWER := $(addprefix ./test/,differential protocol moves session trust suites/tpch)

.PHONY: help
help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/locus
	$(GO) build -ldflags '-X main.version=$(VERSION)' -o bin/locus ./cmd/locus

.PHONY: man
man: build ## write the man pages to bin/man/man1
	rm -rf bin/man
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) bin/locus man bin/man/man1

# What builds images: docker, podman or buildah.
ENGINE ?= docker

.PHONY: image
image: ## build the image locus:VERSION, and locus:latest; ENGINE=podman
	$(ENGINE) build --build-arg VERSION=$(VERSION) -f deploy/docker/Dockerfile -t locus:$(VERSION) -t locus:latest .

# Where the files of a release go, and for which architectures. VERSION is the release's tag.
DIST ?= $(CURDIR)/dist
ARCH ?= amd64,arm64
RELEASE = cd deploy/release && GOWORK=off $(GO)

.PHONY: release
release: ## build binaries, packages, chart and image context of a commit into dist/; VERSION=v0.1.0
	$(RELEASE) run . -version "$(VERSION)" -arch "$(ARCH)" -out "$(DIST)"

.PHONY: demo
demo: ## install what is missing and run everything on this machine; ARGS='--shards 3 …'
	@test/install/servers.sh
	@$(MAKE) build
	bin/locus demo $(ARGS)

.PHONY: test
test: test-servers quick-suites check bin/summary ## install what the tests need and run all that a change must pass
	$(TEST) -timeout 25m $(PKG) | bin/summary

.PHONY: quick
quick: check ## run what needs nothing but Go: check, and the unit tests
	$(GO) test -count=1 -vet=off -ldflags=-w ./...

.PHONY: test-fresh
test-fresh: ## run the unit tests in a new Debian that has Go and git alone; as root
	test/install/fresh-root.sh

.PHONY: test-long
test-long: TAGS = servers,long
test-long: test-servers test-suites check bin/summary ## run what takes longer as well: chaos, soak, other people's suites
	LOCUS_TEST_SCALE=long $(TEST) -timeout 4h $(PKG) | bin/summary
	$(if $(filter file,$(origin PKG)),$(MAKE) test-newer)

# A second MariaDB stands beside that of the system, and is found before it. What is known to differ is in docs/reference/compatibility.md. Whether
# bugs that are planted are noticed is a question to the tests, not to the server.
.PHONY: test-newer
test-newer: TAGS = servers,long
test-newer: bin/summary ## run on MariaDB 11.8 what tells servers apart
	newer=$$(test/install/mariadb-11.8.sh) && PATH=$$newer:$$PATH LOCUS_TEST_SCALE=long $(TEST) -timeout 4h -run '/mariadb' -skip '^TestBugsAreNoticed$$' $(NEWER) | bin/summary

.PHONY: race
race: test-servers quick-suites vet bin/summary ## run the tests with the race detector
	$(TEST) -race -timeout 30m $(PKG) | bin/summary

.PHONY: bench
bench: ## run the benchmarks beside haproxy and a direct connection; ARGS=-quick for a minute
	@test/install/servers.sh bench
	$(GO) run ./test/bench $(ARGS)

.PHONY: check
check: vet format-check floors modules spelling ## what is checked without running servers

.PHONY: vet
vet:
	$(GO) vet $(ALL)
	$(GO) vet -tags servers,long $(ALL)
	$(RELEASE) vet .

.PHONY: format-check
format-check:
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { printf 'not formatted, see make format:\n%s\n' "$$unformatted"; exit 1; }

.PHONY: floors
floors: ## check that imports go down
	$(GO) test ./test/floors

# Words with a capital letter inside are names in code. Tests misspell some of the words in the list on purpose.
.PHONY: spelling
spelling: ## check the spelling, and the words of the documents; codespell is installed by make test
	$(GO) test ./test/docs -run 'TestPlainEnglish|TestPlainComments|TestLinks|TestEveryPage'
	@if command -v codespell >/dev/null; then \
		git ls-files -- '*.md' '*.go' '*.sh' '*.yaml' '*.html' '*.js' '*.svg' Makefile | grep -v -e /testdata/ -e node_modules | \
		xargs codespell --ignore-words test/docs/spelling.txt --ignore-regex '\b[a-zA-Z]+[A-Z][A-Za-z]*\b'; \
	else echo 'codespell is not installed: test/install/servers.sh test'; fi

.PHONY: modules
modules: ## check that each go.mod has what its module imports
	GOWORK=off $(GO) list -deps -test -tags servers,long ./... >/dev/null
	cd test && GOWORK=off $(GO) list -deps -test -tags servers,long ./... >/dev/null
	$(RELEASE) list -deps ./... >/dev/null

.PHONY: lint
lint: $(GOLANGCI_LINT) ## run the linters
	$(GOLANGCI_LINT) run $(ALL)

.PHONY: format
format: $(GOLANGCI_LINT) ## format the tree
	$(GOLANGCI_LINT) fmt

.PHONY: tidy-check
tidy-check: ## check that each go.mod lists what is imported, and no more
	GOWORK=off $(GO) mod tidy -diff
	cd test && GOWORK=off $(GO) mod tidy -diff
	$(RELEASE) mod tidy -diff

.PHONY: test-servers
test-servers:
	@test/install/servers.sh test
	@test/install/mysql-9.7.sh
	@test/install/debian.sh >/dev/null

.PHONY: quick-suites
quick-suites:
	@test/install/suites.sh node mysqljs mtr pymysql mysqlclient sysbench installers

.PHONY: test-suites
test-suites:
	@test/install/suites.sh

.PHONY: bin/summary
bin/summary:
	@$(GO) build -o $@ ./test/summary

# Built by the Go that builds the tree: a linter refuses code newer than itself.
$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@
