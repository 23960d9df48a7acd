/* The ONNX reader against the onnx package (data/onnx_reader_expected.txt, written by the script next to it) on the test data
   that Debian installs with libonnx-testdata, and against damaged and hostile bytes. Run from the root of the repository, or
   with NNRT_TEST_DATA set to the folder tests/formats/data. NNRT_ONNX_TESTDATA is the folder of the test data; without it, tests that
   need them are skipped. Run with the address and undefined behavior sanitizers. */
#define _XOPEN_SOURCE 700
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "inside.h"

#include "formats/nnrt_onnx.h"

#ifndef NNRT_ONNX_REALPATH /* as tests/kit/nnrt.c has it */
#if defined(__unix__) || defined(__APPLE__)
#define NNRT_ONNX_REALPATH 1
#else
#define NNRT_ONNX_REALPATH 0
#endif
#endif

/* ---- an allocator that counts, and fails at one call ---- */

typedef struct counter {
    size_t live, calls, failAt, largest; /* failAt: the call, from 1, that fails; 0: none */
} counter;

static void *counter_alloc(void *user, size_t size, size_t alignment) {
    counter *c = (counter *)user;
    void *p;
    assert_true(size > 0 && alignment > 0 && alignment <= NNRT_ALIGNMENT);
    if (++c->calls == c->failAt) {
        return NULL;
    }
    p = malloc(size);
    if (p != NULL) {
        c->live += size;
        c->largest = size > c->largest ? size : c->largest;
        memset(p, 0xA5, size);
    }
    return p;
}

static void counter_free(void *user, void *p, size_t size) {
    counter *c = (counter *)user;
    assert_true(size <= c->live);
    c->live -= size;
    free(p);
}

static nnrt_allocator counter_allocator(counter *c) {
    nnrt_allocator a;
    memset(c, 0, sizeof(*c));
    a.alloc = counter_alloc;
    a.free = counter_free;
    a.user = c;
    return a;
}

/* ---- a CRC-32 over everything that was read: the same stream as in onnx_reader_expected.py ---- */

static uint32_t crc_add(uint32_t crc, const void *data, size_t bytes) {
    static uint32_t table[256];
    const uint8_t *p = (const uint8_t *)data;
    size_t i;
    int k;
    if (table[1] == 0) {
        for (i = 0; i < 256; i++) {
            table[i] = (uint32_t)i;
            for (k = 0; k < 8; k++) {
                table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
            }
        }
    }
    crc = ~crc;
    for (i = 0; i < bytes; i++) {
        crc = crc >> 8 ^ table[(crc ^ p[i]) & 255];
    }
    return ~crc;
}

/* A copy of numbers of width bytes, at most 64 bytes in all, with their lowest byte first as in files. */
static const uint8_t *little(const void *numbers, size_t bytes, size_t width) {
    static uint8_t copy[64];
    const uint16_t one = 1;
    size_t i, last = *(const uint8_t *)&one == 1 ? 0 : width - 1;
    for (i = 0; i < bytes; i++) {
        copy[i] = ((const uint8_t *)numbers)[i ^ last];
    }
    return copy;
}

static void feed_numbers(uint32_t *crc, const void *numbers, size_t bytes, size_t width) {
    size_t i;
    for (i = 0; i < bytes; i += width) {
        *crc = crc_add(*crc, little((const uint8_t *)numbers + i, width, width), width);
    }
}

/* Bytes of a number of a tensor's type; a complex one is two of them. */
static size_t number_width(int32_t dataType) {
    switch (dataType) {
    case NNRT_ONNX_FLOAT16: case NNRT_ONNX_BFLOAT16: case NNRT_ONNX_INT16: case NNRT_ONNX_UINT16: return 2;
    case NNRT_ONNX_FLOAT: case NNRT_ONNX_INT32: case NNRT_ONNX_UINT32: case NNRT_ONNX_COMPLEX64: return 4;
    case NNRT_ONNX_DOUBLE: case NNRT_ONNX_INT64: case NNRT_ONNX_UINT64: case NNRT_ONNX_COMPLEX128: return 8;
    default: return 1;
    }
}

static void feed_num(uint32_t *crc, int64_t value) {
    uint8_t bytes[8];
    int i;
    for (i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)((uint64_t)value >> (8 * i));
    }
    *crc = crc_add(*crc, bytes, 8);
}

static void feed_text(uint32_t *crc, nnrt_onnx_str s) {
    feed_num(crc, (int64_t)s.length);
    *crc = crc_add(*crc, s.data, s.length);
}

static void feed_texts(uint32_t *crc, nnrt_onnx_strs s) {
    size_t i;
    feed_num(crc, (int64_t)s.count);
    for (i = 0; i < s.count; i++) {
        feed_text(crc, s.data[i]);
    }
}

static void feed_nums(uint32_t *crc, nnrt_onnx_ints s) {
    size_t i;
    feed_num(crc, (int64_t)s.count);
    for (i = 0; i < s.count; i++) {
        feed_num(crc, s.data[i]);
    }
}

/* Largest tensor that the digest reads; no tensor of the test data has more. */
#define DIGEST_BYTES ((size_t)1 << 26)

/* strict: the file is sound, so its elements must be readable. */
static void feed_tensor(uint32_t *crc, const nnrt_onnx_tensor *t, int strict) {
    nnrt_error error;
    nnrt_onnx_external external;
    size_t bytes = 0;
    memset(&error, 0, sizeof(error));
    feed_text(crc, t->name);
    feed_nums(crc, t->dims);
    feed_num(crc, t->dataType);
    feed_num(crc, t->dataLocation);
    feed_texts(crc, t->stringData);
    feed_num(crc, (int64_t)t->externalData.count);
    if (t->dataLocation != 0) {
        (void)nnrt_onnx_tensor_external(t, &external, &error);
    } else if (t->dataType != NNRT_ONNX_STRING && nnrti_onnx_tensor_bytes(t, &bytes, &error) == NNRT_SUCCESS &&
               bytes <= DIGEST_BYTES) {
        uint8_t *out = (uint8_t *)malloc(bytes + 1);
        NNRT_ReturnCode rc = nnrti_onnx_tensor_read(t, out + 1, bytes, &error); /* +1: not aligned */
        if (rc == NNRT_SUCCESS) {
            feed_numbers(crc, out + 1, bytes, number_width(t->dataType));
        }
        free(out);
        if (strict && rc != NNRT_SUCCESS) {
            fail_msg("%s", error.message);
        }
    }
}

static void feed_value_infos(uint32_t *crc, nnrt_onnx_value_infos values) {
    size_t i, k;
    feed_num(crc, (int64_t)values.count);
    for (i = 0; i < values.count; i++) {
        const nnrt_onnx_value_info *v = &values.data[i];
        feed_text(crc, v->name);
        feed_num(crc, v->kind);
        if (v->kind != NNRT_ONNX_KIND_TENSOR) {
            continue;
        }
        feed_num(crc, v->elemType);
        feed_num(crc, v->hasShape != 0);
        feed_num(crc, (int64_t)v->dims.count);
        for (k = 0; k < v->dims.count; k++) {
            feed_num(crc, v->dims.data[k].kind);
            feed_num(crc, v->dims.data[k].value);
            feed_text(crc, v->dims.data[k].param);
        }
    }
}

static void feed_graph(uint32_t *crc, const nnrt_onnx_graph *g, int strict);

static void feed_attribute(uint32_t *crc, const nnrt_onnx_attribute *a, int strict) {
    feed_text(crc, a->name);
    feed_num(crc, a->type);
    feed_numbers(crc, &a->f, sizeof(a->f), sizeof(float));
    feed_num(crc, a->i);
    feed_text(crc, a->s);
    feed_num(crc, a->t != NULL);
    if (a->t != NULL) {
        feed_tensor(crc, a->t, strict);
    }
    feed_num(crc, a->g != NULL);
    if (a->g != NULL) {
        feed_graph(crc, a->g, strict);
    }
    feed_num(crc, (int64_t)a->floats.count);
    feed_numbers(crc, a->floats.data, a->floats.count * sizeof(float), sizeof(float));
    feed_nums(crc, a->ints);
    feed_texts(crc, a->strings);
    feed_text(crc, a->refAttrName);
    feed_num(crc, (int64_t)a->otherCount);
}

