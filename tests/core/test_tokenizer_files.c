/* nnrt_tokenizer_load and nnrt_tokenizer_load_gguf: keys of a GGUF file that this test writes, their defaults, each length
   to which a file can be cut, each byte changed, allocations that fail, tokens that end a text.
   tests/tools/text_commands.py has whole files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "core/nnrt_text.h"
#include "counted.h"

enum { UINT8 = 0, UINT32 = 4, INT32 = 5, FLOAT32 = 6, BOOL = 7, STRING = 8, ARRAY = 9, UINT64 = 10 };

/* A file that grows. */
typedef struct file {
    uint8_t data[400000];
    size_t bytes;
    uint64_t keys;
} file;

static void put(file *f, uint64_t value, size_t bytes)
{
    assert_true(f->bytes + bytes <= sizeof(f->data));
    for (size_t i = 0; i < bytes; i++)
        f->data[f->bytes++] = (uint8_t)(value >> 8 * i);
}

static void put_text(file *f, const char *text)
{
    put(f, strlen(text), 8);
    for (; *text != '\0'; text++)
        put(f, (uint8_t)*text, 1);
}

/* The name and type of the next key. */
static void key(file *f, const char *name, uint32_t type)
{
    put_text(f, name);
    put(f, type, 4);
    f->keys++;
    for (size_t i = 0; i < 8; i++)
        f->data[16 + i] = (uint8_t)(f->keys >> 8 * i);
}

static void list(file *f, const char *name, uint32_t type, uint64_t count)
{
    key(f, name, ARRAY);
    put(f, type, 4);
    put(f, count, 8);
}

static void text_key(file *f, const char *name, const char *text)
{
    key(f, name, STRING);
    put_text(f, text);
}

static file *begin(const char *model)
{
    file *f = (file *)calloc(1, sizeof(*f));
    assert_non_null(f);
    put(f, 0x46554747, 4); /* GGUF */
    put(f, 3, 4);
    put(f, 0, 8);
    put(f, 0, 8);
    if (model != NULL)
        text_key(f, "tokenizer.ggml.model", model);
    return f;
}

/* <unk> <s> </s> a b ab, with scores: a word is "ab" with the space before it as bytes that it has no token for. */
static file *scores(void)
{
    static const char *const tokens[] = {"<unk>", "<s>", "</s>", "a", "b", "ab", "<|im_end|>"};
    static const uint32_t types[] = {2, 3, 3, 1, 1, 1, 3};
    file *f = begin("llama");
    list(f, "tokenizer.ggml.tokens", STRING, 7);
    for (size_t i = 0; i < 7; i++)
        put_text(f, tokens[i]);
    list(f, "tokenizer.ggml.scores", FLOAT32, 7);
    for (size_t i = 0; i < 7; i++)
        put(f, 0, 4);
    list(f, "tokenizer.ggml.token_type", INT32, 7);
    for (size_t i = 0; i < 7; i++)
        put(f, types[i], 4);
    return f;
}

static nnrt_tokenizer *load(const file *f)
{
    nnrt_tokenizer *t = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_tokenizer_load_gguf(&t, f->data, f->bytes, NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    return t;
}

static void refused(file *f, NNRT_ReturnCode code, const char *part)
{
    nnrt_tokenizer *t = (nnrt_tokenizer *)(void *)f;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_tokenizer_load_gguf(&t, f->data, f->bytes, NULL, &error), code);
    assert_null(t);
    if (strstr(error.message, part) == NULL)
        fail_msg("'%s' lacks '%s'", error.message, part);
    free(f);
}

static void expect(const nnrt_tokenizer *t, const char *text, uint32_t flags, const uint32_t *ids, size_t count)
{
    uint32_t got[16];
    size_t n = 0;
    assert_int_equal(nnrt_tokenize(t, text, strlen(text), flags, got, 16, &n), NNRT_SUCCESS);
    assert_int_equal(n, count);
    assert_memory_equal(got, ids, count * sizeof(*ids));
}

