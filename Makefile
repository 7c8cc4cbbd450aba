# What can be done here. `make` shows this list.

.DEFAULT_GOAL := help
CARGO_DENY := cargo-deny 0.20.2
MDBOOK := mdbook 0.5.4
# `make demo DEMO_PROFILE=dev` builds what the tests run, too.
DEMO_PROFILE := demo
DEMO_DIR := $(if $(filter dev,$(DEMO_PROFILE)),debug,$(DEMO_PROFILE))
.PHONY: help demo test types test-types lint-types features features-each test-fast docs package packages test-packages test-packages-long test-adapters docs-tool recording recording-hosts reference lockdown dist sign test-dist dist-check arm64 platforms deny deny-tool advisories fuzz fuzz-short examples budgets peers hosts reflection jailed torture chaos soak lint check guest prelude ui test-ui profile check-guest bench bench-packages bench-nodes bench-servers clean

help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

demo: ## Average some numbers in a sealed cell
	@.ci/needs cargo cc
	@[ -e "$${CARGO_TARGET_DIR:-target}/$(DEMO_DIR)/toolcell" ] || echo "building toolcell and its dependencies, optimised only where it would crawl: about 10 minutes of processor time (5 on two cores), once" >&2
	cargo run --locked --profile $(DEMO_PROFILE) --package toolcell-cli -- exec fixtures/tools/calculate_average.js '{"numbers": [1.5, 2.5, 4.25]}'

test: ## Run all tests
	@.ci/needs cargo cc python3 bash
	cargo build --workspace --bins --locked
	cargo test --workspace --locked

# Without the compiler of the images, too: they are those that the build of everything keeps.
features features-each: export TOOLCELL_IMAGE_CACHE ?= $(CURDIR)/target/images
features: ## Test the library without its default features
	cargo build --workspace --all-targets --locked
	cargo test --package toolcell --no-default-features --test features --locked

features-each: features ## Test the library with each of its features alone (15 minutes: each has dependencies of its own)
	for feature in flame-graph jail net reflection proof; do \
	  cargo test --package toolcell --no-default-features --features $$feature --test features --locked || exit 1; \
	done

test-fast: ## Run the unit tests alone: under a minute after the build
	cargo test --workspace --lib --locked

examples: ## Run the examples: small hosts
	cargo build --workspace --examples --locked
	for example in smallest hook streaming thousand; do "$${CARGO_TARGET_DIR:-target}/debug/examples/$$example" || exit 1; done

docs: ## Build the book (target/book) and the API reference (target/doc), without warnings
	"$$(.ci/tool $(MDBOOK) --no-default-features)" build docs
	RUSTDOCFLAGS="--deny warnings --allow rustdoc::private_intra_doc_links" \
	  cargo doc --workspace --lib --no-deps --document-private-items --locked

package: ## Package the crates that others embed, and build and run a host that uses these packages alone (10 minutes)
	.ci/package build

packages: ## Build the packages for Python and Node into target/packages (15 minutes: PACKAGES_PROFILE=dev builds large ones fast)
	@.ci/needs cargo cc python3 npm objdump
	.ci/packages "$${CARGO_TARGET_DIR:-target}/packages" $(PACKAGES_PROFILE)

test-packages: packages ## Install them into new environments, and run their tests and examples (needs Node 20, npm and Python 3.10)
	cargo build --workspace --bins --locked
	tests/packages/run "$${CARGO_TARGET_DIR:-target}/packages" "$${CARGO_TARGET_DIR:-target}/debug/toolcell"

# Packages that are in a folder already are not built again: PACKAGES=FOLDER.
packages_in = $(or $(PACKAGES),$${CARGO_TARGET_DIR:-target}/packages)

test-packages-long: $(if $(PACKAGES),,packages) ## Test them at length: hostile tools, forks, 8 threads, the event loop (TOOLCELL_ROUNDS=1000 each: an hour)
	tests/packages/long "$(packages_in)"

test-adapters: packages ## Test the adapters of the large agent frameworks, GitHub Copilot's and Claude's (1 GB to download)
	tests/packages/node/adapters/run "$${CARGO_TARGET_DIR:-target}/packages" adapters-large
	tests/packages/adapters-large "$${CARGO_TARGET_DIR:-target}/packages"

docs-tool: # Build what `make docs` runs
	@.ci/tool $(MDBOOK) --no-default-features

recording: ## Record the terminal session of README.md again (needs Python)
	cargo build --workspace --bins --locked
	docs/recording/render "$${CARGO_TARGET_DIR:-target}/debug"

