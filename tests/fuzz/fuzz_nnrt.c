/* Fuzz target: the bytes are a .nnrt file. It is loaded with and without its checksum; the model is printed, saved,
   loaded again and compared, prepared and run on zeros, optimized, prepared and run, and saved once more. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "nnrt.h"

#include "fuzz.h"

#define FUZZ_FILE_BYTES ((size_t)32 << 20) /* memory limit of optimizing a loaded model */
#define FUZZ_FILE_METADATA 64

/* FNV-1a-64 of a file of so many bytes, with zeros in its own place, as nnrt.h describes it. */
static uint64_t fuzz_file_sum(const uint8_t *file, size_t bytes)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (i >= 24 && i < 32 ? 0u : file[i])) * UINT64_C(1099511628211);
    return hash;
}

/* True if the file is not shorter than its header states, and its checksum is right. */
static bool fuzz_file_whole(const uint8_t *file, size_t size)
{
    uint64_t bytes, sum;
    if (size < 64)
        return false;
    memcpy(&bytes, file + 16, sizeof(bytes));
    memcpy(&sum, file + 24, sizeof(sum));
    return bytes >= 64 && bytes <= size && fuzz_file_sum(file, (size_t)bytes) == sum;
}

/* ---- two models ---- */

static bool fuzz_same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool fuzz_same_indices(const NNRT_Uint32List *a, const NNRT_Uint32List *b)
{
    return a->count == b->count && (a->count == 0 || memcmp(a->data, b->data, a->count * sizeof(*a->data)) == 0);
}

static bool fuzz_same_tensor(const NNRT_Tensor *a, const NNRT_Tensor *b)
{
    return fuzz_same_text(a->name, b->name) && a->dataType == b->dataType && a->format == b->format &&
           a->dims.count == b->dims.count && a->quantParams.count == b->quantParams.count &&
           (a->dims.count == 0 || memcmp(a->dims.data, b->dims.data, a->dims.count * sizeof(*a->dims.data)) == 0) &&
           (a->quantParams.count == 0 ||
            memcmp(a->quantParams.data, b->quantParams.data, a->quantParams.count * sizeof(NNRT_QuantParam)) == 0) &&
           a->quantAxis == b->quantAxis && fuzz_same_indices(&a->symbols, &b->symbols) &&
           fuzz_constant(a) == fuzz_constant(b) && a->data.dataSize == b->data.dataSize &&
           (a->data.dataSize == 0 || memcmp(fuzz_data(&a->data), fuzz_data(&b->data), a->data.dataSize) == 0);
}

static bool fuzz_same_node(const NNRT_Node *a, const NNRT_Node *b)
{
    return fuzz_same_text(a->name, b->name) && a->nodeType == b->nodeType && a->quantType == b->quantType &&
           fuzz_same_indices(&a->inputIndex, &b->inputIndex) && fuzz_same_indices(&a->outputIndex, &b->outputIndex) &&
           nnrt_attr_equal(nnrt_op_find(a->nodeType)->attr, a->nodeAttr.data, b->nodeAttr.data);
}

static bool fuzz_same_graph(const NNRT_SubGraph *a, const NNRT_SubGraph *b)
{
    return fuzz_same_text(a->name, b->name) && fuzz_same_indices(&a->inputIndices, &b->inputIndices) &&
           fuzz_same_indices(&a->outputIndices, &b->outputIndices) &&
           fuzz_same_indices(&a->nodeIndices, &b->nodeIndices);
}

/* Everything but addresses is equal. */
static void fuzz_same_model(const NNRT_Model *a, const NNRT_Model *b)
{
    fuzz_expect(fuzz_same_text(a->name, b->name) && fuzz_same_indices(&a->inputIndex, &b->inputIndex) &&
                    fuzz_same_indices(&a->outputIndex, &b->outputIndex),
                "a saved model has its name, inputs and outputs", a->name);
    fuzz_expect(a->allTensors.count == b->allTensors.count && a->nodes.count == b->nodes.count &&
                    a->subGraph.count == b->subGraph.count,
                "a saved model has as many parts", a->name);
    for (uint32_t i = 0; i < a->allTensors.count; i++)
        fuzz_expect(fuzz_same_tensor(&a->allTensors.data[i], &b->allTensors.data[i]), "a saved tensor is the same",
                    a->allTensors.data[i].name);
    for (uint32_t i = 0; i < a->nodes.count; i++)
        fuzz_expect(fuzz_same_node(&a->nodes.data[i], &b->nodes.data[i]), "a saved node is the same",
                    a->nodes.data[i].name);
    for (uint32_t i = 0; i < a->subGraph.count; i++)
        fuzz_expect(fuzz_same_graph(&a->subGraph.data[i], &b->subGraph.data[i]), "a saved subgraph is the same",
                    a->subGraph.data[i].name);
}