static void feed_graph(uint32_t *crc, const nnrt_onnx_graph *g, int strict) {
    size_t i, k;
    feed_text(crc, g->name);
    feed_num(crc, (int64_t)g->nodes.count);
    for (i = 0; i < g->nodes.count; i++) {
        const nnrt_onnx_node *n = &g->nodes.data[i];
        feed_texts(crc, n->inputs);
        feed_texts(crc, n->outputs);
        feed_text(crc, n->name);
        feed_text(crc, n->opType);
        feed_text(crc, n->domain);
        feed_num(crc, (int64_t)n->attributes.count);
        for (k = 0; k < n->attributes.count; k++) {
            feed_attribute(crc, &n->attributes.data[k], strict);
        }
    }
    feed_num(crc, (int64_t)g->initializers.count);
    for (i = 0; i < g->initializers.count; i++) {
        feed_tensor(crc, &g->initializers.data[i], strict);
    }
    feed_value_infos(crc, g->inputs);
    feed_value_infos(crc, g->outputs);
    feed_value_infos(crc, g->valueInfo);
    feed_num(crc, (int64_t)g->sparseInitializerCount);
}

static uint32_t model_crc(const nnrt_onnx_model *m, int strict) {
    uint32_t crc = 0;
    size_t i;
    feed_num(&crc, m->irVersion);
    feed_text(&crc, m->producerName);
    feed_text(&crc, m->producerVersion);
    feed_text(&crc, m->domain);
    feed_num(&crc, m->modelVersion);
    feed_num(&crc, (int64_t)m->opsetImport.count);
    for (i = 0; i < m->opsetImport.count; i++) {
        feed_text(&crc, m->opsetImport.data[i].domain);
        feed_num(&crc, m->opsetImport.data[i].version);
    }
    feed_num(&crc, (int64_t)m->functions.count);
    feed_num(&crc, (int64_t)m->metadataProps.count);
    for (i = 0; i < m->metadataProps.count; i++) {
        feed_text(&crc, m->metadataProps.data[i].key);
        feed_text(&crc, m->metadataProps.data[i].value);
    }
    feed_graph(&crc, m->graph, strict);
    return crc;
}

/* ---- the test data ---- */

static const char *testdata(void) {
    const char *folder = getenv("NNRT_ONNX_TESTDATA");
    return folder ? folder : "/usr/share/libonnx-testdata/data";
}

static const char *expected_folder(void) {
    const char *folder = getenv("NNRT_TEST_DATA");
    return folder ? folder : "tests/formats/data";
}

typedef struct paths {
    char (*data)[256];
    size_t count, room;
} paths;

/* Collects the .onnx and .pb files below testdata()/relative, as paths relative to testdata(). */
static void collect(paths *list, const char *relative) {
    char full[1024];
    struct dirent *entry;
    DIR *dir;
    snprintf(full, sizeof(full), "%s/%s", testdata(), relative);
    dir = opendir(full);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char path[600];
        size_t n = strlen(entry->d_name);
        struct stat info;
        snprintf(path, sizeof(path), "%s/%s", relative, entry->d_name);
        snprintf(full, sizeof(full), "%s/%s", testdata(), path);
        if (entry->d_name[0] == '.' || stat(full, &info) != 0) {
            continue;
        }
        if (S_ISDIR(info.st_mode)) {
            collect(list, path);
        } else if ((n > 5 && strcmp(entry->d_name + n - 5, ".onnx") == 0) ||
                   (n > 3 && strcmp(entry->d_name + n - 3, ".pb") == 0)) {
            if (list->count == list->room) {
                list->room = list->room ? 2 * list->room : 256;
                list->data = (char(*)[256])realloc(list->data, list->room * sizeof(list->data[0]));
            }
            assert_true(strlen(path) < 256);
            strcpy(list->data[list->count++], path);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp((const char *)a, (const char *)b);
}

static int have_testdata(void) {
    struct stat info;
    return stat(testdata(), &info) == 0;
}

/* The text of the expected file, in one static buffer. */
static char *expected_text(void) {
    static char text[65536];
    char path[1024];
    size_t n;
    FILE *f;
    snprintf(path, sizeof(path), "%s/onnx_reader_expected.txt", expected_folder());
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    assert_true(n < sizeof(text) - 1);
    text[n] = 0;
    return text;
}

/* Reads a file of the test data; the caller frees the bytes with nnrt_free(NULL, ...). */
static void *load(const char *relative, size_t *size) {
    char full[1024];
    void *data = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    snprintf(full, sizeof(full), "%s/%s", testdata(), relative);
    if (nnrti_file_bytes(full, NULL, &data, size, &error) != NNRT_SUCCESS) {
        fail_msg("%s", error.message);
    }
    return data;
}

/* Parses one file of the test data and gives the CRC of its content. The tables keep within the stated bound. */
static uint32_t file_crc(const char *relative, size_t totals[2]) {
    counter c;
    nnrt_allocator a = counter_allocator(&c);
    nnrt_error error;
    uint32_t crc = 0;
    size_t size, n = strlen(relative);
    void *data = load(relative, &size);
    NNRT_ReturnCode rc;
    memset(&error, 0, sizeof(error));
    if (relative[n - 1] == 'x') {
        nnrt_onnx_model *model;
        rc = nnrt_onnx_parse(data, size, &a, &model, &error);
        crc = rc == NNRT_SUCCESS ? model_crc(model, 1) : 0;
        nnrt_onnx_model_free(model);
        totals[0]++;
    } else {
        nnrt_onnx_tensor *tensor;
        rc = nnrt_onnx_parse_tensor(data, size, &a, &tensor, &error);
        if (rc == NNRT_SUCCESS) {
            feed_tensor(&crc, tensor, 1);
        }
        nnrt_onnx_tensor_free(tensor);
        totals[1]++;
    }
    if (rc != NNRT_SUCCESS) {
        fail_msg("%s: %s", relative, error.message);
    }
    assert_true(c.calls == 1 && c.live == 0 && c.largest <= NNRT_ONNX_MEMORY_FACTOR * size + NNRT_ONNX_MEMORY_FREE);
    nnrt_free(NULL, data, size);
    return crc;
}

/* A file that is neither model nor tensor: read as both, with whatever result. */
static void read_other(const char *relative) {
    nnrt_onnx_model *model;
    nnrt_onnx_tensor *tensor;
    uint32_t crc = 0;
    size_t size;
    void *data = load(relative, &size);
    if (nnrt_onnx_parse(data, size, NULL, &model, NULL) == NNRT_SUCCESS) {
        (void)model_crc(model, 0);
    }
    if (nnrt_onnx_parse_tensor(data, size, NULL, &tensor, NULL) == NNRT_SUCCESS) {
        feed_tensor(&crc, tensor, 0);
    }
    nnrt_onnx_model_free(model);
    nnrt_onnx_tensor_free(tensor);
    nnrt_free(NULL, data, size);
}

/* Every model and tensor of the test data is read with the same contents as by the onnx package: one CRC for each folder. */
static void test_all_testdata(void **state) {
    char *text, *line;
    (void)state;
    if (!have_testdata()) {
        skip();
    }
    text = expected_text();
    for (line = strstr(text, "\nfolder "); line != NULL; line = strstr(line + 1, "\nfolder ")) {
        paths list = { NULL, 0, 0 };
        char name[64], other[300];
        size_t i, models, tensors, totals[2] = { 0, 0 };
        uint32_t want, crc = 0;
        unsigned wantCrc;
        assert_int_equal(sscanf(line, "\nfolder %63s %zu %zu %x", name, &models, &tensors, &wantCrc), 4);
        want = wantCrc;
        collect(&list, name);
        qsort(list.data, list.count, sizeof(list.data[0]), by_text);
        for (i = 0; i < list.count; i++) {
            snprintf(other, sizeof(other), "other %s\n", list.data[i]);
            if (strstr(text, other) == NULL) {
                feed_num(&crc, file_crc(list.data[i], totals));
            } else {
                read_other(list.data[i]);
            }
        }
        free(list.data);
        print_message("%s: %zu models, %zu tensors, CRC %08x\n", name, totals[0], totals[1], (unsigned)crc);
        assert_int_equal(totals[0], models);
        assert_int_equal(totals[1], tensors);
        assert_int_equal(crc, want);
    }
}

static void assert_str(nnrt_onnx_str s, const char *want) {
    assert_int_equal(s.length, strlen(want));
    assert_memory_equal(s.data, want, s.length);
}

/* The sampled models, in the clear: counts, opsets, graph name, first operator. */
static void test_samples(void **state) {
    char *text, *line;
    int done = 0;
    (void)state;
    if (!have_testdata()) {
        skip();
    }
    text = expected_text();
    for (line = strstr(text, "model "); line != NULL; line = strstr(line + 1, "\nmodel ")) {
        char path[256], opsets[128], got[128] = "", graph[128], op[64];
        size_t i, n[5], size;
        long ir;
        unsigned crc;
        nnrt_onnx_model *m;
        void *data;
        assert_int_equal(sscanf(line, " model %255s %ld %127s %zu %zu %zu %zu %zu %127s %63s %x", path, &ir, opsets,
                                &n[0], &n[1], &n[2], &n[3], &n[4], graph, op, &crc), 11);
        data = load(path, &size);
        assert_int_equal(nnrt_onnx_parse(data, size, NULL, &m, NULL), NNRT_SUCCESS);
        assert_int_equal(m->irVersion, ir);
        for (i = 0; i < m->opsetImport.count; i++) {
            nnrt_onnx_str d = m->opsetImport.data[i].domain;
            size_t have = strlen(got);
            snprintf(got + have, sizeof(got) - have, "%s%.*s:%ld", i ? "," : "", d.length ? (int)d.length : 7,
                     d.length ? d.data : "ai.onnx", (long)m->opsetImport.data[i].version);
        }
        assert_string_equal(got, opsets);
        assert_int_equal(m->graph->nodes.count, n[0]);
        assert_int_equal(m->graph->initializers.count, n[1]);
        assert_int_equal(m->graph->inputs.count, n[2]);
        assert_int_equal(m->graph->outputs.count, n[3]);
        assert_int_equal(m->graph->valueInfo.count, n[4]);
        assert_str(m->graph->name, graph);
        assert_str(m->graph->nodes.data[0].opType, op);
        assert_int_equal(model_crc(m, 1), crc);
        nnrt_onnx_model_free(m);
        nnrt_free(NULL, data, size);
        done++;
    }
    assert_true(done >= 40);
}

/* ---- a writer of protobuf bytes, to make files that no exporter makes ---- */

typedef struct bytes {
    uint8_t data[65536];
    size_t size;
} bytes;

static void put_byte(bytes *b, unsigned value) {
    assert_true(b->size < sizeof(b->data));
    b->data[b->size++] = (uint8_t)value;
}

static void put_varint(bytes *b, uint64_t v) {
    for (; v >= 128; v >>= 7) {
        put_byte(b, (unsigned)(v & 127) | 128u);
    }
    put_byte(b, (unsigned)v);
}

static void put_number(bytes *b, unsigned field, int64_t value) {
    put_varint(b, (uint64_t)field << 3);
    put_varint(b, (uint64_t)value);
}

static void put_bytes(bytes *b, unsigned field, const void *data, size_t size) {
    size_t i;
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, size);
    for (i = 0; i < size; i++) {
        put_byte(b, ((const uint8_t *)data)[i]);
    }
}

