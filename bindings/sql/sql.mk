# nnrt in SQLite and PostgreSQL: the extensions, their tests. The Makefile includes this file.

.PHONY: sql sql-install sql-test
SQL := build/sql
SQL_PACKAGES := gcc libc6-dev libstb-dev libsqlite3-dev postgresql postgresql-server-dev-all
# of the newest installed server; the libraries of clients have a program of that name
PG_CONFIG = $(shell ls -v /usr/lib/postgresql/*/bin/pg_config 2>/dev/null | tail -n 1)

sql: $(SQL)/nnrt_sqlite.so $(SQL)/nnrt_postgres.so
	@ls -l $^

.PHONY: sql-packages
sql-packages:
	@sh tools/need.sh $(SQL_PACKAGES)

# Only the entry points are exported; the object of the command line is linked, which is not compiled with -fPIC.
$(SQL)/nnrt_sqlite.so: EXPORTS := sqlite3_nnrtsqlite_init
$(SQL)/nnrt_postgres.so: EXPORTS := _PG_init; Pg_magic_func; pg_nnrt_*; pg_finfo_*
$(SQL)/nnrt_postgres.so: private SQL_FLAGS = -isystem $(shell $(PG_CONFIG) --includedir-server)
$(SQL)/%.so: bindings/sql/%.c bindings/sql/nnrt_sql.h tools/common/language.h bindings/sql/sql.mk build/implementation.o | sql-packages
	@mkdir -p $(@D)
	@echo '{ global: $(EXPORTS); local: *; };' >$@.map
	@$(COMPILE) $(SQL_FLAGS) -fPIC $(IMPLEMENTED) -shared -Wl,--version-script=$@.map $(LDFLAGS) -o $@ $< build/implementation.o $(LIBS) -lpthread

# The folders of the server below DESTDIR; the extension of SQLite in lib below PREFIX.
sql-install: sql
	@install -d '$(DESTDIR)$(PREFIX)/lib' '$(DESTDIR)$(shell $(PG_CONFIG) --pkglibdir)' '$(DESTDIR)$(shell $(PG_CONFIG) --sharedir)/extension'
	@install -m 644 $(SQL)/nnrt_sqlite.so '$(DESTDIR)$(PREFIX)/lib'
	@install -m 755 $(SQL)/nnrt_postgres.so '$(DESTDIR)$(shell $(PG_CONFIG) --pkglibdir)'
	@install -m 644 bindings/sql/nnrt.control bindings/sql/nnrt--1.0.sql '$(DESTDIR)$(shell $(PG_CONFIG) --sharedir)/extension'

# The extension of SQLite with sanitizers and a small limit; the program that loads it preloads their library.
$(SQL)/asan/nnrt_sqlite.so: bindings/sql/nnrt_sqlite.c bindings/sql/nnrt_sql.h tools/common/language.h bindings/sql/sql.mk $(HEADERS) | sql-packages
	@mkdir -p $(@D)
	@clang -std=c99 $(WARNINGS) -Werror $(SANITIZE) -shared-libsan -O0 -g1 -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0 -DNNRT_IMPLEMENTATION \
	    -DNNRT_SQL_MEMORY=160 -I. $(CPPFLAGS) -fPIC -fvisibility=hidden -shared -o $@ $< $(LIBS)

sql-test: $(SQL)/asan/nnrt_sqlite.so build/nnrt
	@sh tools/need.sh clang libclang-rt-dev python3 python3-numpy python3-onnx python3-psycopg2 libonnx-testdata sqlite3 locales
	@rm -rf $(SQL)/root
	@$(MAKE) --no-print-directory sql-install DESTDIR='$(CURDIR)/$(SQL)/root' PREFIX=/usr/local
	@$(PYTHON) -B tests/bindings/sql_test.py $(SQL)/root $(SQL)/asan/nnrt_sqlite.so "$$($(PG_CONFIG) --bindir)"
