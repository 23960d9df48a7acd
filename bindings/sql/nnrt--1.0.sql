-- The functions of nnrt_postgres.c: docs/sql.md. An argument for each input: bytea, a number, or an array of numbers.
-- VOLATILE, because a file may change; COST in units of cpu_operator_cost, so that the planner evaluates them last.
\echo Use "CREATE EXTENSION nnrt" to load this file. \quit

CREATE FUNCTION nnrt_run(model text, VARIADIC inputs "any") RETURNS real[]
    AS 'MODULE_PATHNAME', 'pg_nnrt_run' LANGUAGE C STRICT VOLATILE PARALLEL SAFE COST 10000;

CREATE FUNCTION nnrt_run_bytea(model text, VARIADIC inputs "any") RETURNS bytea
    AS 'MODULE_PATHNAME', 'pg_nnrt_run_bytea' LANGUAGE C STRICT VOLATILE PARALLEL SAFE COST 10000;

CREATE FUNCTION nnrt_run_all(model text, VARIADIC inputs "any") RETURNS jsonb
    AS 'MODULE_PATHNAME', 'pg_nnrt_run_all' LANGUAGE C STRICT VOLATILE PARALLEL SAFE COST 10000;

CREATE FUNCTION nnrt_argmax(model text, VARIADIC inputs "any") RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_nnrt_argmax' LANGUAGE C STRICT VOLATILE PARALLEL SAFE COST 10000;

CREATE FUNCTION nnrt_embed(model text, content text) RETURNS real[]
    AS 'MODULE_PATHNAME', 'pg_nnrt_embed' LANGUAGE C STRICT VOLATILE PARALLEL SAFE COST 100000;

CREATE FUNCTION nnrt_embed(model text, content text, tokenizer text) RETURNS real[]
    AS 'MODULE_PATHNAME', 'pg_nnrt_embed' LANGUAGE C STRICT VOLATILE PARALLEL SAFE COST 100000;

CREATE FUNCTION nnrt_cosine(a real[], b real[]) RETURNS double precision
    AS 'MODULE_PATHNAME', 'pg_nnrt_cosine' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 100;

CREATE FUNCTION nnrt_info(model text) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'pg_nnrt_info' LANGUAGE C STRICT VOLATILE PARALLEL SAFE COST 10000;