static void put_string(bytes *b, unsigned field, const char *s) {
    put_bytes(b, field, s, strlen(s));
}

static void put_sub(bytes *b, unsigned field, const bytes *sub) {
    put_bytes(b, field, sub->data, sub->size);
}

static void put_pair(bytes *b, unsigned field, const char *key, const void *value, size_t size) {
    bytes pair;
    pair.size = 0;
    put_string(&pair, 1, key);
    put_bytes(&pair, 2, value, size);
    put_sub(b, field, &pair);
}

/* A float as an unpacked fixed32 field. */
static void put_float(bytes *b, unsigned field, float value) {
    uint32_t v;
    int i;
    memcpy(&v, &value, 4);
    put_varint(b, (uint64_t)field << 3 | 5);
    for (i = 0; i < 4; i++) {
        put_byte(b, v >> (8 * i) & 255);
    }
}

/* A tensor with dims (at most 4), type and name. */
static void put_tensor_head(bytes *b, const int64_t *dims, size_t rank, int32_t type, const char *name) {
    size_t i;
    for (i = 0; i < rank; i++) {
        put_number(b, 1, dims[i]);
    }
    put_number(b, 2, type);
    put_string(b, 8, name);
}

/* ValueInfoProto: float tensor of shape ["N", 3, unknown, -1]. */
static void make_value_info(bytes *b, const char *name) {
    bytes dim, shape, tensor, type;
    b->size = shape.size = tensor.size = type.size = 0;
    dim.size = 0, put_string(&dim, 2, "N"), put_sub(&shape, 1, &dim);
    dim.size = 0, put_number(&dim, 1, 3), put_sub(&shape, 1, &dim);
    dim.size = 0, put_sub(&shape, 1, &dim);
    dim.size = 0, put_number(&dim, 1, -1), put_sub(&shape, 1, &dim);
    put_number(&tensor, 1, 1);
    put_sub(&tensor, 2, &shape);
    put_sub(&type, 1, &tensor);
    put_string(b, 1, name);
    put_sub(b, 2, &type);
}

/* A node with one attribute of each kind, the graph attribute with a node of its own. */
static void make_node(bytes *b) {
    static const int64_t one = 1;
    static const uint8_t ints[] = { 1, 2, 0x80, 1 };
    bytes a, t, g, n;
    b->size = t.size = g.size = n.size = 0;
    put_string(b, 1, "x"), put_string(b, 1, ""), put_string(b, 2, "y");
    put_string(b, 3, "first"), put_string(b, 4, "Conv"), put_string(b, 7, "com.example");
    a.size = 0, put_string(&a, 1, "alpha"), put_float(&a, 2, 0.5f), put_number(&a, 20, 1), put_sub(b, 5, &a);
    a.size = 0, put_string(&a, 1, "axis"), put_number(&a, 3, -2), put_number(&a, 20, 2), put_sub(b, 5, &a);
    a.size = 0, put_string(&a, 1, "mode"), put_string(&a, 4, "SAME"), put_sub(b, 5, &a); /* no type: IR version 1 */
    put_tensor_head(&t, &one, 1, NNRT_ONNX_FLOAT, "t"), put_float(&t, 4, 1.5f);
    a.size = 0, put_string(&a, 1, "value"), put_sub(&a, 5, &t), put_number(&a, 20, 4), put_sub(b, 5, &a);
    put_string(&n, 4, "Relu"), put_sub(&g, 1, &n), put_string(&g, 2, "inner");
    a.size = 0, put_string(&a, 1, "body"), put_sub(&a, 6, &g), put_number(&a, 20, 5), put_sub(b, 5, &a);
    a.size = 0, put_string(&a, 1, "scales"), put_float(&a, 7, 1), put_float(&a, 7, 2), put_number(&a, 20, 6);
    put_sub(b, 5, &a);
    a.size = 0, put_string(&a, 1, "pads"), put_number(&a, 8, -1), put_bytes(&a, 8, ints, 4), put_number(&a, 8, 9);
    put_number(&a, 20, 7), put_sub(b, 5, &a);
    a.size = 0, put_string(&a, 1, "names"), put_string(&a, 9, "p"), put_string(&a, 9, "q"), put_number(&a, 20, 8);
    put_sub(b, 5, &a);
    a.size = 0, put_string(&a, 1, "ref"), put_string(&a, 21, "outer"), put_sub(&a, 11, &g), put_sub(b, 5, &a);
}

