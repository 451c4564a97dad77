# The commands of this repository. `make` lists them; each installs what it needs and is quick when run again.
SHELL := /bin/sh
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS ?= 60
SEEDS ?= 5
SOURCES ?= G R
SAMPLE ?= examples/samples/generated_slow_input.json.gz
REPORT ?= report.html
CPP = $(shell git ls-files --cached --others --exclude-standard '*.h' '*.cpp')

.PHONY: help demo test wheel bench explain-bench format lint fuzz docs goldens dev clean

help:  ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do printf '  make %-13s %s\n' "$$name" "$$what"; done

demo:  ## build the program and run `stepscope report` on a bundled sample
	@tools/install-deps.sh build
	@cmake --preset release -DSTEPSCOPE_TESTS=OFF -DSTEPSCOPE_BENCH=OFF >/dev/null
	@cmake --build --preset release -j $(JOBS) --target stepscope
	build/release/stepscope report $(SAMPLE)
	@build/release/stepscope report $(SAMPLE) -o $(REPORT)
	@test -s $(REPORT) && echo "The report is in $(REPORT): open it in a browser."

test:  ## build with checks on and run all tests but the Python package's
	@tools/install-deps.sh test
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS)
	@STEPSCOPE_MUTANTS=$${STEPSCOPE_MUTANTS:-100} STEPSCOPE_CUTS=$${STEPSCOPE_CUTS:-40} ctest --test-dir build/dev --timeout 600 -j $(JOBS) --output-on-failure --progress

wheel:  ## build wheels into build/wheels and test them with the oldest and the newest Python
	@JOBS=$(JOBS) tools/wheel.sh
	@tools/wheel-test.sh

bench:  ## measure reading, analysing and recording
	@test -x bench/run.sh || { echo "make bench: bench/run.sh is missing from this checkout" >&2; exit 1; }
	@tools/install-deps.sh test
	@bench/run.sh; status=$$?; python3 tools/copy_figures.py; exit $$status

explain-bench:  ## plant causes, score the advice: SEEDS=5 SOURCES="G R"
	@tools/install-deps.sh test
	@bench/explain/run.sh --seeds $(SEEDS) --sources "$(SOURCES)"; status=$$?; python3 tools/copy_figures.py; exit $$status

format:  ## format the C++ files with .clang-format
	@tools/install-deps.sh dev
	@clang-format-19 -i $(CPP)

lint:  ## clang-format, clang-tidy and the ladder; changes nothing; DEEP=1 adds the static analyzer
	@tools/install-deps.sh dev
	@clang-format-19 --dry-run -Werror $(CPP)
	@python3 test/tools/check_ladder.py
	@JOBS=$(JOBS) tools/tidy.sh

fuzz:  ## fuzz every reader for SECONDS (60) each, from test/corpus
	@tools/install-deps.sh dev
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan -j $(JOBS) --target fuzzers
	@SECONDS_EACH=$(SECONDS) tools/run-fuzzers.sh

docs: dev  ## write docs/analyses.md, advice.md and commands.md from the program, figures from bench/
	@for page in analyses advice commands; do build/dev/stepscope docs $$page > docs/$$page.md || exit 1; done
	@python3 tools/copy_figures.py

goldens: dev  ## write test/golden and test/wording from the program's output; review the diff
	@python3 test/golden/goldens.py build/dev/stepscope --write
	@python3 test/wording/wording.py build/dev/stepscope --write

dev:
	@tools/install-deps.sh test
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS) --target stepscope

clean:  ## remove everything that was built
	@rm -rf build $(REPORT)
