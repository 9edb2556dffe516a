# Everything here runs on a machine with Go, make and git.

SHELL := /bin/sh
GO ?= go
BIN := bin
PLUGIN := $(BIN)/kubectl-gpu_quota
MODULE := github.com/gpu-quota/kubectl-gpu-quota

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT ?= $(shell git rev-parse --verify -q HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X $(MODULE)/pkg/cli.version=$(VERSION) -X $(MODULE)/pkg/cli.commit=$(COMMIT)

# Every target builds alike, so that what one of them compiled serves the others.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)

# The linter is pinned here and nowhere else. It is fetched and built by the go command.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

FUZZTIME ?= 10s
RUNS ?= 5

PACKAGES := ./...
# Modules of their own, for tests with heavy dependencies.
NESTED := $(patsubst %/go.mod,%,$(wildcard release/go.mod test/*/go.mod test/*/*/go.mod))

.PHONY: help build demo test bench lint-bench verify lint vet staticcheck gofmt imports nested fuzz update release release-test clean e2e e2e-build e2e-bench

help: ## Say what can be made.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the plugin into bin/.
	@mkdir -p $(BIN)
	$(GO) build -ldflags '$(LDFLAGS)' -o $(PLUGIN) ./cmd/kubectl-gpu_quota

demo: build ## Show one explanation and one charge table of the embedded demo cluster.
	@echo
	@echo '$$ kubectl gpu-quota explain job/notebook -n team-a --from demo'
	@$(PLUGIN) explain job/notebook -n team-a --from demo
	@echo
	@echo '$$ kubectl gpu-quota charge -A --from demo'
	@$(PLUGIN) charge -A --from demo

test: ## Run every test that needs no control plane.
	@$(GO) test ./...

bench: build ## Measure charge and audit against a bare decode of the same export, and hold them to their limits.
	@mkdir -p $(BIN)/bench
	$(GO) build -o $(BIN)/bench/ ./test/fleet/cmd/fleetgen ./test/bench/cmd/...
	$(BIN)/bench/fleetgen -nodes 64 -gpus 8 -workloads 640 -o $(BIN)/bench/64-nodes.yaml
	$(BIN)/bench/fleetgen -nodes 1000 -gpus 8 -workloads 10000 -o $(BIN)/bench/1000-nodes.json
	$(BIN)/bench/fleetgen -nodes 4000 -gpus 8 -workloads 40000 -o $(BIN)/bench/4000-nodes.json
	@$(BIN)/bench/measure -runs $(RUNS) -program $(PLUGIN) -yardstick $(BIN)/bench/baredecode -stages $(BIN)/bench/stages \
		$(BIN)/bench/64-nodes.yaml $(BIN)/bench/1000-nodes.json $(BIN)/bench/4000-nodes.json

LINT_MANIFESTS ?= 5000

lint-bench: build ## Lint 5,000 manifests side by side with kubeconform, and fail when that takes longer.
	@mkdir -p $(BIN)/lintbench
	cd test/lintbench && $(GO) build -o $(abspath $(BIN))/lintbench/ . github.com/yannh/kubeconform/cmd/kubeconform
	@$(BIN)/lintbench/lintbench -lint $(PLUGIN) -kubeconform $(BIN)/lintbench/kubeconform -dir $(BIN)/lintbench -manifests $(LINT_MANIFESTS) -runs $(RUNS)

# Kueue v0.19.0 is linked by another go.mod over the same sources.
CONFORMANCE_v0.19.2 :=
CONFORMANCE_v0.19.0 := -modfile=kueue-v0.19.0.mod -tags=kueue_v0_19_0
N ?= 20000

conformance: conformance-build conformance-reference ## Compare with Kueue's own packages on N (20000) random clusters, two versions.
	$(BIN)/conformance-v0.19.2 -n $(N) -runs 24 -most 120
	$(BIN)/conformance-v0.19.0 -n $(N) -runs 24 -most 120 -tolerance $$(($(N) / 5000))

.PHONY: conformance conformance-build conformance-reference conformance-tidy
conformance-build:
	@mkdir -p $(BIN)
	cd test/conformance && $(GO) build $(CONFORMANCE_v0.19.2) -o $(abspath $(BIN))/conformance-v0.19.2 ./cmd/conformance
	cd test/conformance && $(GO) build $(CONFORMANCE_v0.19.0) -o $(abspath $(BIN))/conformance-v0.19.0 ./cmd/conformance

conformance-reference:
	cd test/conformance && $(GO) test $(CONFORMANCE_v0.19.2) ./...
	cd test/conformance && $(GO) test $(CONFORMANCE_v0.19.0) ./reference

# Tidying reports packages that only tests of Kueue's dependencies import, hence -e. The second go.mod is made from the first.
conformance-tidy: ## Bring the go.mod files of test/conformance up to date after the program's dependencies changed.
	cd test/conformance && $(GO) mod tidy -e
	cd test/conformance && cp go.mod kueue-v0.19.0.mod && cp go.sum kueue-v0.19.0.sum && \
		printf '\nreplace sigs.k8s.io/kueue => sigs.k8s.io/kueue v0.19.0\n' >> kueue-v0.19.0.mod && \
		$(GO) mod tidy -e -modfile=kueue-v0.19.0.mod

e2e-build: ## Build the control plane for the end-to-end tests: minutes, once on a machine.
	@cd test/e2e && $(GO) test -count=1 -timeout 30m -run '^$$' .

e2e: ## Run the plugin through kubectl against a real control plane with a real Kueue.
	@cd test/e2e && $(GO) test -count=1 -timeout 30m ./...

e2e-bench: ## Explain 10,000 workloads of a real API server, side by side with kubectl get.
	@cd test/e2e && $(GO) test -count=1 -timeout 60m -run '^$$' -bench . -benchtime 3x -v .

verify: gofmt imports vet staticcheck nested ## Check form: gofmt, import direction, vet, staticcheck, nested modules.

lint: verify

gofmt:
	@files=$$(gofmt -s -l cmd demo pkg release test) && \
		if [ -n "$$files" ]; then echo "not formatted; run gofmt -s -w on:" >&2; echo "$$files" >&2; exit 1; fi

imports:
	@$(GO) test ./test/layering

vet:
	@$(GO) vet $(PACKAGES)

staticcheck:
	@$(GO) run $(STATICCHECK) $(PACKAGES)

nested:
	@for module in $(NESTED); do echo "build $$module"; (cd $$module && $(GO) build ./... && $(GO) vet ./...) || exit 1; done

fuzz: ## Run every fuzz target for FUZZTIME (10s).
	@for file in $$(grep -rl --include='*_test.go' '^func Fuzz' pkg cmd test); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
			echo "fuzz $$(dirname $$file) $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x ./$$(dirname $$file) || exit 1; \
		done; \
	done

update: ## Rewrite the golden files and the outputs in the documentation. Read the difference before you commit it.
	@for package in $$(grep -rl --include='*_test.go' 'flag.Bool("update"' pkg cmd test | xargs -n 1 dirname | sort -u); do \
		echo "update $$package"; $(GO) test ./$$package -update || exit 1; \
	done

# What is built carries the time of the commit, so that the same commit gives the same bytes.
release: ## Build the archives of a release into dist/, with checksums, bills of materials and the krew manifest.
	@cd release && $(GO) run . -root .. -out ../dist -version '$(VERSION)' -commit '$(COMMIT)' \
		-time "$$(git log -1 --format=%ct 2>/dev/null || echo 0)"
	@cat dist/checksums.txt

release-test: ## Build a release twice, compare, and install it with krew.
	@cd release && $(GO) test -timeout 20m ./...

clean: ## Remove what was built.
	rm -rf $(BIN) dist