/* A model with everything that the reader knows. */
static void make_model(bytes *b) {
    static const int64_t dims[2] = { 2, 3 };
    static const uint8_t data[] = { 1, 0, 2, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 127 };
    static const uint8_t sequence[] = { 0x0A, 0x00 };
    bytes s, g, v, type;
    g.size = type.size = b->size = 0;
    make_node(&s), put_sub(&g, 1, &s);
    put_string(&g, 2, "g");
    s.size = 0, put_tensor_head(&s, dims, 2, NNRT_ONNX_INT8, "w"), put_bytes(&s, 5, data, sizeof(data));
    put_sub(&g, 5, &s);
    s.size = 0, put_tensor_head(&s, dims, 2, NNRT_ONNX_FLOAT16, "r"), put_bytes(&s, 9, data, 12), put_sub(&g, 5, &s);
    s.size = 0, put_tensor_head(&s, dims, 2, NNRT_ONNX_FLOAT, "e"), put_number(&s, 14, 1);
    put_pair(&s, 13, "location", "w.bin", 5), put_pair(&s, 13, "offset", "4", 1), put_pair(&s, 13, "length", "24", 2);
    put_sub(&g, 5, &s);
    make_value_info(&v, "x"), put_sub(&g, 11, &v);
    make_value_info(&v, "y"), put_sub(&g, 12, &v);
    put_bytes(&type, 4, sequence, 2);
    v.size = 0, put_string(&v, 1, "seq"), put_sub(&v, 2, &type), put_sub(&g, 13, &v);
    put_bytes(&g, 15, sequence, 0);
    put_number(b, 1, 8), put_string(b, 2, "test"), put_number(b, 5, 1);
    s.size = 0, put_string(&s, 1, ""), put_number(&s, 2, 17), put_sub(b, 8, &s);
    put_sub(b, 7, &g);
    put_pair(b, 14, "k", "v", 1);
    put_bytes(b, 25, sequence, 0), put_bytes(b, 25, sequence, 0);
    put_number(b, 99, 5), put_float(b, 98, 1), put_string(b, 97, "skipped");
}

/* Parses bytes in a heap block of just their size, so that the sanitizer detects any access outside; reads all contents of a
 * valid file. At most one allocation, within the stated bound, and no leak. */
static NNRT_ReturnCode parse_bytes(const uint8_t *data, size_t size, nnrt_error *error) {
    counter c;
    nnrt_allocator a = counter_allocator(&c);
    uint8_t *block = (uint8_t *)malloc(size ? size : 1);
    nnrt_onnx_model *model = (nnrt_onnx_model *)(void *)block;
    NNRT_ReturnCode rc;
    memset(error, 0, sizeof(*error));
    memcpy(block, data, size);
    rc = nnrt_onnx_parse(block, size, &a, &model, error);
    assert_int_equal(rc, error->code);
    assert_int_equal(rc == NNRT_SUCCESS, model != NULL);
    assert_int_equal(rc == NNRT_SUCCESS, error->message[0] == 0);
    assert_true(c.calls <= 1 && c.largest <= NNRT_ONNX_MEMORY_FACTOR * size + NNRT_ONNX_MEMORY_FREE);
    if (rc == NNRT_SUCCESS) {
        (void)model_crc(model, 0);
    }
    nnrt_onnx_model_free(model);
    assert_int_equal(c.live, 0);
    free(block);
    return rc;
}