recording-hosts: ## Record the sessions of docs/guide/{pi,omp,copilot,claude}.md again (needs Python; after make hosts)
	cargo build --workspace --bins --locked
	for host in pi omp copilot claude; do docs/recording/render-host $$host "$${CARGO_TARGET_DIR:-target}/debug/toolcell" || exit 1; done

# Cargo refuses crates that claim a later Rust than the one that builds them; these need nothing of it.
types_flags := --locked --package toolcell-types --ignore-rust-version
types: ## Build the type checker, a program of its own (5 minutes of processor time)
	cargo build --profile types --features checker $(types_flags)

test-types: types ## Test it, and TypeScript's own compiler, with labelled and with hostile sources (Linux; the compiler needs npm)
	cargo build --workspace --bins --locked
	tsc=$$(tests/types/tsc/install) && TOOLCELL_TEST_TSC="$$tsc" \
	  TOOLCELL_TYPES="$$(realpath "$${CARGO_TARGET_DIR:-target}")/types/toolcell-types" cargo test --workspace --locked --test worker --test types -- --nocapture

lint-types: ## Check it with clippy, which the workspace does without the checker
	cargo clippy --all-targets --test worker --features checker $(types_flags) -- --deny warnings

reference: ## Write the generated pages of docs/reference/
	cargo build --workspace --bins --locked
	TOOLCELL_UPDATE_DOCS=1 cargo test --workspace --locked --test it -- docs::the_reference

budgets: ## Test the good tools of fixtures/, and hold them to their budgets of fuel
	cargo run --quiet --locked --package toolcell-cli -- test fixtures/tools --max-regression 5%

lockdown: ## Do real uses on machines that give less: not root, nothing to write, no network, few addresses, no executable pages, …
	cargo build --workspace --bins --locked
	.ci/lockdown "$${CARGO_TARGET_DIR:-target}/debug/toolcell" "$${CARGO_TARGET_DIR:-target}/debug/lockdown"

dist: ## Build a release: a static binary, as an archive, a Debian package and a container image, with what is in it (SBOM)
	@.ci/needs cargo cc git python3 dpkg-deb
	.ci/dist "$${CARGO_TARGET_DIR:-target}/dist"

sign: ## Add checksums to the release, and with TOOLCELL_SIGNING_KEY (a key of minisign) signatures and the install script
	.ci/release/sign "$${CARGO_TARGET_DIR:-target}/dist"

test-dist: ## Pack the binary of the tests as a release, and install it in each way there is; DIST=FOLDER tests a release (Debian)
	cargo build --workspace --bins --locked
	tests/dist/run $(DIST)

arm64: ## Build the workspace for arm64, and have qemu run the tools there: the same results, and the same fuel (Debian 12, as root: installs a compiler and qemu; an hour)
	cargo build --workspace --bins --locked
	.ci/arm64 "$${CARGO_TARGET_DIR:-target}/debug/toolcell"

dist-check: dist ## Build the release again in another folder: the same bytes must come out (as long as a release, twice)
	.ci/dist-check "$${CARGO_TARGET_DIR:-target}/dist"

platforms: ## Check what compiles for macOS and Windows, where nothing is run (Debian 12, as root: installs a compiler; a quarter of an hour)
	.ci/platforms

deny: ## Check the licences, the bans and the sources of all that is linked
	"$$(.ci/tool $(CARGO_DENY))" --config .deny.toml check bans licenses sources

deny-tool: # Build what `make deny` runs
	@.ci/tool $(CARGO_DENY)

advisories: ## Hold all that is linked against a database of security advisories (TOOLCELL_ADVISORY_DB: a checkout of RustSec's advisory-db)
	.ci/advisories

fuzz: ## Fuzz what reads untrusted text, guided by coverage, for FUZZ_SECONDS each (10 minutes); FUZZ_TARGETS="policy receipt" chooses
	.ci/fuzz long $${FUZZ_SECONDS:-600} $(FUZZ_TARGETS)

fuzz-short: ## Fuzz it with mutations of the committed seeds, all targets side by side, for two minutes
	.ci/fuzz short

reflection: ## Measure reflection on its labelled tasks, and draw precision and recall
	cargo test --quiet --locked --package toolcell-reflection --test labelled -- --nocapture
	cargo run --quiet --locked --package toolcell-reflection --example curve -- crates/reflection/precision-recall.svg