/* Without further keys: the token 1 is before a text, 2 ends it, 0 is unknown, a space comes before it. */
static void test_defaults(void **state)
{
    file *f = scores();
    nnrt_tokenizer *t = load(f);
    const uint32_t plain[] = {1, 0, 5}, bare[] = {1, 5}, both[] = {3, 5, 4};
    (void)state;
    expect(t, "ab", NNRT_TEXT_AFFIXES, plain, 3);
    assert_true(nnrt_tokenizer_ends(t, 2) && nnrt_tokenizer_ends(t, 6));
    assert_true(!nnrt_tokenizer_ends(t, 1) && !nnrt_tokenizer_ends(t, 7) && !nnrt_tokenizer_ends(NULL, 0));
    assert_true(nnrt_tokenizer_template(NULL).data == NULL && nnrt_tokenizer_template(t).bytes == 0);
    nnrt_tokenizer_destroy(t);
    key(f, "tokenizer.ggml.add_space_prefix", BOOL);
    put(f, 0, 1);
    t = load(f);
    expect(t, "ab", NNRT_TEXT_AFFIXES, bare, 2);
    nnrt_tokenizer_destroy(t);
    key(f, "tokenizer.ggml.bos_token_id", UINT64);
    put(f, 3, 8);
    key(f, "tokenizer.ggml.eos_token_id", UINT8);
    put(f, 4, 1);
    key(f, "tokenizer.ggml.eot_token_id", UINT32);
    put(f, 5, 4);
    key(f, "tokenizer.ggml.add_eos_token", BOOL);
    put(f, 1, 1);
    text_key(f, "tokenizer.chat_template", "{{ <|im_start|> <|im_end|> }}");
    text_key(f, "tokenizer.chat_template", "the second one of a name is not read");
    t = load(f);
    expect(t, "ab", NNRT_TEXT_AFFIXES, both, 3);
    assert_true(nnrt_tokenizer_ends(t, 4) && nnrt_tokenizer_ends(t, 5) && nnrt_tokenizer_ends(t, 2));
    assert_true(!nnrt_tokenizer_ends(t, 3));
    assert_int_equal(nnrt_chat_recognize(nnrt_tokenizer_template(t).data, nnrt_tokenizer_template(t).bytes), NNRT_CHAT_CHATML);
    nnrt_tokenizer_destroy(t);
    free(f);
}

