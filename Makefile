# bir: `make` builds, `make demo` shows the main job, `make test` runs everything.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
BUILD    = CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)'
NPM_DIR  = conformance/npm
NPM_DONE = $(NPM_DIR)/node_modules/.package-lock.json
FAST     = $(shell $(GO) list ./... | grep -v /conformance/)
SLOW     = ./conformance/...

# The race detector needs a C compiler; without one the tests run without it.
RACE    := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 && echo -race)

.PHONY: build demo test check lint npm bench guards fuzz cross tidy clean

build:
	@mkdir -p bin
	$(BUILD) -o bin/ ./cmd/...

# Without npm the demo says so and uses its own small server.
demo: build
	@if command -v npm >/dev/null 2>&1; then $(MAKE) --no-print-directory npm; fi
	@bin/bir demo --npm $(NPM_DIR)

npm: $(NPM_DONE)

$(NPM_DONE): $(NPM_DIR)/package-lock.json
	cd $(NPM_DIR) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# The client that conformance/claude drives: the package for linux-x64, some 200 MB.
# Where it cannot be installed, those tests are skipped.
CLAUDE_DIR  = conformance/claude/npm
CLAUDE_DONE = $(CLAUDE_DIR)/node_modules/.package-lock.json

.PHONY: claude
claude:
	@[ $(CLAUDE_DONE) -nt $(CLAUDE_DIR)/package-lock.json ] || \
	  { cd $(CLAUDE_DIR) && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json; } || \
	  echo "claude: the Claude Code client cannot be installed here, so the tests that drive it are skipped"

lint:
	@unformatted=$$(gofmt -l cmd conformance control engine recorder relay sandbox 2>/dev/null); \
	  if [ -n "$$unformatted" ]; then echo "gofmt these files:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# Fast tests first; the slow suites are in conformance/.
test: lint npm claude
	@[ -n "$(RACE)" ] || echo "no C compiler here: testing without the race detector"
	$(GO) test $(RACE) $(FAST)
	$(GO) test $(RACE) -timeout 15m $(SLOW)
	@$(MAKE) --no-print-directory vuln

# govulncheck needs its database; where that cannot be reached, it says so.
.PHONY: vuln
vuln:
	@$(GO) tool govulncheck ./... > bin/govulncheck.txt 2>&1; status=$$?; \
	  if grep -q 'fetching vulnerabilities' bin/govulncheck.txt; then echo "govulncheck: its database cannot be reached from here"; \
	  else cat bin/govulncheck.txt; exit $$status; fi

check: test
	$(GO) mod tidy -diff
	@git diff --exit-code --stat

bench: build npm
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./...

guards:
	$(GO) run ./sandbox/guards/build
	$(GO) run ./sandbox/wasmhost/build

FUZZTIME ?= 10s
fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; done; done

cross:
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
	  echo "$$os/$$arch"; GOOS=$$os GOARCH=$$arch $(BUILD) -o /dev/null ./cmd/... && \
	  GOOS=$$os GOARCH=$$arch $(GO) vet ./... || exit 1; done; done

tidy:
	$(GO) mod tidy

clean:
	rm -rf bin $(NPM_DIR)/node_modules $(CLAUDE_DIR)/node_modules