peers: ## Test against the official clients, suites and reference servers of the protocol (needs Node and Python)
	cargo build --workspace --bins --examples --locked
	tests/interop/run "$${CARGO_TARGET_DIR:-target}/debug/toolcell" "$${CARGO_TARGET_DIR:-target}/debug/examples/conformance" $(PARTS)

hosts: ## Run Toolcell in real agents, with a scripted model (needs Node 20 and npm)
	cargo build --workspace --bins --locked
	tests/hosts/run "$${CARGO_TARGET_DIR:-target}/debug/toolcell" $(HOSTS)
	[ -n "$(HOSTS)" ] || .ci/hosts-state > tests/hosts/TRIED

jailed: ## Run the tests of the operations again, with every call in the jail
	cargo build --workspace --bins --locked
	TOOLCELL_TEST_JAIL=1 cargo test --locked --package toolcell-tests --test it operations::

torture: ## Run the long form of the tests of the store: every fault at every point, and 50,000 tools (15 minutes)
	TOOLCELL_TORTURE=1 cargo test --locked --package toolcell-tests --test it crash_consistency

chaos: ## Let clients use three nodes of one library while processes are killed and stopped, for CHAOS_SECONDS (15 minutes); needs PostgreSQL, nats-server and, for S3, weed
	cargo build --locked --workspace --bins
	TOOLCELL_CHAOS_SECONDS=$${CHAOS_SECONDS:-900} cargo test --locked --package toolcell-tests --test it cluster::chaos -- --nocapture

soak: ## Let clients do everything to a server at full load, for SOAK_SECONDS (10 minutes), and see what it leaves behind
	SOAK_SECONDS=$${SOAK_SECONDS:-600} cargo test --release --locked --package toolcell-tests --test soak

lint: ## Check the formatting, and clippy without warnings
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- --deny warnings

check: lint test ## What has to hold before a change lands

guest: ## Build the guest, and what says where it comes from (Debian 12; installs the compilers it needs)
	guest/build.sh guest/prebuilt/guest.wasm
	cd guest/prebuilt && b3sum guest.wasm > guest.wasm.b3
	guest/provenance.sh > guest/prebuilt/PROVENANCE.md

prelude: ## Bundle the guest's JavaScript, and test it (needs Node)
	cd guest/js && npm ci --silent && npm run build && npm test

ui: ## Bundle the script of the web page (needs Node)
	cd crates/ui/js && npm ci --silent && npm run check && npm run build

test-ui: ## Test the web page in Chromium (Debian; as root it installs the browser and the fonts; needs Node 20 and npm)
	cargo build --workspace --bins --locked
	tests/ui/run "$${CARGO_TARGET_DIR:-target}/debug/toolcell" $(UI_TESTS)

profile: ## Gather the profile that the guest's QuickJS is compiled with (Debian 12; installs what it needs)
	guest/profile.sh guest/profile/quickjs.profdata

check-guest: ## Build the guest again and compare: the committed one must come out, byte for byte
	guest/build.sh guest/target/check.wasm
	cmp guest/target/check.wasm guest/prebuilt/guest.wasm
	.ci/guest-state > guest/prebuilt/REPRODUCED
	@echo "the guest is reproduced: $$(cut -c1-16 guest/prebuilt/guest.wasm.b3)"

bench: ## Measure, and print a table of ratios
	cargo build --release --locked --package toolcell-cli
	cargo bench --locked --package toolcell-tests --bench cell -- --quick
	cargo bench --locked --package toolcell-tests --bench ratios

bench-packages: $(if $(PACKAGES),,packages) ## Measure the packages for Python and Node in turns with their peers, which it installs (10 minutes)
	tests/packages/bench/run "$(packages_in)"

bench-nodes: ## Measure nodes of a shared library beside a single machine, in the empty database that TOOLCELL_SHARED names (also set TOOLCELL_SHARED_SECRET, and for hand-over TOOLCELL_SHARED_WIRE)
	cargo build --release --locked --package toolcell-cli --package toolcell-cluster --bins
	cargo bench --locked --package toolcell-tests --bench ratios -- nodes

# Both in one build: neither gets features that it does not have elsewhere.
bench-servers: ## Measure calls of an MCP server's tools in turns with modebox, which it installs (a quarter of an hour, most of it to build)
	cargo build --release --locked --package toolcell-cli --package toolcell-bridge --bin toolcell --example echo
	tests/bridge/run "$${CARGO_TARGET_DIR:-target}/release/toolcell" "$${CARGO_TARGET_DIR:-target}/release/examples/echo"

clean: ## Remove what was built
	cargo clean
	rm -rf guest/target guest/js/node_modules