static void test_refused(void **state)
{
    nnrt_tokenizer *t;
    file *f;
    (void)state;
    refused(begin(NULL), NNRT_INVALID_MODEL, "no tokenizer");
    refused(begin("rwkv"), NNRT_UNSUPPORTED_OP, "'rwkv'");
    refused(begin("llama"), NNRT_INVALID_MODEL, "tokenizer.ggml.tokens");
    f = begin("gpt2");
    text_key(f, "tokenizer.ggml.pre", "tekken");
    refused(f, NNRT_UNSUPPORTED_OP, "'tekken'");
    f = scores();
    f->data[4] = 1;
    refused(f, NNRT_INVALID_MODEL, "neither version 2 nor 3");
    f = scores();
    f->data[0] = 'X';
    refused(f, NNRT_INVALID_MODEL, "begin with GGUF");
    f = scores();
    key(f, "x", 13);
    refused(f, NNRT_INVALID_MODEL, "unknown type");
    f = scores();
    list(f, "x", ARRAY, 1);
    refused(f, NNRT_INVALID_MODEL, "unknown type");
    f = scores();
    list(f, "x", UINT64, UINT64_MAX / 8 + 2);
    refused(f, NNRT_INSUFFICIENT_BUFFER, "cut short");
    f = scores();
    list(f, "x", STRING, UINT64_MAX);
    refused(f, NNRT_INSUFFICIENT_BUFFER, "cut short");
    f = scores();
    assert_int_equal(nnrt_tokenizer_load_gguf(NULL, f->data, f->bytes, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tokenizer_load_gguf(&t, NULL, 0, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tokenizer_load(&t, NULL, NULL, NULL), NNRT_NULL_PTR);
    free(f);
}

/* A file that is cut off asks for more bytes; a byte that changes is refused or read as something else, within the file. */
static void test_damage(void **state)
{
    static const uint8_t values[] = {0, 1, 0x7F, 0x80, 0xFF};
    file *f = scores();
    uint32_t refusals = 0, loaded = 0;
    (void)state;
    for (size_t bytes = 0; bytes < f->bytes; bytes++) {
        uint8_t *copy = (uint8_t *)malloc(bytes + 1); /* of exact size: the sanitizer notices every read behind it */
        nnrt_tokenizer *t = NULL;
        assert_non_null(copy);
        memcpy(copy + 1, f->data, bytes);
        assert_int_equal(nnrt_tokenizer_load_gguf(&t, copy + 1, bytes, NULL, NULL), NNRT_INSUFFICIENT_BUFFER);
        assert_null(t);
        free(copy);
    }
    for (size_t at = 0; at < f->bytes; at++)
        for (size_t k = 0; k < sizeof(values); k++) {
            uint8_t *copy = (uint8_t *)malloc(f->bytes);
            nnrt_tokenizer *t = NULL;
            uint32_t ids[32];
            size_t count;
            assert_non_null(copy);
            memcpy(copy, f->data, f->bytes);
            copy[at] = values[k];
            if (nnrt_tokenizer_load_gguf(&t, copy, f->bytes, NULL, NULL) == NNRT_SUCCESS) {
                (void)nnrt_tokenize(t, "ab</s>", 6, NNRT_TEXT_AFFIXES | NNRT_TEXT_SPECIAL, ids, 32, &count);
                loaded++;
            } else {
                assert_null(t);
                refusals++;
            }
            nnrt_tokenizer_destroy(t);
            free(copy);
        }
    assert_true(refusals > 500 && loaded > 100);
    free(f);
}

/* Files: keys behind the first block, a file that ends within them, none, and every allocation that fails. */
static void test_files(void **state)
{
    const char *const path = "build/tokenizer_files.gguf";
    file *f = scores();
    nnrt_error error;
    nnrt_tokenizer *t = NULL;
    int64_t failed = 0;
    (void)state;
    list(f, "general.padding", UINT8, 300000);
    for (size_t i = 0; i < 300000; i++)
        put(f, i, 1);
    key(f, "tokenizer.ggml.add_space_prefix", BOOL);
    put(f, 0, 1);
    for (size_t bytes = f->bytes;; bytes = 70000) {
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(f->data, 1, bytes, out), bytes);
        assert_int_equal(fclose(out), 0);
        memset(&error, 0, sizeof(error));
        if (bytes == 70000)
            break;
        assert_int_equal(nnrt_tokenizer_load(&t, path, NULL, &error), NNRT_SUCCESS);
        expect(t, "ab", 0, (const uint32_t[]){5}, 1); /* the key behind the padding was read */
        nnrt_tokenizer_destroy(t);
        for (int64_t n = 1, live = heap_live; n < 200; n++, failed++) {
            NNRT_ReturnCode code;
            heap_fail_at = heap_calls + n;
            code = nnrt_tokenizer_load(&t, path, NULL, NULL);
            heap_fail_at = 0;
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_null(t);
            assert_int_equal(heap_live, live);
        }
        nnrt_tokenizer_destroy(t);
        assert_true(failed > 5 && failed < 198);
    }
    assert_int_equal(nnrt_tokenizer_load(&t, path, NULL, &error), NNRT_INVALID_MODEL);
    assert_non_null(strstr(error.message, "cut short"));
    assert_int_equal(remove(path), 0);
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_tokenizer_load(&t, path, NULL, &error), NNRT_INVALID_FILE);
    assert_non_null(strstr(error.message, "cannot be opened"));
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_tokenizer_load(&t, "build", NULL, &error), NNRT_INVALID_FILE); /* a folder */
    assert_non_null(strstr(error.message, "cannot be read"));
    free(f);
}

