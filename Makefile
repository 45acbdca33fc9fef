# Each target runs one script or one swift command. `make` lists them.
# Variables: PORT=8081 for run; ENGINE_DIR=DIR and ENGINE=pinned for setup; PREFIX=DIR and DESTDIR=DIR for install and uninstall;
# MINUTES=5 and READER=zip for fuzz; ONLY=PART for soak and bench.
export PORT ENGINE_DIR ENGINE PREFIX DESTDIR MINUTES READER ONLY

.PHONY: help run build install uninstall dist test test-portable soak fuzz sanitize bench docs setup format lint clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

run: ## set up, build, import the sample archive, serve it on http://localhost:8080 (PORT=)
	@Scripts/run

build: ## set up and build a release into .build/release/
	@Scripts/build

install: ## install the build into /usr/local (PREFIX=, DESTDIR=)
	@Scripts/install

uninstall: ## remove what `make install` installed (the same PREFIX=, DESTDIR=)
	@Scripts/install --uninstall

dist: ## make a tarball for machines without Swift, and print its path
	@Scripts/dist

test: ## run all tests: Swift and browsers; ends with the number of tests
	@Scripts/test

test-portable: ## build and test without libzip, brotli, zstd and RE2, as for iOS
	@Scripts/test-portable

soak: ## run long tests with large archives, about 4 hours (ONLY=35-clients for some; Scripts/soak --list)
	@Scripts/soak

fuzz: ## fuzz the readers (MINUTES=1 for each, READER=zip for one)
	@Scripts/fuzz

sanitize: ## run the Swift tests with AddressSanitizer and ThreadSanitizer; takes an hour or more
	@Scripts/sanitize

bench: ## compare with pywb; needs `make build`, time and disk space (ONLY= and --list as for soak)
	@Scripts/bench

docs: ## build the documentation of the libraries into .build/docs/
	@Scripts/docs

setup: ## install system packages and the replay engine (ENGINE_DIR=, ENGINE=pinned)
	@Scripts/setup

format: ## format the Swift sources
	@swift format --in-place --parallel --recursive Package.swift Sources Tests Examples Fuzz

lint: ## check the format of the Swift sources
	@swift format lint --strict --parallel --recursive Package.swift Sources Tests Examples Fuzz

clean: ## delete .build/; keeps archives/, www/vendor/ and .venv/
	@rm -rf .build
