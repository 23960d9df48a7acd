# nnrt batch on many machines, MPI, Fortran: the Makefile includes this file.

.PHONY: mpi fortran batch-test batch-bench
mpi: build/nnrt-mpi

build/nnrt-mpi: tools/nnrt_mpi.c build/implementation.o $(TOOL) | stb
	@sh tools/need.sh libopenmpi-dev openmpi-bin
	OMPI_CC='$(CC)' mpicc -std=c99 $(WARNINGS) $(WERROR) -I. $(CPPFLAGS) $(CFLAGS) $(IMPLEMENTED) $(LDFLAGS) -o $@ $< build/implementation.o $(JPEG) $(LIBS) -lpthread

FORTRAN := gfortran -std=f2018 -Wall -Wextra -Werror -O2 -Jbuild/fortran -Ibuild/fortran
fortran: build/fortran/example build/fortran/test

build/fortran/nnrt.o: bindings/fortran/nnrt.f90 bindings/fortran/nnrt_fortran.c build/implementation.o
	@sh tools/need.sh gfortran
	@mkdir -p $(@D)
	$(COMPILE) $(IMPLEMENTED) -c -o build/fortran/nnrt_fortran.o bindings/fortran/nnrt_fortran.c
	$(FORTRAN) -c -o $@ $<

build/fortran/example build/fortran/test: build/fortran/%: bindings/fortran/%.f90 build/fortran/nnrt.o
	$(FORTRAN) -o $@ $< build/fortran/nnrt.o build/fortran/nnrt_fortran.o build/implementation.o $(LIBS) -lpthread

batch-test: build/nnrt build/nnrt-mpi build/fortran/example build/fortran/test $(PYTHON_SITE)/nnrt/__init__.py
	@sh tools/need.sh python3-numpy python3-onnx python3-distributed openmpi-bin slurm-wlm munge
	@timeout 600 $(PYTHON) -B tests/tools/batch_test.py

# Two ranks of MPI relative to one, and eight, of which one is killed at any time. The pictures take 3.2 KB each, below TMPDIR.
PICTURES ?= 1000000
batch-bench: build/nnrt-mpi
	@sh tools/need.sh python3-numpy python3-onnx openmpi-bin
	@$(PYTHON) -B tests/tools/batch_test.py bench '$(PICTURES)'