#define FOLDER "build/tokenizer_folder/"

/* Writes a file of the folder; text NULL: removes it. */
static void put_file(const char *path, const char *text)
{
    FILE *f;
    if (text == NULL) {
        (void)remove(path);
        return;
    }
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

/* The tokenizer of a folder with these files has this template, and the token `end` as its only end; 9: none. */
static void expect_folder(const char *config, const char *jinja, const char *chat, uint32_t end)
{
    nnrt_tokenizer *t = NULL;
    nnrt_error error;
    nnrt_piece found;
    memset(&error, 0, sizeof(error));
    put_file(FOLDER "tokenizer_config.json", config);
    put_file(FOLDER "chat_template.jinja", jinja);
    if (nnrt_tokenizer_load(&t, FOLDER "tokenizer.json", NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    found = nnrt_tokenizer_template(t);
    assert_int_equal(found.bytes, strlen(chat));
    assert_true(found.bytes == 0 || memcmp(found.data, chat, found.bytes) == 0);
    for (uint32_t id = 0; id < 3; id++)
        assert_int_equal(nnrt_tokenizer_ends(t, id), id == end);
    nnrt_tokenizer_destroy(t);
}

/* tokenizer.json with the files that stand beside it in a model of Hugging Face. */
static void test_folder(void **state)
{
    static const char json[] = "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2},\"merges\":[]}}";
    static const char both[] = "{\"eos_token\":\"b\",\"chat_template\":\"<|im_start|>\\n\\u00e9\"}";
    nnrt_tokenizer *t = NULL;
    nnrt_error error;
    int64_t failed = 0;
    (void)state;
    (void)mkdir(FOLDER, 0777);
    put_file(FOLDER "tokenizer.json", json);
    expect_folder(NULL, NULL, "", 9);
    expect_folder("{\"eos_token\":null,\"chat_template\":null}", NULL, "", 9);
    expect_folder(both, NULL, "<|im_start|>\n\xC3\xA9", 1);
    expect_folder(both, "[INST]", "<|im_start|>\n\xC3\xA9", 1);
    expect_folder("{\"eos_token\":{\"content\":\"c\",\"lstrip\":false}}", "[INST]", "[INST]", 2);
    expect_folder(NULL, "[INST]", "[INST]", 9);
    expect_folder("{\"chat_template\":[{\"name\":\"tool\",\"template\":\"x\"},{\"name\":\"default\",\"template\":\"y\"}]}", NULL, "y",
                  9);
    expect_folder("{\"chat_template\":[{\"name\":\"tool\",\"template\":\"x\"},7],\"eos_token\":\"zz\"}", NULL, "", 9);
    put_file(FOLDER "tokenizer_config.json", both);
    for (int64_t n = 1, live = heap_live; n < 200; n++, failed++) {
        heap_fail_at = heap_calls + n;
        if (nnrt_tokenizer_load(&t, FOLDER "tokenizer.json", NULL, NULL) == NNRT_SUCCESS)
            break;
        heap_fail_at = 0;
        assert_null(t);
        assert_int_equal(heap_live, live);
    }
    heap_fail_at = 0;
    nnrt_tokenizer_destroy(t);
    assert_true(failed > 5 && failed < 198);
    put_file(FOLDER "other.json", json); /* of another model, perhaps */
    assert_int_equal(nnrt_tokenizer_load(&t, FOLDER "other.json", NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_tokenizer_template(t).bytes, 0);
    nnrt_tokenizer_destroy(t);
    put_file(FOLDER "tokenizer_config.json", "{\"chat_template\":");
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_tokenizer_load(&t, FOLDER "tokenizer.json", NULL, &error), NNRT_INVALID_MODEL);
    assert_non_null(strstr(error.message, "tokenizer_config.json is no JSON object"));
    assert_null(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_damage), cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
