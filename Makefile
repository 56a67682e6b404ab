# The front door: make, make demo, make check (quick), make test (everything), make install,
# make web (the page), make blender (the add-on), make dist (a release).
# CMakeLists.txt does the work.
PREFIX ?= /usr/local

.PHONY: all demo check test soak numbers numbers-full benchmarks mutants coverage bench web blender install dist format clean

all:
	@scripts/setup.sh build
	@scripts/configure.sh build
	@echo "built: build/yawara (try: build/yawara --help)"

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

check:
	@scripts/setup.sh test
	@scripts/test.sh quick

test:
	@scripts/setup.sh test
	@scripts/setup.sh web || echo "without these packages the page is not tested"
	@scripts/setup.sh blender || echo "without this package the add-on is not tested in Blender"
	@scripts/test.sh

# PARTS="kills fuzz" and MINUTES=10 choose: scripts/soak.py.
soak:
	@scripts/setup.sh test
	@scripts/soak.py $(PARTS) $(if $(MINUTES),--minutes $(MINUTES))

numbers: all
	@scripts/write_papers.py

benchmarks: all
	@scripts/write_benchmarks.py

numbers-full: all
	@scripts/write_papers.py --full saida2017

mutants:
	@scripts/setup.sh test
	@scripts/configure.sh build -DYW_BUILD_TESTS=ON
	@scripts/mutate.py --quick

bench: all
	build/yawara bench

web:
	@scripts/setup.sh web
	@scripts/web.sh
	@echo "built: out/web, for any web server"

blender:
	@scripts/blender.sh
	@echo "built: out/yawara_blender.zip (Blender: Edit > Preferences > Add-ons > Install)"

install: all
	cmake --install build --prefix $(DESTDIR)$(PREFIX)

dist: all
	@scripts/dist.sh

coverage:
	@scripts/setup.sh test
	@scripts/coverage.py

format:
	clang-format -i $$(find include src apps studies tests examples web/core -name '*.[ch]' -o -name '*.cpp')

clean:
	rm -rf build out
