# Each of these works alone and in any order; a second run does no work twice. `make check CHECK=--all` looks at every file.
.PHONY: setup build demo test test-full check clean

setup:
	@tools/setup

build:
	@tools/setup --programs
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target attend_built

demo: build
	@tools/demo

test: setup
	@cmake --preset release -DATTEND_TESTS=ON -DATTEND_PYTHON_MODULE=ON >/dev/null
	@cmake --build --preset release
	@status=0; for part in "-L fast" "-LE fast|full"; do \
	  ctest --test-dir build --output-on-failure -j $$(nproc) $$part || status=1; tools/list_skipped build; \
	done; exit $$status

test-full: test
	@tools/test_full

check: setup
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev --target attend_version
	@tools/check $(CHECK)

clean:
	rm -rf build build-*
