# The Python package. The Makefile includes this file.

.PHONY: python python-test python-bench FORCE
PYTHON_PACKAGES := gcc libc6-dev libstb-dev python3 python3-dev python3-numpy python3-setuptools python3-pip python3-wheel
PYTHON_SITE := build/python/site

python: $(PYTHON_SITE)/nnrt/__init__.py
	@ls build/python/*.whl

PIP := -q --no-deps --no-index --disable-pip-version-check

# warnings in headers of Python and numpy are not ours
PYTHON_SYSTEM = $(shell $(PYTHON) -c 'import sysconfig, numpy; print("-isystem", sysconfig.get_path("include"), "-isystem", numpy.get_include())')

# The files in the wheel have the time of the last commit: after another one the wheel is built again.
build/python/time: FORCE
	@mkdir -p $(@D)
	@echo $${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 315532800)} >$@.new
	@cmp -s $@.new $@ || cp $@.new $@
FORCE:

# pip builds a wheel with the packages of the system, and installs it into a folder, as in a new environment. The object is
# that of the command line. umask: the wheel contains the permissions of its files.
$(PYTHON_SITE)/nnrt/__init__.py: build/implementation.o build/python/time $(TOOL) $(wildcard bindings/python/*.* bindings/python/nnrt/*)
	@sh tools/need.sh $(PYTHON_PACKAGES)
	@rm -rf $(PYTHON_SITE) build/python/*.whl build/python/temp
	@umask 022; SOURCE_DATE_EPOCH=$$(cat build/python/time) NNRT_OBJECT='$(CURDIR)/$<' CFLAGS='$(WARNINGS) $(WERROR)' CPPFLAGS='$(CPPFLAGS) $(IMPLEMENTED) $(PYTHON_SYSTEM)' \
	    $(PYTHON) -m pip wheel $(PIP) --no-build-isolation -w build/python ./bindings/python
	@$(PYTHON) -m pip install $(PIP) --root-user-action=ignore --target $(PYTHON_SITE) build/python/*.whl
	@touch $@

python-test: $(PYTHON_SITE)/nnrt/__init__.py
	@sh tools/need.sh python3-onnx libonnx-testdata
	@sh tests/kit/onnx_data.sh >/dev/null
	@PYTHONPATH=$(PYTHON_SITE) $(PYTHON) -B tests/bindings/python/run.py

NEEDS_python := $(PYTHON_PACKAGES) python3-onnx libonnx-testdata
# after the suite that downloads the tests of onnx 1.20
suite-python: $(PYTHON_SITE)/nnrt/__init__.py | $(filter suite-onnx-nodes,$(ONLY:%=suite-%))
	$(SUITE) env PYTHONPATH=$(PYTHON_SITE) $(PYTHON) -B tests/bindings/python/run.py

build/python/bench: tests/bindings/python/bench.c build/implementation.o
	@$(COMPILE) $(IMPLEMENTED) $(LDFLAGS) -o $@ $^ $(LIBS) -lpthread

# onnxruntime-node: if make compare has fetched it
python-bench: $(PYTHON_SITE)/nnrt/__init__.py build/python/bench
	@sh tools/need.sh python3-onnx
	@PYTHONPATH=$(PYTHON_SITE):tests/bindings/python $(PYTHON) -B tests/bindings/python/bench.py build/python/bench build/compare/node_modules
