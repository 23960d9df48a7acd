# Packages for other build systems (docs/packages.md). The Makefile includes this file.

.PHONY: packages packages-test release arduino
PACKAGE_TOOLS := python3 libstb-dev git

# Python's wheel contains machine code: its bytes are the same for the same compiler.
packages: build/nnrt build/single python
	@sh tools/need.sh $(PACKAGE_TOOLS)
	@mkdir -p build/packages && rm -rf build/packages/*
	@$(PYTHON) -B tools/packages.py --nnrt $< build/packages
	@cp build/python/*.whl build/packages

# The library for the Arduino IDE, with a sketch.
arduino: build/nnrt build/single
	@sh tools/need.sh $(PACKAGE_TOOLS)
	@$(PYTHON) -B tools/packages.py --nnrt $< --only arduino build/packages

# What prevents a release of this tree. It compares the results of the last make test.
release: packages
	@$(PYTHON) -B tools/packages.py --release build/packages build/results

# The quick parts. The others take minutes, or packages of 1 GB.
PARTS_QUICK := same rules meson cargo arduino
NEEDS_packages := $(PACKAGE_TOOLS) python3-yaml meson ninja-build cargo gcc-arm-none-eabi libnewlib-arm-none-eabi
suite-packages: build/nnrt build/single
	$(SUITE) sh tests/source/test_packages.sh $< $(PARTS_QUICK)

# PARTS="meson cargo": some of them.
PARTS_ALL := $(PARTS_QUICK) formats arduino-builder bazel debian wheel java msvc
packages-test: build/nnrt build/single $(PYTHON_SITE)/nnrt/__init__.py
	@sh tools/need.sh $(NEEDS_packages) clang g++ cmake pkgconf arduino-builder arduino-core-avr qemu-system-arm \
	    bazel-bootstrap debhelper lintian libjpeg-dev python3-kconfiglib python3-pip python3-numpy default-jdk-headless \
	    mingw-w64-x86-64-dev
	@sh tests/source/test_packages.sh $< $(or $(PARTS),$(PARTS_ALL))
