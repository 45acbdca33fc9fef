# Each target is one script or one swift command; `make` alone lists them.
# PORT=8081 passes a port to run; ENGINE_DIR=DIR and ENGINE=pinned pass to setup; PREFIX=DIR and DESTDIR=DIR to install;
# MINUTES=5 and READER=zip to fuzz; ONLY=PART to soak and bench.
export PORT ENGINE_DIR ENGINE PREFIX DESTDIR MINUTES READER ONLY

.PHONY: help run build install uninstall dist test test-portable soak fuzz sanitize bench docs setup format lint clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

run: ## set up, build, import the sample archive, serve it on http://localhost:8080 (PORT=)
	@Scripts/run

build: ## set up and build a release into .build/release/
	@Scripts/build

install: ## install what `make build` built into /usr/local (PREFIX=, DESTDIR=)
	@Scripts/install

uninstall: ## take that away again (the same PREFIX=, DESTDIR=)
	@Scripts/install --uninstall

dist: ## a tarball that runs where there is no toolchain; says where it is
	@Scripts/dist

test: ## all tests: Swift and browser; ends with the count
	@Scripts/test

test-portable: ## build and test without libzip, brotli, zstd and RE2, as for iOS
	@Scripts/test-portable

soak: ## long tests with large archives, about 4 hours; ONLY="35-clients" runs some, Scripts/soak --list names them
	@Scripts/soak

fuzz: ## feed hostile input to the readers (MINUTES=1 for each, READER=zip for one)
	@Scripts/fuzz

sanitize: ## the Swift tests under AddressSanitizer and ThreadSanitizer; takes an hour or more
	@Scripts/sanitize

bench: ## measure beside pywb; needs `make build`, time and disk; ONLY= and --list as for soak
	@Scripts/bench

docs: ## the libraries' documentation, into .build/docs/
	@Scripts/docs

setup: ## system packages and the replay engine (ENGINE_DIR=, ENGINE=pinned)
	@Scripts/setup

format: ## format the Swift sources in place
	@swift format --in-place --parallel --recursive Package.swift Sources Tests Examples Fuzz

lint: ## check the format of the Swift sources
	@swift format lint --strict --parallel --recursive Package.swift Sources Tests Examples Fuzz

clean: ## remove what was built; keeps archives/, www/vendor/ and .venv/
	@rm -rf .build