/* Every member of the model above, as it was written. */
static void test_everything(void **state) {
    bytes b;
    nnrt_onnx_model *m;
    const nnrt_onnx_node *n;
    const nnrt_onnx_attribute *a;
    const nnrt_onnx_value_info *v;
    int8_t w[6];
    static const int8_t want[6] = { 1, 0, 2, 0, -1, 127 };
    nnrt_onnx_external e;
    (void)state;
    make_model(&b);
    assert_int_equal(nnrt_onnx_parse(b.data, b.size, NULL, &m, NULL), NNRT_SUCCESS);
    assert_true(m->irVersion == 8 && m->modelVersion == 1 && m->functions.count == 2);
    assert_true(m->opsetImport.count == 1 && m->opsetImport.data[0].version == 17);
    assert_true(m->opsetImport.data[0].domain.data != NULL && m->domain.data == NULL);
    assert_str(m->metadataProps.data[0].value, "v");
    assert_int_equal(m->graph->sparseInitializerCount, 1);
    n = &m->graph->nodes.data[0];
    assert_true(n->inputs.count == 2 && n->inputs.data[1].length == 0 && n->outputs.count == 1);
    assert_str(n->domain, "com.example");
    a = n->attributes.data;
    assert_int_equal(n->attributes.count, 9);
    assert_true(a[0].type == 1 && a[0].f == 0.5f && a[1].type == 2 && a[1].i == -2);
    assert_true(a[2].type == NNRT_ONNX_ATTRIBUTE_STRING && a[3].t->floatCount == 1);
    assert_str(a[2].s, "SAME");
    assert_str(a[4].g->nodes.data[0].opType, "Relu");
    assert_true(a[5].floats.count == 2 && a[5].floats.data[1] == 2.0f);
    assert_true(a[6].ints.count == 5 && a[6].ints.data[0] == -1 && a[6].ints.data[1] == 1 && a[6].ints.data[2] == 2);
    assert_true(a[6].ints.data[3] == 128 && a[6].ints.data[4] == 9);
    assert_str(a[7].strings.data[1], "q");
    assert_str(a[8].refAttrName, "outer");
    assert_int_equal(a[8].otherCount, 1);
    assert_true(a[8].type == 0 && a[0].refAttrName.data == NULL);
    v = &m->graph->inputs.data[0];
    assert_true(v->kind == NNRT_ONNX_KIND_TENSOR && v->elemType == 1 && v->hasShape && v->dims.count == 4);
    assert_str(v->dims.data[0].param, "N");
    assert_true(v->dims.data[1].kind == NNRT_ONNX_DIM_VALUE && v->dims.data[1].value == 3);
    assert_true(v->dims.data[2].kind == NNRT_ONNX_DIM_ABSENT && v->dims.data[3].kind == NNRT_ONNX_DIM_ABSENT);
    assert_int_equal(m->graph->valueInfo.data[0].kind, NNRT_ONNX_KIND_SEQUENCE);
    assert_int_equal(nnrti_onnx_tensor_read(&m->graph->initializers.data[0], w, 6, NULL), NNRT_SUCCESS);
    assert_memory_equal(w, want, 6);
    assert_int_equal(nnrti_onnx_tensor_read(&m->graph->initializers.data[0], w, 5, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_onnx_tensor_external(&m->graph->initializers.data[2], &e, NULL), NNRT_SUCCESS);
    assert_true(e.offset == 4 && e.length == 24);
    assert_str(e.location, "w.bin");
    nnrt_onnx_model_free(m);
}

/* Every beginning of a file, and every byte of it replaced by each of four values. */
static size_t damage(const uint8_t *data, size_t size) {
    static const uint8_t values[4] = { 0, 1, 0x7F, 0xFF };
    uint8_t *copy = (uint8_t *)malloc(size);
    nnrt_error error;
    size_t i, k, refused = 0;
    memcpy(copy, data, size);
    for (i = 0; i < size; i++) {
        refused += parse_bytes(data, i, &error) != NNRT_SUCCESS;
        for (k = 0; k < 4; k++) {
            copy[i] = values[k];
            refused += parse_bytes(copy, size, &error) != NNRT_SUCCESS;
        }
        copy[i] = data[i];
    }
    free(copy);
    return refused;
}

static void test_damage(void **state) {
    static const char *const files[] = { "node/test_if_seq/model.onnx", "node/test_loop11/model.onnx",
                                         "simple/test_sequence_model3/model.onnx" };
    bytes b;
    size_t i, refused;
    nnrt_error error;
    (void)state;
    make_model(&b);
    assert_int_equal(parse_bytes(b.data, b.size, &error), NNRT_SUCCESS);
    refused = damage(b.data, b.size);
    print_message("made model: %zu bytes, %zu of %zu damaged files refused\n", b.size, refused, 5 * b.size);
    assert_true(refused > b.size);
    for (i = 0; i < 3 && have_testdata(); i++) {
        size_t size;
        void *data = load(files[i], &size);
        refused = damage((const uint8_t *)data, size);
        print_message("%s: %zu bytes, %zu of %zu refused\n", files[i], size, refused, 5 * size);
        nnrt_free(NULL, data, size);
    }
}

/* Random bytes in random places, several at a time. The generator's numbers are the same in every run. */
static void test_random(void **state) {
    bytes b, copy;
    nnrt_error error;
    uint32_t random = 12345, trial, k;
    (void)state;
    make_model(&b);
    for (trial = 0; trial < 50000; trial++) {
        memcpy(copy.data, b.data, b.size);
        copy.size = b.size;
        for (k = 0; k < 1 + trial % 6; k++) {
            random = random * 1664525u + 1013904223u;
            copy.data[(random >> 8) % b.size] = (uint8_t)(random >> 24);
            random = random * 1664525u + 1013904223u;
            copy.data[(random >> 8) % b.size] ^= (uint8_t)(1u << (random >> 29));
        }
        (void)parse_bytes(copy.data, copy.size, &error);
    }
}

static void refuse(const bytes *b, NNRT_ReturnCode code, const char *words) {
    nnrt_error error;
    assert_int_equal(parse_bytes(b->data, b->size, &error), code);
    if (strstr(error.message, words) == NULL) {
        fail_msg("'%s' does not say '%s'", error.message, words);
    }
}

/* Violations of the wire format, and their messages. */
static void test_wire_faults(void **state) {
    bytes b, g, n;
    int i;
    (void)state;
    b.size = 0, put_varint(&b, 7 << 3 | 2), put_varint(&b, 999), put_byte(&b, 0);
    refuse(&b, NNRT_INVALID_FILE, "ONNX file byte 0: ModelProto.graph: length 999 runs past the end (1 bytes left)");
    b.size = 0, put_number(&b, 1, 8), put_varint(&b, 7 << 3 | 2), put_varint(&b, UINT64_MAX);
    refuse(&b, NNRT_INVALID_FILE, "ONNX file byte 2: ModelProto.graph: length 9223372036854775807 runs past");
    n.size = g.size = b.size = 0;
    put_varint(&n, 5 << 3 | 2), put_varint(&n, 3), put_byte(&n, 0), put_sub(&g, 1, &n), put_sub(&b, 7, &g);
    refuse(&b, NNRT_INVALID_FILE, "ONNX file byte 4: NodeProto.attribute: length 3 runs past the end (1 bytes left)");
    b.size = 0, put_byte(&b, 8);
    for (i = 0; i < 10; i++) {
        put_byte(&b, 0xFF);
    }
    refuse(&b, NNRT_INVALID_FILE, "ModelProto.ir_version: varint has more than 64 bits");
    b.data[10] = 1; /* now -1 in ten bytes, the widest that there is */
    b.size = 11;
    refuse(&b, NNRT_INVALID_FILE, "ModelProto.graph is missing");
    b.data[10] = 2;
    refuse(&b, NNRT_INVALID_FILE, "more than 64 bits");
    b.size = 0, put_varint(&b, 1 << 3 | 3);
    refuse(&b, NNRT_INVALID_FILE, "ModelProto.ir_version: wrong wire type");
    b.size = 0, put_varint(&b, 50 << 3 | 3);
    refuse(&b, NNRT_INVALID_FILE, "ModelProto, field 50: a group");
    b.size = 0, put_varint(&b, 50 << 3 | 7);
    refuse(&b, NNRT_INVALID_FILE, "unknown wire type");
    b.size = 0, put_varint(&b, 50 << 3 | 1), put_varint(&b, 0);
    refuse(&b, NNRT_INVALID_FILE, "field 50: number runs past the end");
    b.size = 0, put_varint(&b, 0), put_varint(&b, 0);
    refuse(&b, NNRT_INVALID_FILE, "invalid field tag");
    b.size = 0, put_varint(&b, (uint64_t)1 << 32 | 8), put_varint(&b, 0);
    refuse(&b, NNRT_INVALID_FILE, "invalid field tag");
    b.size = 0;
    refuse(&b, NNRT_INVALID_FILE, "this is not an ONNX file; it looks like an empty file");
}

/* Faults inside tensors: a negative dimension, a segment, packed numbers cut short. */
static void test_tensor_faults(void **state) {
    static const int64_t negative[2] = { 3, -1 };
    bytes t, g, b;
    (void)state;
    t.size = g.size = b.size = 0;
    put_tensor_head(&t, negative, 2, NNRT_ONNX_FLOAT, "w"), put_sub(&g, 5, &t), put_sub(&b, 7, &g);
    refuse(&b, NNRT_INVALID_FILE, "TensorProto.dims: a dimension is negative");
    t.size = g.size = b.size = 0;
    put_bytes(&t, 3, "", 0), put_sub(&g, 5, &t), put_sub(&b, 7, &g);
    refuse(&b, NNRT_NOT_SUPPORT, "TensorProto.segment is not supported");
    t.size = g.size = b.size = 0;
    put_bytes(&t, 4, "abcde", 5), put_sub(&g, 5, &t), put_sub(&b, 7, &g);
    refuse(&b, NNRT_INVALID_FILE, "TensorProto.float_data: number runs past the end");
    t.size = g.size = b.size = 0;
    put_bytes(&t, 7, "\x81", 1), put_sub(&g, 5, &t), put_sub(&b, 7, &g);
    refuse(&b, NNRT_INVALID_FILE, "TensorProto.int64_data: varint runs past the end");
}

/* Graphs in attributes of nodes of graphs: 20 levels are read (62 messages), 21 and 2000 are refused. */
static void test_depth(void **state) {
    static bytes b, g, n, a;
    nnrt_error error;
    static const int32_t depths[3] = { 20, 21, 2000 };
    int32_t levels, i, k;
    (void)state;
    for (k = 0; k < 3; k++) {
        levels = depths[k];
        g.size = 0;
        for (i = 0; i < levels; i++) {
            n.size = a.size = 0;
            put_sub(&a, 6, &g), put_sub(&n, 5, &a), g.size = 0, put_sub(&g, 1, &n);
        }
        b.size = 0, put_sub(&b, 7, &g);
        assert_int_equal(parse_bytes(b.data, b.size, &error), levels == 20 ? NNRT_SUCCESS : NNRT_INVALID_FILE);
        assert_true(levels == 20 || strstr(error.message, "nested deeper than 64") != NULL);
    }
}

/* The worst files for memory: nothing but empty entries, two bytes each. */
static void test_memory_bound(void **state) {
    static const unsigned fields[] = { 1, 5, 11, 12, 13 };
    static bytes b, g, n, a;
    nnrt_error error;
    size_t i, k;
    (void)state;
    for (i = 0; i < 5; i++) {
        g.size = b.size = 0;
        for (k = 0; k < 20000; k++) {
            put_bytes(&g, fields[i], "", 0);
        }
        put_sub(&b, 7, &g);
        assert_int_equal(parse_bytes(b.data, b.size, &error), NNRT_SUCCESS);
    }
    n.size = a.size = g.size = b.size = 0; /* attributes, each with an empty graph: 4 bytes for two structs */
    put_bytes(&a, 6, "", 0);
    for (k = 0; k < 10000; k++) {
        put_sub(&n, 5, &a);
    }
    put_sub(&g, 1, &n), put_sub(&b, 7, &g);
    assert_int_equal(parse_bytes(b.data, b.size, &error), NNRT_SUCCESS);
    n.size = g.size = b.size = 0; /* attributes, each with as many empty strings as fit */
    a.size = 0, put_bytes(&a, 9, "", 0), put_bytes(&a, 8, "\1", 1), put_sub(&n, 5, &a);
    put_sub(&g, 1, &n), put_sub(&b, 7, &g);
    assert_int_equal(parse_bytes(b.data, b.size, &error), NNRT_SUCCESS);
}

/* So many tensors that the memory limit for the file's size is not enough: with 64-bit addresses, a tensor's record has more
   than twice as many bytes as the factor, and its part of the file has two. */
static void test_memory_refused(void **state) {
    enum { COUNT = 200000 };
    static uint8_t file[4 + 2 * COUNT] = { 0x3a, 0x80, 0xb5, 0x18 }; /* field 7, 400,000 bytes */
    const bool refused = sizeof(nnrt_onnx_tensor) > 2 * NNRT_ONNX_MEMORY_FACTOR + NNRT_ONNX_MEMORY_FREE / COUNT;
    nnrt_error error;
    (void)state;
    for (size_t i = 4; i < sizeof(file); i += 2) {
        file[i] = 0x2a; /* field 5, nothing */
    }
    assert_true(refused || sizeof(void *) < 8);
    assert_int_equal(parse_bytes(file, sizeof(file), &error), refused ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS);
    assert_true(!refused || strstr(error.message, "NNRT_ONNX_MEMORY_FACTOR raises it") != NULL);
}

/* Of two graphs, two numbers and two members of a oneof the last one counts. */
static void test_last_wins(void **state) {
    static const uint8_t sequence[] = { 0 };
    bytes b, g, v, type, dim, shape, tensor;
    nnrt_onnx_model *m;
    (void)state;
    b.size = g.size = v.size = type.size = shape.size = tensor.size = dim.size = 0;
    put_string(&g, 2, "old"), put_bytes(&g, 1, "", 0), put_number(&b, 1, 3), put_sub(&b, 7, &g);
    put_string(&dim, 2, "N"), put_number(&dim, 1, 5), put_sub(&shape, 1, &dim);
    dim.size = 0, put_number(&dim, 1, 5), put_string(&dim, 2, "M"), put_sub(&shape, 1, &dim);
    put_sub(&tensor, 2, &shape), put_bytes(&type, 4, sequence, 0), put_sub(&type, 1, &tensor);
    put_sub(&v, 2, &type);
    g.size = 0, put_string(&g, 2, "new"), put_sub(&g, 11, &v);
    put_sub(&b, 7, &g), put_number(&b, 1, 4);
    assert_int_equal(nnrt_onnx_parse(b.data, b.size, NULL, &m, NULL), NNRT_SUCCESS);
    assert_str(m->graph->name, "new");
    assert_true(m->irVersion == 4 && m->graph->nodes.count == 0 && m->graph->inputs.count == 1);
    assert_int_equal(m->graph->inputs.data[0].kind, NNRT_ONNX_KIND_TENSOR);
    assert_true(m->graph->inputs.data[0].dims.data[0].kind == NNRT_ONNX_DIM_VALUE);
    assert_true(m->graph->inputs.data[0].dims.data[0].value == 5);
    assert_null(m->graph->inputs.data[0].dims.data[0].param.data);
    assert_str(m->graph->inputs.data[0].dims.data[1].param, "M");
    assert_int_equal(m->graph->inputs.data[0].dims.data[1].value, 0);
    nnrt_onnx_model_free(m);
}

/* The allocator fails at its n-th call, for every n: an error, nothing leaked. */
static void test_out_of_memory(void **state) {
    bytes b;
    counter c;
    nnrt_allocator a = counter_allocator(&c);
    nnrt_onnx_model *m;
    size_t n;
    NNRT_ReturnCode rc = NNRT_OUT_OF_MEMORY;
    (void)state;
    make_model(&b);
    for (n = 1; rc != NNRT_SUCCESS; n++) {
        nnrt_error error;
        memset(&error, 0, sizeof(error));
        c.calls = 0;
        c.failAt = n;
        rc = nnrt_onnx_parse(b.data, b.size, &a, &m, &error);
        assert_int_equal(rc, n <= 1 ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS);
        assert_int_equal(rc == NNRT_SUCCESS, m != NULL);
        assert_int_equal(rc == NNRT_SUCCESS, c.live > 0);
    }
    nnrt_onnx_model_free(m);
    assert_int_equal(c.live, 0);
}

static void test_null(void **state) {
    nnrt_onnx_model *m = NULL;
    nnrt_onnx_tensor *t = NULL;
    size_t n;
    (void)state;
    assert_int_equal(nnrt_onnx_parse(NULL, 0, NULL, &m, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_onnx_parse("", 0, NULL, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_onnx_parse_tensor(NULL, 0, NULL, &t, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrti_onnx_tensor_bytes(NULL, &n, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrti_onnx_tensor_read(NULL, &n, 8, NULL), NNRT_NULL_PTR);
    nnrt_onnx_model_free(NULL);
    nnrt_onnx_tensor_free(NULL);
}

/* Parses a tensor and reads it; want NULL: rc is the error of reading. */
static void check_elements(const bytes *b, const void *want, size_t size, NNRT_ReturnCode code) {
    nnrt_onnx_tensor *t;
    nnrt_error error;
    size_t n = 0;
    uint8_t out[64];
    NNRT_ReturnCode rc;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_onnx_parse_tensor(b->data, b->size, NULL, &t, &error), NNRT_SUCCESS);
    rc = nnrti_onnx_tensor_bytes(t, &n, &error);
    if (rc == NNRT_SUCCESS) {
        assert_true(n <= sizeof(out));
        rc = nnrti_onnx_tensor_read(t, out, n, &error);
    }
    assert_int_equal(rc, code);
    if (rc == NNRT_SUCCESS) {
        assert_int_equal(n, size);
        assert_memory_equal(out, want, size);
    } else {
        assert_non_null(strstr(error.message, "ONNX tensor 'w?'"));
    }
    nnrt_onnx_tensor_free(t);
}

/* Elements as the runtime stores them: bits at the end of a byte that no element has do not count. */
static void check_unpacked(nnrt_onnx_type type, int64_t count, const uint8_t *file, size_t fileBytes, const int8_t *want) {
    nnrt_onnx_tensor *t;
    nnrt_error error;
    uint8_t out[16];
    bytes b;
    b.size = 0, put_tensor_head(&b, &count, 1, type, "w"), put_bytes(&b, 9, file, fileBytes);
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_onnx_parse_tensor(b.data, b.size, NULL, &t, &error), NNRT_SUCCESS);
    assert_int_equal(nnrt_onnx_tensor_elements(t, out, (size_t)count, &error), NNRT_SUCCESS);
    assert_memory_equal(out, want, (size_t)count);
    assert_int_equal(nnrt_onnx_tensor_elements(t, out, (size_t)count + 4, &error), NNRT_INVALID_PARAMETER);
    nnrt_onnx_tensor_free(t);
}

static void test_unpacked(void **state) {
    static const uint8_t file[3] = { 0x7F, 0xC8, 0xF2 };
    static const int8_t four[5] = { -1, 7, -8, -4, 2 }, positive[5] = { 15, 7, 8, 12, 2 },
                        two[9] = { -1, -1, -1, 1, 0, -2, 0, -1, -2 }, codes[9] = { 3, 3, 3, 1, 0, 2, 0, 3, 2 };
    static const int8_t raw[3] = { 0x7F, (int8_t)0xC8, (int8_t)0xF2 };
    size_t n;
    (void)state;
    check_unpacked(NNRT_ONNX_INT4, 5, file, 3, four);
    check_unpacked(NNRT_ONNX_UINT4, 5, file, 3, positive);
    check_unpacked(NNRT_ONNX_FLOAT4E2M1, 5, file, 3, positive);
    check_unpacked(NNRT_ONNX_INT2, 9, file, 3, two);
    check_unpacked(NNRT_ONNX_UINT2, 9, file, 3, codes);
    check_unpacked(NNRT_ONNX_FLOAT8E5M2, 3, file, 3, raw);
    assert_int_equal(nnrt_onnx_tensor_elements(NULL, &n, 8, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_onnx_data_type(NNRT_ONNX_BFLOAT16), NNRT_DATA_TYPE_UINT16);
    assert_int_equal(nnrt_onnx_data_type(NNRT_ONNX_INT2), NNRT_DATA_TYPE_INT8);
    assert_int_equal(nnrt_onnx_data_type(NNRT_ONNX_FLOAT), NNRT_DATA_TYPE_FLOAT32);
    assert_int_equal(nnrt_onnx_data_type(NNRT_ONNX_STRING), NNRT_DATA_TYPE_UNKNOWN);
    assert_int_equal(nnrt_onnx_data_type(27), NNRT_DATA_TYPE_UNKNOWN);
}

/* Typed fields of every width, packed, unpacked and mixed; dims against numbers of elements. Values by hand. */
static void test_elements(void **state) {
    static const int64_t three = 3, two = 2;
    static const int64_t huge[4] = { INT64_MAX, INT64_MAX, 1, 4 }, none[3] = { INT64_MAX, INT64_MAX, 0 };
    static const float f[3] = { 1.0f, -2.0f, 0.5f };
    static const double d[2] = { 0.1, -3.0 };
    static const uint32_t u[3] = { 1, 0xFFFFFFFFu, 7 };
    static const uint16_t h[3] = { 0x3C00, 0xC000, 1 };
    static const uint8_t truth[3] = { 1, 0, 1 }, nibbles[2] = { 0x21, 0x03 };
    static const int64_t l[2] = { INT64_MIN, 5 };
    bytes b;
    (void)state;
    b.size = 0, put_float(&b, 4, 1.0f), put_tensor_head(&b, &three, 1, NNRT_ONNX_FLOAT, "w\n");
    put_bytes(&b, 4, little(f + 1, 8, 4), 8);
    check_elements(&b, f, sizeof(f), NNRT_SUCCESS);
    put_float(&b, 4, 1.0f);
    check_elements(&b, NULL, 0, NNRT_INVALID_FILE);
    b.size = 0, put_tensor_head(&b, &three, 1, NNRT_ONNX_FLOAT, "w\n"), put_bytes(&b, 9, little(f, 8, 4), 8);
    check_elements(&b, NULL, 0, NNRT_INVALID_FILE);
    b.size = 0, put_tensor_head(&b, &three, 1, NNRT_ONNX_FLOAT, "w\n");
    check_elements(&b, NULL, 0, NNRT_INVALID_FILE);
    put_bytes(&b, 9, little(f, 12, 4), 12);
    check_elements(&b, f, 12, NNRT_SUCCESS);
    b.size = 0, put_tensor_head(&b, &two, 1, NNRT_ONNX_DOUBLE, "w\n"), put_bytes(&b, 10, little(d, 16, 8), 16);
    check_elements(&b, d, 16, NNRT_SUCCESS);
    b.size = 0, put_tensor_head(&b, NULL, 0, NNRT_ONNX_COMPLEX128, "w\n"), put_bytes(&b, 10, little(d, 16, 8), 16);
    check_elements(&b, d, 16, NNRT_SUCCESS);
    b.size = 0, put_tensor_head(&b, &three, 1, NNRT_ONNX_UINT32, "w\n");
    put_number(&b, 11, 1), put_number(&b, 11, 0xFFFFFFFFu), put_number(&b, 11, 7);
    check_elements(&b, u, 12, NNRT_SUCCESS);
    b.size = 0, put_tensor_head(&b, &three, 1, NNRT_ONNX_FLOAT16, "w\n");
    put_number(&b, 5, 0x3C00), put_number(&b, 5, 0xC000), put_number(&b, 5, 1);
    check_elements(&b, h, 6, NNRT_SUCCESS);
    b.size = 0, put_tensor_head(&b, &three, 1, NNRT_ONNX_BOOL, "w\n");
    put_number(&b, 5, 256), put_number(&b, 5, 0), put_number(&b, 5, -1);
    check_elements(&b, truth, 3, NNRT_SUCCESS);
    b.size = 0, put_tensor_head(&b, &three, 1, NNRT_ONNX_INT4, "w\n"), put_number(&b, 5, 0x21), put_number(&b, 5, 3);
    check_elements(&b, nibbles, 2, NNRT_SUCCESS);
    b.size = 0, put_tensor_head(&b, &two, 1, NNRT_ONNX_INT64, "w\n");
    put_number(&b, 7, INT64_MIN), put_number(&b, 7, 5);
    check_elements(&b, l, 16, NNRT_SUCCESS);
    b.size = 0, put_tensor_head(&b, &two, 1, NNRT_ONNX_STRING, "w\n");
    check_elements(&b, NULL, 0, NNRT_NOT_SUPPORT);
    b.size = 0, put_tensor_head(&b, &two, 1, 27, "w\n");
    check_elements(&b, NULL, 0, NNRT_NOT_SUPPORT);
    b.size = 0, put_tensor_head(&b, &two, 1, -1, "w\n");
    check_elements(&b, NULL, 0, NNRT_NOT_SUPPORT);
    b.size = 0, put_tensor_head(&b, huge, 4, NNRT_ONNX_FLOAT, "w\n");
    put_bytes(&b, 9, "0123456789ABCDEF", 16); /* the number of bytes that the product wraps to */
    check_elements(&b, NULL, 0, NNRT_INVALID_FILE);
    b.size = 0, put_tensor_head(&b, none, 3, NNRT_ONNX_FLOAT, "w\n");
    check_elements(&b, "", 0, NNRT_SUCCESS);
    b.size = 0, put_tensor_head(&b, &two, 1, NNRT_ONNX_FLOAT, "w\n"), put_number(&b, 14, 1);
    check_elements(&b, NULL, 0, NNRT_NOT_SUPPORT);
}

/* ---- external data ---- */

/* Reads an external tensor of two uint16 elements at the given location of the model at modelPath. */
static NNRT_ReturnCode external(const char *modelPath, const void *location, size_t length, const char *offset,
                                const char *count, uint16_t out[2], size_t failAt) {
    static const int64_t two = 2;
    counter c;
    nnrt_allocator a = counter_allocator(&c);
    nnrt_onnx_tensor *t;
    NNRT_ReturnCode rc;
    bytes b;
    b.size = 0;
    put_tensor_head(&b, &two, 1, NNRT_ONNX_UINT16, "w"), put_number(&b, 14, 1);
    if (location != NULL) {
        put_pair(&b, 13, "location", location, length);
    }
    if (offset != NULL) {
        put_pair(&b, 13, "offset", offset, strlen(offset));
    }
    if (count != NULL) {
        put_pair(&b, 13, "length", count, strlen(count));
    }
    put_pair(&b, 13, "checksum", "0", 1);
    assert_int_equal(nnrt_onnx_parse_tensor(b.data, b.size, NULL, &t, NULL), NNRT_SUCCESS);
    c.failAt = failAt;
    rc = nnrti_onnx_external_read(t, modelPath, &a, out, 4, NULL);
    assert_int_equal(c.live, 0);
    nnrt_onnx_tensor_free(t);
    return rc;
}

static NNRT_ReturnCode external_at(const char *modelPath, const char *location) {
    uint16_t out[2];
    return external(modelPath, location, strlen(location), NULL, NULL, out, 0);
}

static void write_file(const char *folder, const char *name, const char *text) {
    char path[256];
    FILE *f;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The check of a location's text alone, without a file system. */
static NNRT_ReturnCode location_text(const char *location) {
    nnrt_onnx_external e;
    nnrt_onnx_tensor *t;
    NNRT_ReturnCode rc;
    bytes b;
    b.size = 0, put_number(&b, 14, 1), put_pair(&b, 13, "location", location, strlen(location));
    assert_int_equal(nnrt_onnx_parse_tensor(b.data, b.size, NULL, &t, NULL), NNRT_SUCCESS);
    rc = nnrt_onnx_tensor_external(t, &e, NULL);
    nnrt_onnx_tensor_free(t);
    return rc;
}

/* A folder of its own with model/w.bin, model/sub/w.bin, secret.bin, and links inside, outside and up in model. */
static void make_folder(char folder[64]) {
    char path[128], other[128];
    strcpy(folder, "/tmp/onnx_reader_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/model", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/model/sub", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/model2", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(folder, "model/w.bin", "..\1\2\3\4");
    write_file(folder, "model/sub/w.bin", "abcd");
    write_file(folder, "secret.bin", "secret");
    write_file(folder, "model2/w.bin", "secret");
    snprintf(other, sizeof(other), "%s/model/inside", folder);
    assert_int_equal(symlink("sub/w.bin", other), 0);
    snprintf(other, sizeof(other), "%s/model/outside", folder);
    assert_int_equal(symlink("../secret.bin", other), 0);
    snprintf(other, sizeof(other), "%s/model/up", folder);
    assert_int_equal(symlink("../model2", other), 0);
}

static void drop_folder(const char *folder) {
    static const char *const names[] = { "model/up", "model/outside", "model/inside", "model2/w.bin", "secret.bin",
                                         "model/sub/w.bin", "model/w.bin", "model2", "model/sub", "model", "." };
    char path[128];
    size_t i;
    for (i = 0; i + 1 < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(remove(folder), 0);
}

static void test_external(void **state) {
    char home[4096];
    static const char *const attacks[] = { "", "/etc/hostname", "..", "../secret.bin", "sub/../../secret.bin", "sub/..",
                                           "sub\\w.bin", "..\\secret.bin", "C:w.bin", "c:/w.bin", "./../secret.bin",
                                           "missing", "sub/missing" };
    static const char *const links[] = { "outside", "up/w.bin" };
    char folder[64], model[128], longName[5000];
    uint16_t out[2] = { 0, 0 };
    size_t i;
    (void)state;
    make_folder(folder);
    snprintf(model, sizeof(model), "%s/model/model.onnx", folder);
    assert_int_equal(external(model, "w.bin", 5, "2", "4", out, 0), NNRT_SUCCESS);
    assert_true(out[0] == 0x0201 && out[1] == 0x0403);
    assert_int_equal(external(model, "w.bin", 5, "2", NULL, out, 0), NNRT_SUCCESS);
    assert_int_equal(external_at(model, "sub/w.bin"), NNRT_SUCCESS);
    assert_int_equal(external_at(model, "./sub/./w.bin"), NNRT_SUCCESS);
    assert_int_equal(external_at(model, "inside"), NNRT_SUCCESS);
    assert_int_equal(external(model, "w.bin", 5, "2", "4", out, 1), NNRT_OUT_OF_MEMORY);
    assert_int_equal(external(model, "w.bin", 5, "3", "4", out, 0), NNRT_INVALID_FILE);
    assert_int_equal(external(model, "w.bin", 5, "2", "5", out, 0), NNRT_INVALID_FILE);
    assert_int_equal(external(model, "w.bin", 5, "9223372036854775807", "4", out, 0), NNRT_INVALID_FILE);
    assert_int_equal(external(model, "w.bin", 5, "9223372036854775808", "4", out, 0), NNRT_INVALID_FILE);
    assert_int_equal(external(model, "w.bin", 5, "-1", "4", out, 0), NNRT_INVALID_FILE);
    assert_int_equal(external(model, "w.bin", 5, "", "4", out, 0), NNRT_INVALID_FILE);
    assert_int_equal(external(model, "w.bin\0x", 7, NULL, NULL, out, 0), NNRT_INVALID_PATH);
    assert_int_equal(external(model, NULL, 0, NULL, NULL, out, 0), NNRT_INVALID_PATH);
    assert_int_equal(external_at(model, "sub"), NNRT_ONNX_REALPATH ? NNRT_INVALID_PATH : NNRT_INVALID_FILE);
    for (i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
        int text = location_text(attacks[i]) == NNRT_SUCCESS;
        if (external_at(model, attacks[i]) != NNRT_INVALID_PATH || text != (strstr(attacks[i], "missing") != NULL)) {
            fail_msg("location '%s' is not refused", attacks[i]);
        }
    }
    assert_int_equal(location_text("a..b/...c/..d/e../..."), NNRT_SUCCESS);
    for (i = 0; i < 2 && NNRT_ONNX_REALPATH; i++) {
        assert_int_equal(external_at(model, links[i]), NNRT_INVALID_PATH);
    }
    for (i = 4080; i < 4110; i++) {
        memset(longName, 'a', i);
        longName[i] = 0;
        assert_int_equal(external_at(model, longName), NNRT_INVALID_PATH);
        assert_int_equal(external_at(longName, "w.bin"), NNRT_INVALID_PATH);
    }
    assert_non_null(getcwd(home, sizeof(home)));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(chdir("model"), 0);
    assert_int_equal(external_at("model.onnx", "sub/w.bin"), NNRT_SUCCESS);
    assert_int_equal(external_at("model.onnx", "outside"), NNRT_ONNX_REALPATH ? NNRT_INVALID_PATH : NNRT_SUCCESS);
    assert_int_equal(chdir(home), 0);
    drop_folder(folder);
}

static void test_file_read(void **state) {
    char folder[64], path[128];
    counter c;
    nnrt_allocator a = counter_allocator(&c);
    NNRT_Model *model;
    void *data = &c;
    size_t size = 1;
    (void)state;
    make_folder(folder);
    write_file(folder, "model/empty", "");
    snprintf(path, sizeof(path), "%s/secret.bin", folder);
    assert_int_equal(nnrti_file_bytes(path, &a, &data, &size, NULL), NNRT_SUCCESS);
    assert_true(size == 6 && memcmp(data, "secret", 6) == 0 && c.live == 6);
    nnrt_free(&a, data, size);
    c.calls = 0, c.failAt = 1;
    assert_int_equal(nnrti_file_bytes(path, &a, &data, &size, NULL), NNRT_OUT_OF_MEMORY);
    assert_true(data == NULL && size == 0 && c.live == 0);
    assert_int_equal(nnrti_file_bytes(folder, &a, &data, &size, NULL), NNRT_INVALID_FILE);
    snprintf(path, sizeof(path), "%s/model/empty", folder);
    assert_int_equal(nnrti_file_bytes(path, &a, &data, &size, NULL), NNRT_INVALID_FILE);
    assert_int_equal(truncate(path, (off_t)1 << 31), 0); /* a sparse file of 2 GiB */
    assert_int_equal(nnrti_file_bytes(path, &a, &data, &size, NULL), NNRT_INVALID_FILE);
    assert_int_equal(remove(path), 0);
    assert_int_equal(nnrti_file_bytes(path, &a, &data, &size, NULL), NNRT_INVALID_PATH);
    assert_int_equal(nnrt_onnx_load(&model, NULL, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(c.live, 0);
    drop_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_testdata),   cmocka_unit_test(test_samples),   cmocka_unit_test(test_everything),
        cmocka_unit_test(test_damage),         cmocka_unit_test(test_random),    cmocka_unit_test(test_wire_faults),
        cmocka_unit_test(test_tensor_faults),  cmocka_unit_test(test_depth),     cmocka_unit_test(test_memory_bound),
        cmocka_unit_test(test_memory_refused), cmocka_unit_test(test_last_wins), cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_null),           cmocka_unit_test(test_elements), cmocka_unit_test(test_unpacked), cmocka_unit_test(test_external),
        cmocka_unit_test(test_file_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
