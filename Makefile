# Each target runs one script or one swift command. `make` lists them.
# Variables: PORT=8081 (run, capture), ENGINE_DIR=DIR and ENGINE=pinned (setup), YES=1 (setup-capture),
# PREFIX=DIR and DESTDIR=DIR (install), MINUTES=5 and READER=zip (fuzz), ONLY=WORD (test), ONLY=PART (soak, bench),
# BASE=COMMIT (bench-compare), MODULES=1 (run, build, test).
export PORT ENGINE_DIR ENGINE YES PREFIX DESTDIR MINUTES READER ONLY BASE MODULES

.PHONY: help run capture build install uninstall dist deb release test test-portable test-capture soak fuzz sanitize bench bench-compare docs
.PHONY: setup setup-capture format lint clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 22

run: ## set up, build, import the sample archive and serve it on http://localhost:8080 (PORT=)
	@Scripts/run

capture: ## build, and start the server that saves URLs on http://localhost:58443 (PORT=)
	@Scripts/capture

build: ## set up and build a release in .build/release/
	@Scripts/build

install: ## install the release into /usr/local (PREFIX=, DESTDIR=)
	@Scripts/install

uninstall: ## remove the installation (same PREFIX=, DESTDIR=)
	@Scripts/install --uninstall

dist: ## build a tarball that runs without a Swift toolchain
	@Scripts/dist

deb: ## build it, and packages for Debian and Ubuntu
	@Scripts/deb

release: ## build both, with SHA256SUMS and a list of what is in them (SPDX)
	@Scripts/release

test: ## run all tests and count them (ONLY=search for those in files with this word in their path)
	@Scripts/test

test-portable: ## build and test without libzip, brotli, zstd and RE2, as for iOS
	@Scripts/test-portable

test-capture: ## test saving with the real tools that make setup-capture installs
	@Scripts/test-capture

soak: ## run long tests with large archives, about 4 hours (ONLY="35-clients"; Scripts/soak --list)
	@Scripts/soak

fuzz: ## fuzz the readers (MINUTES=1 each, READER=zip for one)
	@Scripts/fuzz

sanitize: ## run the Swift tests under AddressSanitizer and ThreadSanitizer, an hour or more
	@Scripts/sanitize

bench: ## compare performance with other programs (ONLY=quick for 5 minutes; Scripts/bench --list)
	@Scripts/bench

bench-compare: ## build an earlier commit, and measure what has changed since (BASE=COMMIT)
	@Scripts/bench compare

docs: ## build the documentation of the libraries in .build/docs/
	@Scripts/docs

setup: ## install system packages and the replay engine (ENGINE_DIR=, ENGINE=pinned)
	@Scripts/setup

setup-capture: ## build what saving needs, and install its tools; asks first (YES=1)
	@Scripts/setup-capture

format: ## format the Swift sources in place
	@swift format --in-place --parallel --recursive Package.swift ShareKit Sources Tests Examples Fuzz

lint: ## check the format of the Swift sources
	@swift format lint --strict --parallel --recursive Package.swift ShareKit Sources Tests Examples Fuzz

clean: ## remove .build/; keeps archives/, www/vendor/ and .venv/
	@rm -rf .build