/* ---- one file ---- */

/* The metadata that a file may be saved with: up to the first key that is empty or a duplicate. */
static uint32_t fuzz_metadata(const NNRT_Model *m, nnrt_metadata *metadata)
{
    uint32_t count = 0;
    for (; count < FUZZ_FILE_METADATA; count++) {
        metadata[count] = nnrt_model_metadata_at(m, count);
        if (metadata[count].key == NULL || metadata[count].key[0] == '\0')
            break;
        if (!fuzz_same_text(nnrt_model_metadata(m, metadata[count].key), metadata[count].value) ||
            nnrt_model_metadata(m, metadata[count].key) != metadata[count].value)
            break;
    }
    return count;
}

/* Saves m into a block of exactly the required bytes. */
static uint8_t *fuzz_file_save(const NNRT_Model *m, const nnrt_metadata *metadata, uint32_t count, size_t *bytes)
{
    nnrt_save_desc desc;
    nnrt_error e;
    uint8_t *file;
    size_t again;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    desc.metadata = metadata;
    desc.metadataCount = count;
    code = nnrt_model_save_memory(m, &desc, NULL, 0, bytes, &e);
    fuzz_check_error(code, &e, "nnrt_model_save_memory");
    fuzz_expect(code == NNRT_SUCCESS, "what was loaded can be saved", e.message);
    file = (uint8_t *)fuzz_block(*bytes);
    fuzz_expect(nnrt_model_save_memory(m, &desc, file, *bytes, &again, &e) == NNRT_SUCCESS && again == *bytes,
                "the bytes that were told do", e.message);
    fuzz_expect(fuzz_file_whole(file, *bytes), "a saved file has its checksum", NULL);
    return file;
}

/* Saved, loaded and saved again: the same model, and the same bytes. */
static void fuzz_file_again(const NNRT_Model *m, size_t size)
{
    nnrt_metadata metadata[FUZZ_FILE_METADATA], none[FUZZ_FILE_METADATA];
    uint32_t count = fuzz_metadata(m, metadata);
    size_t bytes, more;
    uint8_t *file = fuzz_file_save(m, metadata, count, &bytes), *other;
    NNRT_Model *back = NULL;
    nnrt_load_desc desc;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    desc.checksum = true;
    fuzz_expect(bytes <= NNRT_FILE_FACTOR * size + 4096, "a file does not grow when it is saved", NULL);
    fuzz_expect(nnrt_model_load_memory(&back, file, bytes, &desc, &e) == NNRT_SUCCESS, "what was saved loads",
                e.message);
    fuzz_same_model(m, back);
    fuzz_expect(fuzz_metadata(back, none) == count, "metadata are saved", NULL);
    other = fuzz_file_save(back, none, count, &more);
    fuzz_expect(more == bytes && memcmp(file, other, bytes) == 0, "saved twice it is the same file", NULL);
    nnrt_model_destroy(back);
    free(other);
    free(file);
}

/* Calls the functions that describe a loaded model, without running it. */
static void fuzz_file_show(const NNRT_Model *m, const uint8_t *file, size_t size)
{
    nnrt_file_section section;
    size_t length = nnrt_model_dot(m, NULL, NULL, 0);
    char *text = (char *)fuzz_block(length + 1);
    fuzz_expect(nnrt_model_dot(m, NULL, text, length + 1) == length && strlen(text) == length, "dot has the length it tells",
                NULL);
    free(text);
    for (uint32_t i = 0; nnrt_model_section(m, i, &section); i++) {
        fuzz_expect(section.offset <= size && section.bytes <= size - section.offset &&
                        section.data == file + section.offset,
                    "a section lies inside the file", section.name);
        fuzz_expect(strlen(section.name) < size && strlen(section.kind) > 0, "a section has a name and a kind", NULL);
    }
}

static void fuzz_nnrt(const uint8_t *data, size_t size)
{
    uint8_t *file = (uint8_t *)fuzz_block(size);
    NNRT_Model *model = NULL, *checked = NULL;
    nnrt_load_desc desc;
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, NNRT_FILE_FACTOR * size + 4096);
    nnrt_error e;
    NNRT_ReturnCode code, again;
    if (size > 0)
        memcpy(file, data, size);
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    code = nnrt_model_load_memory(&model, file, size, &desc, &e);
    fuzz_check_error(code, &e, "nnrt_model_load_memory");
    fuzz_expect((model != NULL) == (code == NNRT_SUCCESS), "a model comes with success only", e.message);
    fuzz_expect(memory.refused == 0, "loading keeps within what is promised", e.message);
    memory.limit = FUZZ_FILE_BYTES;
    memset(&e, 0, sizeof(e));
    desc.checksum = true;
    again = nnrt_model_load_memory(&checked, file, size, &desc, &e);
    fuzz_check_error(again, &e, "nnrt_model_load_memory");
    fuzz_expect(again == code || (again == NNRT_INVALID_FILE && !fuzz_file_whole(file, size)),
                "the checksum makes the only difference", e.message);
    fuzz_expect(again != NNRT_SUCCESS || fuzz_file_whole(file, size), "a wrong checksum is found", NULL);
    nnrt_model_destroy(checked);
    if (model != NULL) {
        fuzz_file_show(model, file, size);
        fuzz_file_again(model, size);
        fuzz_model_both(&model, &memory, NULL);
        fuzz_file_again(model, FUZZ_FILE_BYTES);
    }
    fuzz_expect(size == 0 || memcmp(file, data, size) == 0, "the file's bytes are only read", NULL);
    nnrt_model_destroy(model);
    fuzz_memory_empty(&memory);
    free(file);
}

/* ---- mutations that pass the checks of the header ---- */

#if !defined(FUZZ_INCLUDED) && !defined(__AFL_COMPILER)
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);

static uint32_t fuzz_draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(*state >> 8) * below >> 24);
}

/* One word becomes an extreme value, a number near its own, or a copy of another word. */
static void fuzz_change_word(uint8_t *data, size_t size, uint32_t *state)
{
    static const uint32_t borders[] = {0, 1, 2, 3, 4, 8, 64, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7F800000};
    const uint32_t words = (uint32_t)(size / 4);
    uint8_t *at = data + 4 * (size_t)fuzz_draw(state, words);
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    switch (fuzz_draw(state, 4)) {
    case 0: word = borders[fuzz_draw(state, 12)]; break;
    case 1: word += fuzz_draw(state, 9) - 4u; break;
    case 2: memcpy(&word, data + 4 * (size_t)fuzz_draw(state, words), sizeof(word)); break;
    default: word = fuzz_draw(state, 256); break;
    }
    memcpy(at, &word, sizeof(word));
}

/* Copies up to 48 bytes over others: a record, a row, a list. */
static void fuzz_change_copy(uint8_t *data, size_t size, uint32_t *state)
{
    static const uint32_t widths[] = {4, 8, 16, 24, 40, 48};
    const uint32_t width = widths[fuzz_draw(state, 6)], words = (uint32_t)(size - width) / 4 + 1;
    memmove(data + 4 * (size_t)fuzz_draw(state, words), data + 4 * (size_t)fuzz_draw(state, words), width);
}

/* Some bytes change as in libFuzzer, and none moves. */
static void fuzz_change_bytes(uint8_t *data, size_t size, uint32_t *state)
{
    uint8_t part[32];
    const uint32_t width = 1 + fuzz_draw(state, sizeof(part)), at = fuzz_draw(state, (uint32_t)size - width + 1);
    memcpy(part, data + at, width);
    memcpy(data + at, part, LLVMFuzzerMutate(part, width, width));
}

/* Mostly the bytes keep their positions, because the file contains offsets; then the header gets their number and their
   checksum. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    uint32_t state = seed, kind = fuzz_draw(&state, 12);
    uint64_t bytes, sum;
    if (size < 64 || kind == 0)
        size = LLVMFuzzerMutate(data, size, most);
    else
        for (uint32_t n = 1 + fuzz_draw(&state, 3); n > 0; n--) {
            if (kind < 6)
                fuzz_change_word(data, size, &state);
            else if (kind < 8)
                fuzz_change_copy(data, size, &state);
            else
                fuzz_change_bytes(data, size, &state);
        }
    if (size < 64 || fuzz_draw(&state, 16) == 0)
        return size;
    memcpy(&bytes, data + 16, sizeof(bytes));
    if (bytes < 64 || bytes > size)
        bytes = size;
    memcpy(data + 16, &bytes, sizeof(bytes));
    sum = fuzz_file_sum(data, (size_t)bytes);
    memcpy(data + 24, &sum, sizeof(sum));
    return size;
}
#endif

FUZZ_TARGET(fuzz_nnrt)
