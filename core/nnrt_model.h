/*
nnrt_model.h - the model of nnrt: a graph of operators as plain data, its validation, constants in blocks of memory that
have a descriptor, and the .nnrt format as bytes in memory. The allocator and the arenas in which models and plans are
built are here, too, because everything above uses them.

READERS
    A program that makes, checks, stores or reads models and does not run them: this file and nnrt_ops.h suffice.
    Applications include nnrt.h, device vendors nnrt_hal.h; both include this file.

SECTIONS (search for the tag)
    >>memory      allocator; memory whose size is counted by the same code that uses it
    >>model       NNRT_Model and its parts, NNRT_IOTensor
    >>buffers     blocks of memory that have a descriptor
    >>validate    validation without shapes
    >>format      the .nnrt format: models as bytes in memory, loaded in place; metadata
    >>model_writers  for writers of devices and importers: subgraphs of nodes, places of faults, kinds of files
    -- implementation --
    >>memory >>buffers >>validate >>format
    >>states      metadata that are added to a model; values that sessions keep between runs

OWNERSHIP
    A model is plain data that this library never changes: it may be const and be stored in flash. Arguments stay the
    caller's. A loaded model uses the bytes of its file in place. For a constant that has only a descriptor the file
    must outlive the model; the descriptor may be closed once the constant is mapped.

ERRORS
    Functions return a code of NNRT_ReturnCode. If the caller passes an nnrt_error, it receives a message that names
    node, operator, the found and the expected values. No function aborts or prints.

MIT license, see LICENSE.
*/
#ifndef NNRT_MODEL_H
#define NNRT_MODEL_H

#include "../nnrt_ops.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>memory */

/* The source of memory. alloc returns bytes bytes aligned to alignment (a power of two), NULL if there is no memory;
   it need not clear them. free receives the block and the size that was requested. With a NULL allocator, or alloc
   NULL, malloc and free are used; under NNRT_FIRMWARE every allocation then fails. free NULL beside an alloc: blocks
   are never returned. The threads that prepare and destroy models and sessions call it, several at once if the
   program does; nnrt_plan_run never does. */
typedef struct nnrt_allocator {
    void *(*alloc)(void *user, size_t bytes, size_t alignment);
    void (*free)(void *user, void *block, size_t bytes);
    void *user;
} nnrt_allocator;

#ifdef NNRT_FIRMWARE
#define NNRT_ALIGNMENT 8 /* of buffers handed in and of tensors in the arena, bytes */
#else
#define NNRT_ALIGNMENT 64
#endif

/* NNRT_PIECE_BYTES       bytes requested from the allocator at once while models are built and prepared. A block larger
                          than a quarter of it gets an allocation of its own; 0: every block does. */
#ifndef NNRT_PIECE_BYTES
#define NNRT_PIECE_BYTES 4096
#endif

/* Takes a block from an allocator, aligned to NNRT_ALIGNMENT and not cleared; NULL: no memory. */
NNRT_API void *nnrt_alloc(const nnrt_allocator *allocator, size_t bytes);
/* Returns a block to the same allocator, with the same number of bytes; block NULL is fine. */
NNRT_API void nnrt_free(const nnrt_allocator *allocator, void *block, size_t bytes);

/* A two-ended arena whose exact size is known beforehand. Kept blocks grow from the front and live as long as the
   prepared model; temporary blocks grow from the back and live until nnrt_memory_drop_temp. No block is freed alone.
   The same code path runs in three modes: nnrt_memory_count counts bytes, nnrt_memory_allocate takes pieces from an
   allocator, nnrt_memory_buffer works in one buffer. A buffer of the counted peak suffices, because one walk counts
   and allocates: the code that allocates must therefore request the same sizes in the same order in every mode.
   (Rejected: a function of its own that computes the size. Two formulas drift apart.) full is sticky: after one
   request failed, every later one fails, so that a caller may check once after several requests. One thread at a
   time. */
typedef struct nnrt_memory {
    uint8_t *base, *top; /* buffer mode: kept blocks grow from base upwards, temporary ones from top downwards */
    size_t size;         /* bytes of the buffer, rounded down to NNRT_ALIGNMENT; otherwise no limit */
    size_t front, back;  /* bytes of kept and of temporary blocks, with their padding */
    size_t frontPeak, backPeak, peak; /* the largest values of front, of back, and of front + back */
    bool full, counting;              /* a request failed; count mode */
    bool bulk;                        /* the request is one of bulk data */
    size_t bulkBytes;                 /* of bulk data, each block rounded up to NNRT_ALIGNMENT */
    const nnrt_allocator *allocator;
    void *pieces[3]; /* lists of pieces from the allocator: of kept blocks, of temporary blocks, of bulk data */
    /* takes a block from the pieces; NULL in buffer mode, so that the linker drops the allocator's code there */
    void *(*more)(struct nnrt_memory *m, size_t rounded, size_t alignment, bool temp);
} nnrt_memory;

/* Begins count mode and initializes *m. It allocates real blocks, too, because later sizes depend on the tables in
   them; only bulk data, such as packed weights, are counted alone. The caller frees them with nnrt_memory_end and reads
   m->peak. */
NNRT_API void nnrt_memory_count(nnrt_memory *m, const nnrt_allocator *allocator);
/* Begins a memory that takes pieces from an allocator, and initializes *m. */
NNRT_API void nnrt_memory_allocate(nnrt_memory *m, const nnrt_allocator *allocator);
/* Begins a memory in one buffer, which is aligned to NNRT_ALIGNMENT and stays the caller's, and initializes *m. */
NNRT_API void nnrt_memory_buffer(nnrt_memory *m, void *buffer, size_t bytes);
/* A zeroed kept block, aligned to 16 bytes (NNRT_FIRMWARE: 8); NULL: no memory, and m->full is set. 0 bytes count as 1.
   */
NNRT_API void *nnrt_memory_keep(nnrt_memory *m, size_t bytes);
/* A zeroed kept block, aligned to NNRT_ALIGNMENT; otherwise as nnrt_memory_keep. */
NNRT_API void *nnrt_memory_keep_aligned(nnrt_memory *m, size_t bytes);
/* A zeroed temporary block; otherwise as nnrt_memory_keep. */
NNRT_API void *nnrt_memory_temp(nnrt_memory *m, size_t bytes);
/* keep and temp for an array of count elements of size bytes; NULL also if the product overflows. */
static inline void *nnrt_memory_keep_array(nnrt_memory *m, size_t count, size_t size)
{
    size_t bytes;
    return nnrt_mul_size(count, size, &bytes) ? nnrt_memory_keep(m, bytes) : NULL;
}
static inline void *nnrt_memory_temp_array(nnrt_memory *m, size_t count, size_t size)
{
    size_t bytes;
    return nnrt_mul_size(count, size, &bytes) ? nnrt_memory_temp(m, bytes) : NULL;
}
/* *out = bytes rounded up to a multiple of alignment, a power of two; false if that overflows. */
static inline bool nnrt_round_size(size_t bytes, size_t alignment, size_t *out)
{
    if (!nnrt_add_size(bytes, alignment - 1, out))
        return false;
    *out &= ~(alignment - 1);
    return true;
}
/* Frees all temporary blocks at once. */
NNRT_API void nnrt_memory_drop_temp(nnrt_memory *m);
/* Frees all blocks, kept ones too; the peaks stay readable. */
NNRT_API void nnrt_memory_end(nnrt_memory *m);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>model */

/* A list: count elements at data, which belong to the caller; Name_make(data, count) returns one. */
#define NNRTI_LIST(Name, T)                                                                                            \
    typedef struct Name {                                                                                              \
        const T *data;                                                                                                 \
        uint32_t count;                                                                                                \
    } Name;                                                                                                            \
    static inline Name Name##_make(const T *data, uint32_t count)                                                      \
    {                                                                                                                  \
        Name list;                                                                                                     \
        list.data = data;                                                                                              \
        list.count = count;                                                                                            \
        return list;                                                                                                   \
    }
NNRTI_LIST(NNRT_Int32List, int32_t)
NNRTI_LIST(NNRT_Uint32List, uint32_t)
NNRTI_LIST(NNRT_QuantParamList, NNRT_QuantParam)

#define NNRT_NO_TENSOR 0xFFFFFFFFu /* in inputIndex and outputIndex: an optional operand that is left out */
#define NNRT_RANK_UNKNOWN (-2)     /* dims {-2}: rank and dimensions follow from the node that writes the tensor */

/* A block of memory of bufferSize bytes, whose valid data are [offset, offset + dataSize). fd: the block's
   descriptor, -1: none. addr (ours, appended): the address of the block's first byte in this process, not of the
   data; NULL: code that needs the address maps fd (>>buffers). If both are set they denote the same block. fd -1 and
   addr NULL: no data. The struct does not own the block. */
typedef struct NNRT_SharedBuffer {
    int32_t fd;
    uint32_t bufferSize, offset, dataSize; /* bytes */
    void *addr;
} NNRT_SharedBuffer;

/* The version of the memory layout of NNRT_Tensor, NNRT_Node, NNRT_SubGraph, NNRT_SharedBuffer, NNRT_IOTensor and
   nnrt_dims. These structs are elements of arrays, so they cannot carry a structSize, and they reach devices that may
   be compiled with another version of this header. Every change of one of them increments the number; a device's
   table contains the number that the device was compiled with (NNRT_HDI), and registration compares it. */
#define NNRT_LAYOUT 1

/* dims: in elements. Empty = scalar; -1 = a dynamic dimension, known when a session is created or in each run.
   Outputs of nodes may leave dataType UNKNOWN and dims {NNRT_RANK_UNKNOWN}: shape inference computes type and shape.
   A tensor with data is a constant: dense (row-major, no padding), in the byte order of the machine (little-endian),
   aligned to the element size.
   quantParams: one scale and zero point for the whole tensor (per-tensor quantization), or one for each index along
   an axis (per-axis). quantAxis (ours, appended) chooses that axis: 0 = the axis that the operator defines, the usual
   case; k > 0 = axis k - 1.
   symbols (ours, appended): the identity of dynamic dimensions. Empty, or one entry per axis: 0 for a fixed dimension
   and for a dynamic one that equals no other; otherwise a number chosen by the model. Dynamic dimensions with one
   number have equal size in every run. */
typedef struct NNRT_Tensor {
    const char *name; /* unique when not empty */
    NNRT_DataType dataType;
    NNRT_Int32List dims;
    NNRT_Format format; /* order of the axes of an image; NONE counts as NHWC */
    NNRT_SharedBuffer data;
    NNRT_QuantParamList quantParams;
    int32_t quantAxis;
    NNRT_Uint32List symbols;
} NNRT_Tensor;
NNRTI_LIST(NNRT_TensorList, NNRT_Tensor)

/* The attribute struct that nodeType implies (CONV2D_FUSION: NNRT_Conv2DFusion). size: valid bytes of the
   struct; members after them have their defaults. data NULL: all members have their defaults. */
typedef struct NNRT_NodeAttr {
    const void *data;
    uint32_t size;
} NNRT_NodeAttr;

typedef struct NNRT_Node {
    const char *name;
    NNRT_NodeType nodeType; /* below 0: an operator of the application (nnrt_op_register) */
    NNRT_NodeAttr nodeAttr;
    NNRT_Uint32List inputIndex, outputIndex; /* into Model.allTensors, in the order of the operator's row */
    NNRT_QuantType quantType;
} NNRT_Node;
NNRTI_LIST(NNRT_NodeList, NNRT_Node)

/* A graph that a node runs: a branch of an IF, the body of a LOOP. Tensors of all subgraphs are in one table. A
   subgraph may read tensors of the enclosing graphs (captured tensors). They are not listed: a captured tensor is an
   input of one of its nodes that is neither an output of its nodes nor one of inputIndices. */
typedef struct NNRT_SubGraph {
    const char *name;
    NNRT_Uint32List inputIndices, outputIndices; /* into Model.allTensors */
    NNRT_Uint32List nodeIndices;                 /* into Model.nodes */
} NNRT_SubGraph;
NNRTI_LIST(NNRT_SubGraphList, NNRT_SubGraph)

/* A model: a graph of operators in static single assignment (each tensor is an input, a constant, or written by one
   node). Nodes may be in any order; validation sorts them. The inputs and outputs of a run are in the order of
   inputIndex and outputIndex (into allTensors). subGraph[0] is the main graph. With further subgraphs, each is an
   attribute of exactly one node, nodeIndices assign every node to one subgraph, and a tensor that is defined in one
   graph may be read there and in the graphs nested in it. All pointers stay the caller's. */
typedef struct NNRT_Model {
    const char *name;
    NNRT_Uint32List inputIndex, outputIndex;
    NNRT_NodeList nodes;
    NNRT_TensorList allTensors;
    NNRT_SubGraphList subGraph;
    const struct NNRT_Model
        *self; /* appended: NULL. Its own address in a model that a builder, loader or importer made */
} NNRT_Model;

/* 8 dimensions, whatever NNRT_MAX_RANK is: shapes pass between the program and devices that were compiled with another
   NNRT_MAX_RANK. Firmware has no such devices. */
#ifdef NNRT_FIRMWARE
#define NNRTI_DIMS NNRT_MAX_RANK
#else
#define NNRTI_DIMS 8
#endif

typedef struct nnrt_dims {
    int32_t rank;
    int32_t dims[NNRTI_DIMS];
} nnrt_dims;
NNRTI_LIST(nnrt_dims_list, nnrt_dims)

#define NNRT_MAX_NESTING 16 /* maximum nesting depth of subgraphs */

/* An input or output of a run, dense. dimensions: the shape in this run, without -1; a dynamic dimension may differ
   from run to run. The dimensions of a dynamic output are ignored: the run stores them in outputDims. data: aligned
   to the element size; of a dynamic output, room for the result that is expected. */
typedef struct NNRT_IOTensor {
    const char *name;
    NNRT_DataType dataType;
    NNRT_Int32List dimensions;
    NNRT_Format format;
    NNRT_SharedBuffer data;
} NNRT_IOTensor;

#ifndef NNRT_FIRMWARE
/* Dimensions or value of an input that a caller knows before a run (importers, nnrt_model_fix, sessions). */
typedef struct nnrt_input {
    const char *name;
    nnrt_dims shape;  /* -1: a dynamic dimension */
    const void *data; /* NULL: an input of this shape. Otherwise its value, dense elements of the input's type: the input
                         becomes a constant */
} nnrt_input;
#endif

/* Resets error to no failure; NULL is fine. The first failure wins: until then a second message does not replace it. */
NNRT_API void nnrt_error_clear(nnrt_error *error);
#ifndef NNRT_FIRMWARE
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>buffers */

/* The address of a buffer's block in this process. *block, to which the caller adds buffer->offset, is addr if it is
   set; otherwise fd is memory-mapped, shared, for reading or for reading and writing; NULL if fd must be mapped and
   dataSize is 0. The buffer is unchanged; its descriptor stays the caller's, who may close it before the mapping ends.
   INVALID_BUFFER: no descriptor and no address, data outside bufferSize or outside the file of fd, a descriptor that
   cannot be mapped in this mode, or a program without mmap (NNRT_MMAP 0). The file must not shrink while it is mapped.
   */
NNRT_API NNRT_ReturnCode nnrt_buffer_map(const NNRT_SharedBuffer *buffer, bool write, void **block, nnrt_error *error);
/* Ends the mapping that nnrt_buffer_map created for the same buffer; no effect if block was addr or NULL. */
NNRT_API void nnrt_buffer_unmap(const NNRT_SharedBuffer *buffer, void *block);
/* A new zeroed block of that many bytes from the system. It is on Linux with a descriptor (memfd_create, sealed against
   shrinking) and without an address, elsewhere with an address and without a descriptor. INVALID_PARAMETER: bytes is 0.
   OUT_OF_MEMORY. */
NNRT_API NNRT_ReturnCode nnrt_buffer_create(uint32_t bytes, NNRT_SharedBuffer *buffer);
/* Releases a block of nnrt_buffer_create: closes the descriptor, or frees the memory. Existing mappings stay valid. */
NNRT_API void nnrt_buffer_destroy(const NNRT_SharedBuffer *buffer);

typedef struct nnrt_mapping nnrt_mapping;
/* Maps constants that have only a descriptor, for devices that read constants by address. Returns the model itself if
   it has none, else a shallow copy whose constants have addresses. Each descriptor is mapped once. A constant that
   cannot be mapped keeps addr NULL, and validation reports it. The copy is a temporary block of `memory`: it is valid
   until nnrt_memory_drop_temp. The mapped data and *mappings (a kept block) are valid until nnrt_model_unmap. NULL:
   no memory; *mappings is then passed to nnrt_model_unmap all the same. nnrt_plan_prepare calls it. */
NNRT_API const NNRT_Model *nnrt_model_map(const NNRT_Model *model, nnrt_memory *memory, nnrt_mapping **mappings);
/* Unmaps the constants that nnrt_model_map mapped; called before `memory` is freed. NULL is fine. */
NNRT_API void nnrt_model_unmap(nnrt_mapping *mappings);
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>validate */

/* Checks all properties of a model that do not depend on shapes: indices, producers, cycles, names, types,
   constant buffers, operators. Nothing in the model is trusted before. *order, if order is not NULL, is a topological
   order in temporary memory, nodes.count + subGraph.count + 1 numbers (NNRT_FIRMWARE: the nodes only): the indices of
   all nodes, producers before consumers, the main graph before each subgraph; then for each graph g the position of
   its first node (order[nodes.count + g]); then the number of nodes. The code names the violated rule
   (INVALID_TENSOR, INVALID_NODE ...), error the place. */
NNRT_API NNRT_ReturnCode nnrt_model_check(const NNRT_Model *model, nnrt_memory *memory, uint32_t **order,
                                          nnrt_error *error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>format */

/* A .nnrt file stores a model for use in place: in a memory map, flash or an array. All numbers are little-endian; a
   big-endian machine rejects files with NNRT_NOT_SUPPORT.

   Header, 64 bytes: 8 bytes magic 89 'N' 'N' 'R' 'T' 0D 0A 1A; u32 version (1 or 2); u32 bytes of the header (64); u64
   bytes of the file; u64 checksum: FNV-1a-64 over the file with these 8 bytes as zeros; u32 number of sections; u32
   bytes of a row of the section table (40); u32 1 in a cache (nnrt.h, >>cache), whose device sections enter the
   checksum by words of 8 bytes, as a checksum of all bytes takes longer than to pack weights again, else 0; zeros.
   Section table, directly after the header: a row is u32 type; u32 flags; u64 offset from the start of the file; u64
   bytes; u32 alignment, a power of two of at least 64; u32 record: bytes per record of the section; u32 name, a TEXT;
   u32 zero. Sections are sorted by offset and do not overlap. Readers skip sections of unknown type, unless flags has
   bit 0 (then they reject the file). Of a record that is longer than they know they ignore the rest; a shorter one,
   from an earlier writer, is extended with zeros. The version increases only for changes that older readers neither
   skip nor reject by flags, and is written only if a model needs it. Version 2: a tensor has a quantAxis.

   TEXT: u32, offset in "strings", whose texts end in 0; it follows a 0; offset 0 is the empty text. LIST: u32 at, u32
   count: entries from word `at` (of 4 bytes) of "lists"; entries of 8 bytes begin at even words. No two texts,
   lists or constants share bytes.

   type  section    record
   1     strings    1: the texts, one after the other; the first and the last byte are 0
   2     model      24, one: TEXT name, u32 zero, LIST of u32 inputs, LIST of u32 outputs
   3     subgraphs  32: TEXT name, u32 zero, LISTs of u32: inputs, outputs, nodes. The first is the main graph
   4     tensors    56: TEXT name, i32 dataType, i32 format, u32 flags (bit 0: constant), LIST of i32 dims, LIST of
                    quantParams (i32 numBits, i32 zeroPoint, f64 scale), u64 offset in "weights", u32 bytes, i32
                    quantAxis (version 1: zero), LIST of u32 symbols (0.1.0 had 48 bytes, without it)
   5     nodes      40: TEXT name, i32 nodeType, i32 quantType, u32 shape of the attributes, LIST of 8-byte attributes,
                    LISTs of u32: inputs, outputs. 44 if any node has an operator of the application (nnrt_op_register):
                    TEXT operator follows. Such a node has nodeType -1, and loading looks its operator up in the
                    registry by this name
   6     lists      4
   7     metadata   8: TEXT key, TEXT value. The keys are unique and not empty
   8     weights    1: constants, dense, each at a multiple of 64
   9     device     1: prepared form of the model, or of a partition; its name is the device's unique name
   10    plan       1: a finished plan for firmware, in a file without a model (devices/nnrt_mcu.h, >>program)

   A device section: u64 checksum, by words, over all bytes after these 8; u64 model: a digest of the model, or of the
   partition, with all weights (FNV-1a-64 of a .nnrt file of its own without metadata, weights by words); u64 options:
   FNV-1a-64 over the options of the preparation and the device; u32 NNRT_LAYOUT; i32 type of the device; u32 number of
   blocks; u32 flags (bit 0: the whole model, not a partition); 24 zeros; per block a row of u64 offset in the section,
   u64 bytes; the blocks, each at a multiple of 64: the result of ExportModelCache, in its order. Flags bit 1: the
   blocks are a table and the prepacked weights of a device (nnrt_packs), for the whole model as this file stores it;
   the checksum ends with the table, and the digest excludes weights: only the checksum of the file covers prepacked
   weights, as it does the weights of the model.

   An attribute is 8 bytes, in the order of the struct's description (nnrt_attr_struct): BOOL 0 or 1; INT, INT64, ENUM
   and TYPE i64; FLOAT its bits, above them zeros; DOUBLE its bits; STRING a TEXT and GRAPH u32 (0xFFFFFFFF: none),
   above them zeros; INTS and INTS64 LIST of i64; INTS2 LIST of 8-byte LISTs of i64; FLOATS LIST of f32. A file may have
   fewer than the description: the rest have their defaults. The shape is FNV-1a-32 over the attributes that the file
   has: each name with its terminating 0, and its kind (NNRT_ATTR_KIND_) as one byte. In this hash INT64 and a TYPE of 8
   bytes count as INT, a TYPE of 4 as ENUM, INTS64 as INTS: the file does not limit the range of a value.

   Metadata are for the program that uses the model. Keys with a meaning (the command line uses them):
     labels                 names of the classes, one per line (at least 2), for each output: they belong to the axis
                            whose size is the number of lines
     labels.OUTPUT          the same for the output of that name
     input.NAME.mean        how an image becomes the input of that name: value = (pixel - mean) * scale, pixel 0 to 255.
     input.NAME.scale       One number, or one per channel, separated by commas; a number may be a fraction, 1/255
     input.NAME.std         a divisor instead of scale
     input.NAME.color       rgb, bgr or gray: meaning of the channels
     input.NAME.invert      yes: 255 - pixel instead of pixel; no
     input.NAME.layout      nchw or nhwc: the order of the axes
     states                 one line per state, "INPUT=OUTPUT": a value that a session keeps between runs. It begins with
                            zeros (8 bits: the zero point); each run reads it as that input and replaces it by that
                            output. The states are the last inputs and outputs of the model, in the order of the lines
     rotary                 of a decoder: states of keys that are rotated by the positions of their rows, so that
                            nnrt_session_drop_rows can turn them. One line for all keys with the same frequencies,
                            "INPUT,INPUT=HEADS pairs F F ..": rows of HEADS heads, in each of which the elements 2i and 2i + 1
                            turn by position * F[i]; "halves": the elements i and i + n, of n frequencies. F: the bits of a
                            float32, 8 hexadecimal digits. "INPUT*SCALES": keys of int8 with the state of their scales, as
                            QUANTIZE_BLOCKS makes them
     pages                  of a decoder: the rows of its states are pages of so many rows, which several sequences share; their
                            input "pages" has the table of one. Rows of one sequence are not saved or dropped as those of a state
     sequences              of an ONNX file: one line per input and output that was a sequence, "NAME=LENGTH": its tensors are
                            the inputs or outputs NAME[0], NAME[1], .. here; "NAME=none": an optional value that is absent
     description, license, source   texts for people

   Extensions. Subgraphs (IF, LOOP): nodes, tensors and weights of all graphs share the same tables; an attribute GRAPH
   is the number of a record of "subgraphs". Prepared forms of devices: sections of type 9 after the portable model,
   which does not depend on them; a device that cannot use one prepares the model again. A file with such sections and
   no nodes is a cache: its tensors are the inputs and outputs of a model that is stored elsewhere. Section
   types of an application: from 0x10000 on; lower ones are reserved. Saving a model drops unknown sections, and device
   sections unless they are passed (nnrt_save_desc.cache): they may not be valid for the saved model. */
#define NNRT_FILE_VERSION 2 /* the latest; writing uses an earlier one if it suffices */
#define NNRT_FILE_HEADER 64 /* bytes that nnrt_file_is needs */

/* Loading requests from the allocator at most this factor times the bytes of the file without its weights and device
   sections, and 4 KiB (malloc: 64 KiB); nnrt_model_load without a memory map also the bytes of the file. */
#define NNRT_FILE_FACTOR 16

typedef struct nnrt_metadata {
    const char *key, *value; /* "labels", "cat\ndog" */
} nnrt_metadata;

/* Loads the model of a .nnrt file in memory, which is used in place. data must be aligned to NNRT_ALIGNMENT and outlive
   the model. bytes may exceed the size of the file. For any content of data the result is a model that nnrt_model_check
   accepts, or a code. All allocations come from memory and stay there; its temporary blocks are dropped. Such a model
   is not destroyed: it ends with the memory. checksum: verify it, which reads the whole file. */
NNRT_API NNRT_ReturnCode nnrt_model_load_into(NNRT_Model **model, const void *data, size_t bytes, bool checksum,
                                              nnrt_memory *memory, nnrt_error *error);
/* Whether data, of at least NNRT_FILE_HEADER bytes, begins like a .nnrt file. */
NNRT_API bool nnrt_file_is(const void *data, size_t bytes);

#ifndef NNRT_FIRMWARE
/* All zero is the default. */
typedef struct nnrt_save_desc {
    const nnrt_allocator *allocator; /* for checking the model */
    const nnrt_metadata *metadata;   /* keys are unique and not empty; metadata of a loaded model are not copied */
    uint32_t metadataCount;
    void (*progress)(void *user, uint64_t done, uint64_t total); /* bytes */
    void *user;
    const struct nnrt_cache *cache; /* prepared forms of devices (nnrt.h), saved as device sections. NULL: none */
} nnrt_save_desc;

/* All zero is the default. */
typedef struct nnrt_load_desc {
    const nnrt_allocator *allocator; /* NULL = malloc */
    bool checksum; /* verify the checksum: reads the whole file. All else is validated always, without the weights */
    bool noMap;    /* nnrt_model_load reads the file into memory: the file may then change while the model exists */
    bool cache;    /* the file may be a cache, whose checksum is verified: its model has no nodes, and sessions
                      use the form that the device stored in the file, or fail */
    bool strangers; /* keep nodes of operators that are not registered (nnrt_op_register), without attributes: to ask
                       devices which nodes they support; all other functions reject such a model */
} nnrt_load_desc;

/* Writes a checked model as a .nnrt file into memory. out NULL: only sets *bytes, the required size; a smaller out
   returns INSUFFICIENT_BUFFER. */
NNRT_API NNRT_ReturnCode nnrt_model_save_memory(const NNRT_Model *model, const nnrt_save_desc *desc, void *out,
                                                size_t size, size_t *bytes, nnrt_error *error);
/* Loads the model of a .nnrt file in memory, as nnrt_model_load_into, with one block from the allocator. */
NNRT_API NNRT_ReturnCode nnrt_model_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                                const nnrt_load_desc *desc, nnrt_error *error);
/* Frees a model that a builder, a loader or an importer made. NULL, and a model that the application assembled itself,
   are left unchanged. */
NNRT_API void nnrt_model_destroy(NNRT_Model *model);
/* Bytes of memory that a model holds, which nnrt_model_destroy frees: structs, and constants that are not in a mapped file or
   the caller's. 0: the application assembled it itself. */
NNRT_API size_t nnrt_model_bytes(const NNRT_Model *model);
/* Why a model is deferred; NULL: it is not. An importer defers a model whose operators it can only translate for known
   sizes of dynamic dimensions, or known values of inputs: the model has inputs and outputs, but no nodes, and refers to
   the file. nnrt_model_fix completes it, and so does a session that knows these sizes and values; all other functions refuse
   it with this text. It must outlive models that nnrt_model_fix made of it. */
NNRT_API const char *nnrt_model_deferred(const NNRT_Model *model);
/* Passes a block that the model's constants point into (the bytes of a file) to the model, which frees it through its
   allocator (nnrt_alloc). A model stores up to four blocks; for more the function returns OUT_OF_MEMORY, and the
   block stays the caller's. */
NNRT_API NNRT_ReturnCode nnrt_model_attach(NNRT_Model *model, void *block, size_t bytes);
/* The value of a key of the metadata of a model, NULL if it does not exist. For models that a loader, an importer or a
   builder made; an optimized model keeps the metadata of the loaded one. */
NNRT_API const char *nnrt_model_metadata(const NNRT_Model *model, const char *key);
/* Entry `index` of the metadata of such a model, {NULL, NULL} after the last. */
NNRT_API nnrt_metadata nnrt_model_metadata_at(const NNRT_Model *model, uint32_t index);
/* Adds metadata to a model, whose texts are copied; an existing key gets the new value. The key "states" also moves its
   inputs and outputs behind the others. *model becomes another struct, as by nnrt_model_optimize; after a failure it is
   unchanged. INVALID_PARAMETER: the states name no input or output, or one of them twice. */
NNRT_API NNRT_ReturnCode nnrt_model_annotate(NNRT_Model **model, const nnrt_metadata *metadata, uint32_t count,
                                             nnrt_error *error);

typedef struct nnrt_file_section {
    uint32_t type, alignment;
    const char *kind; /* "weights"; "unknown" */
    const char *name; /* mostly "" */
    const void *data;
    size_t offset, bytes;
} nnrt_file_section;
/* Section `index` of the file that the model was loaded from; false after the last one. */
NNRT_API bool nnrt_model_section(const NNRT_Model *model, uint32_t index, nnrt_file_section *section);
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>model_writers

   For writers of devices and importers. */

/* Stores the location of a failure in error->node and error->tensor (indices in the model, -1: none), if error holds
   this code and no location yet. Returns code. */
NNRT_API NNRT_ReturnCode nnrt_error_blame(nnrt_error *error, NNRT_ReturnCode code, int64_t node, int64_t tensor);

/* The number of attributes of a node, some of which may be subgraphs that it runs (IF, LOOP). */
NNRT_API uint32_t nnrt_node_graphs(const NNRT_Node *node);
/* The index in Model.subGraph of the subgraph that attribute k of a node is; NNRT_NO_GRAPH: it is none. */
NNRT_API uint32_t nnrt_node_graph(const NNRT_Node *node, uint32_t k);

#ifndef NNRT_FIRMWARE
/* The kind of a file that is not a .nnrt file, by its first bytes: "a PNG image"; NULL: unknown. */
NNRT_API const char *nnrt_file_guess(const void *data, size_t bytes);
#endif

#ifdef __cplusplus
}
#endif

#endif /* NNRT_MODEL_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_MODEL_IMPLEMENTED)
#define NNRT_MODEL_IMPLEMENTED

#include "../nnrt_ops.h" /* its implementation, if only its declarations were included so far */

#ifndef NNRT_FIRMWARE
#include <stdlib.h>
#endif
#include <string.h>

/* These calls are declared whatever feature macros there are. */
#ifndef NNRT_POSIX
#if !defined(NNRT_NO_STDIO) && !defined(NNRT_FIRMWARE) && (defined(__unix__) || defined(__unix) || defined(__APPLE__))
#define NNRT_POSIX 1
#else
#define NNRT_POSIX 0
#endif
#endif
#ifndef NNRT_MMAP
#define NNRT_MMAP NNRT_POSIX
#endif
#if NNRT_POSIX || NNRT_MMAP
#include <errno.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>
#endif
#if NNRT_MMAP
#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#ifndef __cplusplus
long syscall(long number, ...); /* which strict C leaves out */
#endif
#endif
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>memory */

NNRT_SETUP()

/* Idea: one arena type for building models, drafts and plans. Buffer mode uses both ends of one block, allocator mode
   two lists of pieces, count mode is allocator mode that counts bulk data without allocating them. Invariant: front
   and back grow by the same formulas in every mode (nnrti_memory_get), so the peak of a count is exactly the number
   of bytes that buffer mode needs; nnrt_plan_memory, nnrti_owned_make and nnrti_reader_make rely on it. Pieces may
   waste more, which nothing counts. Rejected: a heap with blocks that are freed alone; its fragmentation cannot be
   counted beforehand. */

/* FNV-1a, 64 bits. hash: NNRTI_FNV64, or the hash of the preceding bytes. It detects damage; it does not withstand
   forgery. */
#define NNRTI_FNV64 0xCBF29CE484222325u
NNRTI_UNUSED static uint64_t nnrti_fnv64(uint64_t hash, const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ data[i]) * (uint64_t)0x100000001B3u;
    return hash;
}

#ifdef NNRT_FIRMWARE

NNRT_API void *nnrt_alloc(const nnrt_allocator *allocator, size_t bytes)
{
    if (allocator == NULL || allocator->alloc == NULL)
        return NULL;
    return allocator->alloc(allocator->user, bytes, NNRT_ALIGNMENT);
}

NNRT_API void nnrt_free(const nnrt_allocator *allocator, void *block, size_t bytes)
{
    if (block != NULL && allocator != NULL && allocator->free != NULL)
        allocator->free(allocator->user, block, bytes);
}

#else

/* malloc, rounded up to a multiple of NNRT_ALIGNMENT; the address that malloc returned is stored directly before the
   block, where nnrt_free reads it. (aligned_alloc is C11, posix_memalign not everywhere.) */
NNRT_API void *nnrt_alloc(const nnrt_allocator *allocator, size_t bytes)
{
    uint8_t *raw, *block;
    size_t total;
    if (allocator != NULL && allocator->alloc != NULL)
        return allocator->alloc(allocator->user, bytes, NNRT_ALIGNMENT);
    if (!nnrt_add_size(bytes, NNRT_ALIGNMENT + sizeof(void *), &total))
        return NULL;
    raw = (uint8_t *)malloc(total);
    if (raw == NULL)
        return NULL;
    block = raw + sizeof(void *);
    block += (NNRT_ALIGNMENT - (uintptr_t)block % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    memcpy(block - sizeof(void *), &raw, sizeof(void *));
    return block;
}

NNRT_API void nnrt_free(const nnrt_allocator *allocator, void *block, size_t bytes)
{
    void *raw;
    if (block == NULL)
        return;
    if (allocator != NULL && allocator->alloc != NULL) {
        if (allocator->free != NULL)
            allocator->free(allocator->user, block, bytes);
        return;
    }
    memcpy(&raw, (uint8_t *)block - sizeof(void *), sizeof(void *));
    free(raw);
}

#endif

static bool nnrti_is_malloc(const nnrt_allocator *allocator)
{
    return allocator == NULL || allocator->alloc == NULL;
}

/* A block of malloc that is written soon: maps its pages by one call, instead of a page fault for each; large blocks get
   huge pages, where the system offers them to programs that ask for them. Huge pages lie inside the block; at
   most one, at the end of the used part, becomes resident without being written in full. Advice: a system without
   these calls ignores it. Memory of the application's allocator is left as it is. */
#if NNRT_MMAP && defined(SYS_madvise)
#define NNRTI_PREFAULTS 1
#else
#define NNRTI_PREFAULTS 0
#endif
#define NNRTI_PREFAULT_BYTES 16384               /* a smaller block has too few pages */
#define NNRTI_HUGE_BYTES (2u << 20)              /* of a huge page */
#define NNRTI_LARGE_BYTES (2 * NNRTI_HUGE_BYTES) /* that a block with huge pages has at least */
static void nnrti_prefault(const nnrt_allocator *allocator, void *block, size_t bytes)
{
#if NNRTI_PREFAULTS
    const bool large = bytes >= NNRTI_LARGE_BYTES;
    const uintptr_t page = large ? NNRTI_HUGE_BYTES : (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)block;
    const uintptr_t begin = (large ? at + page - 1 : at) & ~(page - 1);
    const uintptr_t end = (large ? at + bytes : at + bytes + page - 1) & ~(page - 1);
    if (bytes >= NNRTI_PREFAULT_BYTES && nnrti_is_malloc(allocator))
        (void)syscall(SYS_madvise, begin, end - begin, large ? 14 : 23); /* MADV_HUGEPAGE, MADV_POPULATE_WRITE */
#else
    (void)allocator, (void)block, (void)bytes;
#endif
}

/* The same for a part of a memory-mapped file that is read soon, unless it has more than `most` bytes: a page fault
   maps 64 KB, and the system reads only the needed ones from the disk. */
static NNRTI_UNUSED void nnrti_prefault_read(const void *data, size_t bytes, size_t most)
{
#if NNRTI_PREFAULTS
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)data;
    const uintptr_t begin = at & ~(page - 1), end = (at + bytes + page - 1) & ~(page - 1);
    if (bytes >= NNRTI_PREFAULT_BYTES && bytes <= most)
        (void)syscall(SYS_madvise, begin, end - begin, 22); /* MADV_POPULATE_READ */
#else
    (void)data, (void)bytes, (void)most;
#endif
}

#define NNRTI_KEEP_ALIGNMENT (NNRT_ALIGNMENT < 16 ? NNRT_ALIGNMENT : 16)

/* Pieces: small blocks share one allocation of NNRT_PIECE_BYTES, because preparing makes thousands of them and none
   is freed alone. A piece is this header, then blocks, one after another. Pieces form three lists: of kept and of
   temporary blocks, and of bulk data, which is kept. */
typedef struct nnrti_piece {
    struct nnrti_piece *next;
    size_t bytes, used; /* with the header */
} nnrti_piece;

/* The first block of a piece has the alignment of the allocation, so a new piece fits the request that caused it,
   whatever its alignment. */
#define NNRTI_PIECE_HEADER (NNRT_ALIGNMENT < 32 ? 32 : NNRT_ALIGNMENT)

/* A new piece of `total` bytes, in no list yet; NULL: no memory. */
static nnrti_piece *nnrti_piece_make(const nnrt_memory *m, size_t total)
{
    nnrti_piece *const made = (nnrti_piece *)nnrt_alloc(m->allocator, total);
    if (made == NULL)
        return NULL;
    made->next = NULL;
    made->bytes = total;
    made->used = NNRTI_PIECE_HEADER;
    return made;
}

/* Takes rounded bytes from piece p; NULL: p is NULL or has no room. */
static void *nnrti_piece_take(nnrti_piece *p, size_t rounded, size_t alignment)
{
    const size_t at = p != NULL ? (p->used + alignment - 1) / alignment * alignment : 0;
    if (p == NULL || at > p->bytes || rounded > p->bytes - at)
        return NULL;
    p->used = at + rounded;
    return (uint8_t *)p + at;
}

/* Returns rounded bytes of the newest piece of its list, or of a new one. A block that exceeds a quarter of NNRT_PIECE_BYTES has a
   piece of its own, linked after the newest one, which stays in use. Older pieces are not searched: that would take time
   linear in their number for each block. */
static void *nnrti_piece_get(nnrt_memory *m, size_t rounded, size_t alignment, bool temp)
{
    void **const list = &m->pieces[m->bulk ? 2 : temp];
    nnrti_piece *const p = (nnrti_piece *)*list;
    const bool shared = rounded <= NNRT_PIECE_BYTES / 4;
    nnrti_piece *made;
    void *block = nnrti_piece_take(p, rounded, alignment);
    size_t total;
    if (block != NULL)
        return block;
    if (!nnrt_add_size(rounded, NNRTI_PIECE_HEADER, &total))
        return NULL;
    total = shared ? NNRT_PIECE_BYTES : total;
    if ((made = nnrti_piece_make(m, total)) == NULL)
        return NULL;
    if (m->bulk)
        nnrti_prefault(m->allocator, made, total);
    if (p != NULL && !shared) {
        made->next = p->next;
        p->next = made;
    } else {
        made->next = p;
        *list = made;
    }
    return nnrti_piece_take(made, rounded, alignment);
}

/* The size SIZE_MAX / 2 is no limit in practice, but it keeps front + back from overflowing. */
NNRTI_NOINLINE NNRT_API void nnrt_memory_allocate(nnrt_memory *m, const nnrt_allocator *allocator)
{
    memset(m, 0, sizeof(*m));
    m->size = SIZE_MAX / 2;
    m->allocator = allocator;
    m->more = nnrti_piece_get;
}

/* Allocates the first piece of a list, with room for `bytes` bytes. Of temporary blocks: an estimate; when it is freed, malloc
   has one large block for the arena, instead of many small ones between kept blocks. Of bulk data: all of it, in huge pages
   where the system has them. No memory: pieces come one by one. */
static NNRTI_UNUSED void nnrti_memory_expect(nnrt_memory *m, size_t bytes, int list)
{
    if (m->more == NULL || m->pieces[list] != NULL || bytes <= NNRT_PIECE_BYTES || NNRT_PIECE_BYTES == 0)
        return;
    m->pieces[list] = nnrti_piece_make(m, bytes);
    if (m->pieces[list] != NULL)
        nnrti_prefault(m->allocator, m->pieces[list], bytes);
}

NNRT_API void nnrt_memory_count(nnrt_memory *m, const nnrt_allocator *allocator)
{
    nnrt_memory_allocate(m, allocator);
    m->counting = true;
}

/* Before: the caller has checked the alignment of buffer. */
NNRT_API void nnrt_memory_buffer(nnrt_memory *m, void *buffer, size_t bytes)
{
    memset(m, 0, sizeof(*m));
    m->base = (uint8_t *)buffer;
    m->size = bytes & ~(size_t)(NNRT_ALIGNMENT - 1);
    m->top = m->base + m->size;
}

/* Takes rounded bytes from front or back and updates the counters; if they do not fit, sets full and returns false.
   Invariant: front + back <= size, so in a buffer the two ends never meet. */
static bool nnrti_memory_take(nnrt_memory *m, size_t bytes, bool temp)
{
    if (m->full || bytes > m->size - m->front - m->back) {
        m->full = true;
        return false;
    }
    if (temp)
        m->back += bytes;
    else
        m->front += bytes;
    m->frontPeak = m->front > m->frontPeak ? m->front : m->frontPeak;
    m->backPeak = m->back > m->backPeak ? m->back : m->backPeak;
    m->peak = m->front + m->back > m->peak ? m->front + m->back : m->peak;
    return true;
}

/* Allocates a block. Kept blocks are padded to alignment, temporary ones have NNRTI_KEEP_ALIGNMENT only. The padding
   depends on m->front alone and not on an address, so it is the same in count mode; it aligns the block because the
   buffer itself is aligned to NNRT_ALIGNMENT. only: the block is not cleared, and in count mode is counted but not
   allocated (NULL although m->full is false). */
static void *nnrti_memory_get(nnrt_memory *m, size_t bytes, size_t alignment, bool temp, bool only)
{
    const size_t pad = temp ? 0 : (0 - m->front) & (alignment - 1);
    size_t rounded, total;
    uint8_t *block = NULL;
    if (!nnrt_round_size(bytes > 0 ? bytes : 1, NNRTI_KEEP_ALIGNMENT, &rounded) ||
        !nnrt_add_size(rounded, pad, &total) || !nnrti_memory_take(m, total, temp)) {
        m->full = true;
        return NULL;
    }
    m->bulkBytes += only ? (rounded + NNRT_ALIGNMENT - 1) & ~(size_t)(NNRT_ALIGNMENT - 1) : 0;
    if (only && m->counting)
        return NULL;
    m->bulk = only;
    if (m->base != NULL)
        block = temp ? m->top - m->back : m->base + m->front - rounded;
    else if (m->more != NULL)
        block = (uint8_t *)m->more(m, rounded, alignment, temp);
    m->full = block == NULL;
    if (block != NULL && !only)
        memset(block, 0, rounded);
    return block;
}

NNRTI_NOINLINE NNRT_API void *nnrt_memory_keep(nnrt_memory *m, size_t bytes)
{
    return nnrti_memory_get(m, bytes, NNRTI_KEEP_ALIGNMENT, false, false);
}

NNRT_API void *nnrt_memory_keep_aligned(nnrt_memory *m, size_t bytes)
{
    return nnrti_memory_get(m, bytes, NNRT_ALIGNMENT, false, false);
}

NNRT_API void *nnrt_memory_temp(nnrt_memory *m, size_t bytes)
{
    return nnrti_memory_get(m, bytes, NNRTI_KEEP_ALIGNMENT, true, false);
}

/* A kept block for bulk data such as packed weights: *block, aligned to NNRT_ALIGNMENT and not cleared. In count mode
   *block is NULL although the result is true: the bytes are counted, and the caller must not write. false = no
   memory. */
NNRTI_UNUSED static bool nnrti_memory_reserve(nnrt_memory *m, size_t bytes, void **block)
{
    *block = nnrti_memory_get(m, bytes, NNRT_ALIGNMENT, false, true);
    return !m->full;
}

/* Frees the blocks that nnrti_memory_give returned; NULL is fine. */
static void nnrti_memory_free(const nnrt_allocator *allocator, void *given)
{
    for (nnrti_piece *p = (nnrti_piece *)given; p != NULL;) {
        nnrti_piece *next = p->next;
        nnrt_free(allocator, p, p->bytes);
        p = next;
    }
}

NNRT_API void nnrt_memory_drop_temp(nnrt_memory *m)
{
    nnrti_memory_free(m->allocator, m->pieces[1]);
    m->pieces[1] = NULL;
    m->back = 0;
}

/* Moves the ownership of the kept blocks to the caller, who frees them by passing the result to nnrti_memory_free with
   the same allocator. NULL: no block came from the allocator (buffer mode). Temporary blocks are freed. */
static void *nnrti_memory_give(nnrt_memory *m)
{
    nnrti_piece *bulk = (nnrti_piece *)m->pieces[2], *last = bulk;
    void *given = bulk != NULL ? bulk : m->pieces[0];
    nnrt_memory_drop_temp(m);
    while (last != NULL && last->next != NULL)
        last = last->next;
    if (last != NULL)
        last->next = (nnrti_piece *)m->pieces[0];
    m->pieces[0] = m->pieces[2] = NULL;
    return given;
}

NNRT_API void nnrt_memory_end(nnrt_memory *m)
{
    nnrti_memory_free(m->allocator, nnrti_memory_give(m));
    m->front = 0;
}

NNRTI_NOINLINE static NNRT_ReturnCode nnrti_no_memory(nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory to prepare the model");
}

#ifndef NNRT_FIRMWARE
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>buffers */

#if NNRT_MMAP

/* Idea: HDI passes memory between processes as a block with a descriptor; SharedBuffer.addr, which HDI does not have,
   spares blocks of this process the descriptor. Whatever computes needs an address: nnrt_buffer_map and
   nnrt_model_map obtain it here, and plans and kernels never see a descriptor. Invariant: no map exceeds the file of
   its descriptor, as an access behind its end raises SIGBUS; the caller keeps the file from shrinking, blocks of
   nnrt_buffer_create are sealed. Rejected: reading a descriptor's constants into memory, which copies bytes that both
   processes share. */

/* *bytes = size of the file of a descriptor; false: it has no size (a pipe). lseek is used only if the descriptor is
   not a regular file, as it would move the position of a file that the caller reads. */
static bool nnrti_descriptor_bytes(int fd, uint64_t *bytes)
{
    struct stat s;
    off_t end;
    if (fstat(fd, &s) != 0)
        return false;
    end = S_ISREG(s.st_mode) ? s.st_size : lseek(fd, 0, SEEK_END);
    *bytes = end > 0 ? (uint64_t)end : 0;
    return end >= 0;
}

/* *block = a shared memory map of the first `end` bytes of a descriptor's file. The size is checked first: an access
   behind the end of the file would raise SIGBUS. */
static NNRT_ReturnCode nnrti_descriptor_map(int fd, size_t end, bool write, void **block, nnrt_error *error)
{
    uint64_t bytes = 0;
    void *at;
    if (!nnrti_descriptor_bytes(fd, &bytes))
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "descriptor %d is none of memory or of a file", fd);
    if (end > bytes)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "descriptor %d has %l bytes, the data end at %z", fd,
                              (int64_t)bytes, end);
    at = mmap(NULL, end, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "descriptor %d cannot be mapped for %s", fd,
                              write ? "writing" : "reading");
    *block = at;
    return NNRT_SUCCESS;
}

#else
#define nnrti_descriptor_bytes(fd, bytes) false
#endif

NNRT_API NNRT_ReturnCode nnrt_buffer_map(const NNRT_SharedBuffer *buffer, bool write, void **block, nnrt_error *error)
{
    if (block != NULL)
        *block = NULL;
    if (buffer == NULL || block == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the buffer, or the place for its address, is NULL");
    if (buffer->offset > buffer->bufferSize || buffer->dataSize > buffer->bufferSize - buffer->offset)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "offset %u and dataSize %u run past the buffer's %u bytes",
                              buffer->offset, buffer->dataSize, buffer->bufferSize);
    if (buffer->addr == NULL && buffer->fd < 0 && buffer->dataSize > 0)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "the buffer has no descriptor and no address");
    *block = buffer->addr;
    if (buffer->addr != NULL || buffer->dataSize == 0)
        return NNRT_SUCCESS;
#if NNRT_MMAP
    return nnrti_descriptor_map(buffer->fd, (size_t)buffer->offset + buffer->dataSize, write, block, error);
#else
    (void)write;
    return nnrt_error_set(error, NNRT_INVALID_BUFFER,
                          "descriptor %d cannot be mapped without mmap (NNRT_MMAP is 0): give SharedBuffer.addr",
                          buffer->fd);
#endif
}

NNRT_API void nnrt_buffer_unmap(const NNRT_SharedBuffer *buffer, void *block)
{
#if NNRT_MMAP
    if (buffer != NULL && buffer->addr == NULL && block != NULL)
        (void)munmap(block, (size_t)buffer->offset + buffer->dataSize);
#else
    (void)buffer, (void)block;
#endif
}

#if NNRT_MMAP && defined(SYS_memfd_create)
#define NNRTI_MEMFD_FLAGS 3u /* MFD_CLOEXEC, MFD_ALLOW_SEALING */
#define NNRTI_ADD_SEALS 1033 /* F_ADD_SEALS */
#define NNRTI_SEAL_SHRINK 2  /* F_SEAL_SHRINK */

/* A descriptor of an anonymous file in memory (memfd) of that many bytes, sealed against shrinking; -1: not
   available. All pages are written now, so that a lack of memory is reported here and not by SIGBUS at a later
   access. */
static int nnrti_memfd(size_t bytes)
{
    static const char zeros[4096] = {0};
    const int fd = (int)syscall(SYS_memfd_create, "nnrt", NNRTI_MEMFD_FLAGS);
    while (fd >= 0 && bytes > 0) {
        const ssize_t wrote = write(fd, zeros, bytes < sizeof(zeros) ? bytes : sizeof(zeros));
        if (wrote <= 0) {
            (void)close(fd);
            return -1;
        }
        bytes -= (size_t)wrote;
    }
    if (fd >= 0)
        (void)fcntl(fd, NNRTI_ADD_SEALS, NNRTI_SEAL_SHRINK);
    return fd;
}
#else
#define nnrti_memfd(bytes) (-1)
#endif

NNRT_API NNRT_ReturnCode nnrt_buffer_create(uint32_t bytes, NNRT_SharedBuffer *buffer)
{
    if (buffer == NULL)
        return NNRT_NULL_PTR;
    memset(buffer, 0, sizeof(*buffer));
    buffer->fd = -1;
    if (bytes == 0)
        return NNRT_INVALID_PARAMETER;
    buffer->fd = nnrti_memfd(bytes);
    if (buffer->fd < 0 && (buffer->addr = nnrt_alloc(NULL, bytes)) == NULL)
        return NNRT_OUT_OF_MEMORY;
    if (buffer->fd < 0)
        memset(buffer->addr, 0, bytes);
    buffer->bufferSize = buffer->dataSize = bytes;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_buffer_destroy(const NNRT_SharedBuffer *buffer)
{
    if (buffer == NULL)
        return;
#if NNRT_MMAP
    if (buffer->fd >= 0) {
        (void)close(buffer->fd);
        return;
    }
#endif
    nnrt_free(NULL, buffer->addr, buffer->bufferSize);
}

static NNRT_ReturnCode nnrti_check_lists(const NNRT_Model *m, nnrt_error *error);

/* The memory map of one descriptor, from its beginning to the end of the last constant that is stored in it. HDI's
   callers store all constants of a model in one block, so a model mostly has one map. */
struct nnrt_mapping {
    nnrt_mapping *next;
    NNRT_SharedBuffer buffer;
    void *block;
};

/* Whether a buffer has a descriptor and no address, and its data are inside the descriptor's file. */
static bool nnrti_descriptor_only(const NNRT_SharedBuffer *b)
{
    uint64_t bytes = 0;
    return b->addr == NULL && b->fd >= 0 && b->dataSize > 0 && b->offset <= b->bufferSize &&
           b->dataSize <= b->bufferSize - b->offset && nnrti_descriptor_bytes(b->fd, &bytes) &&
           b->offset + b->dataSize <= bytes;
}

/* Extends the mapping of a descriptor to a constant; false: no memory. Searches the list of descriptors linearly. */
static bool nnrti_note_mapping(const NNRT_SharedBuffer *b, nnrt_memory *memory, nnrt_mapping **mappings)
{
    nnrt_mapping *m = *mappings;
    while (m != NULL && m->buffer.fd != b->fd)
        m = m->next;
    if (m == NULL) {
        m = (nnrt_mapping *)nnrt_memory_keep(memory, sizeof(*m));
        if (m == NULL)
            return false;
        m->next = *mappings;
        m->buffer.fd = b->fd;
        *mappings = m;
    }
    if (m->buffer.dataSize < b->offset + b->dataSize)
        m->buffer.bufferSize = m->buffer.dataSize = b->offset + b->dataSize;
    return true;
}

/* Whether a tensor has a descriptor, no data, and a shape of 0 elements: a constant without bytes to map. A descriptor is above 0:
   0 is that of a struct that was zeroed. */
static bool nnrti_is_empty_descriptor(const NNRT_Tensor *t)
{
    bool empty = false; /* the shape is not validated yet */
    if (t->data.addr != NULL || t->data.fd <= 0 || t->data.dataSize != 0 || t->dims.count > NNRT_MAX_RANK)
        return false;
    for (uint32_t k = 0; k < t->dims.count && t->dims.data != NULL; k++)
        empty = empty || t->dims.data[k] == 0;
    return empty;
}

/* All constants are visited before the first map is made, so that each map is as long as its last constant requires.
   A descriptor that cannot be mapped is no failure here: its constants keep addr NULL, and nnrti_no_address reports
   the reason during validation. own->self stays NULL: the copy is not a model that nnrt_model_destroy may free. */
NNRT_API const NNRT_Model *nnrt_model_map(const NNRT_Model *model, nnrt_memory *memory, nnrt_mapping **mappings)
{
    static const double nothing = 0; /* the address of constants without elements */
    NNRT_Model *own;
    NNRT_Tensor *tensors;
    bool empty = false;
    *mappings = NULL;
    if (model == NULL || nnrti_check_lists(model, NULL) != NNRT_SUCCESS)
        return model; /* nnrti_check_tensor reports faults */
    for (uint32_t i = 0; i < model->allTensors.count; i++) {
        empty = empty || nnrti_is_empty_descriptor(&model->allTensors.data[i]);
        if (nnrti_descriptor_only(&model->allTensors.data[i].data) &&
            !nnrti_note_mapping(&model->allTensors.data[i].data, memory, mappings))
            return NULL;
    }
    if (*mappings == NULL && !empty)
        return model;
    own = (NNRT_Model *)nnrt_memory_temp(memory, sizeof(*own));
    tensors = (NNRT_Tensor *)nnrt_memory_temp_array(memory, model->allTensors.count, sizeof(*tensors));
    if (own == NULL || tensors == NULL)
        return NULL;
    memcpy(tensors, model->allTensors.data, model->allTensors.count * sizeof(*tensors));
    *own = *model;
    own->self = NULL;
    own->allTensors.data = tensors;
    for (nnrt_mapping *m = *mappings; m != NULL; m = m->next)
        if (nnrt_buffer_map(&m->buffer, false, &m->block, NULL) == NNRT_SUCCESS)
            for (uint32_t i = 0; i < model->allTensors.count; i++)
                if (tensors[i].data.fd == m->buffer.fd && nnrti_descriptor_only(&tensors[i].data))
                    tensors[i].data.addr = m->block;
    for (uint32_t i = 0; i < model->allTensors.count && empty; i++)
        if (nnrti_is_empty_descriptor(&tensors[i])) {
            memset(&tensors[i].data, 0, sizeof(tensors[i].data));
            tensors[i].data.fd = -1;
            tensors[i].data.addr = (void *)(uintptr_t)&nothing;
        }
    return own;
}

NNRT_API void nnrt_model_unmap(nnrt_mapping *mappings)
{
    for (; mappings != NULL; mappings = mappings->next)
        nnrt_buffer_unmap(&mappings->buffer, mappings->block);
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>validate */

/* The first location stays: the innermost caller that knows node and tensor sets it, and callers further out may
   blame again. nnrt_error_set has reset both to -1 with the message. */
NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_error_blame(nnrt_error *error, NNRT_ReturnCode code, int64_t node, int64_t tensor)
{
    if (error != NULL && error->code == code && error->node < 0 && error->tensor < 0) {
        error->node = (int32_t)node;
        error->tensor = (int32_t)tensor;
    }
    return code;
}

NNRT_API void nnrt_error_clear(nnrt_error *error)
{
    if (error == NULL)
        return;
    error->code = NNRT_SUCCESS;
    error->node = error->tensor = 0;
    error->message[0] = '\0';
}

/* Validation trusts nothing in a model: every index, count and pointer is checked before its first use, in an order
   in which each check needs only facts that earlier checks established: lists; tensors; inputs and outputs; subgraph
   entries; the nesting of subgraphs; nodes (each tensor has one writer); sources (each read tensor has a writer);
   scopes; names; cycles. Properties that depend on shapes are left to shape inference (>>infer). Time is O(n log n)
   in the size of the model, also for hostile files. Invariant: shape inference, plans and the writer index the tables
   of a checked model without checks of their own. The codes are HDI's for PrepareModel. Rejected: checks at each use,
   which a run would repeat and a new reader of the model could forget. */

/* The name of the operator of a node, for messages. */
static const char *nnrti_node_op(const NNRT_Model *m, uint32_t node)
{
    const nnrt_op *op = nnrt_op_find(m->nodes.data[node].nodeType);
    return op != NULL ? op->name : "unknown operator";
}

/* A name that may be NULL, for messages. */
NNRTI_NOINLINE static const char *nnrti_text_of(const char *name)
{
    return name != NULL ? name : "";
}

/* The address of a buffer's data; NULL: the buffer has no address. */
NNRTI_NOINLINE static const void *nnrti_buffer_data(const NNRT_SharedBuffer *b)
{
    return b->addr != NULL ? (const uint8_t *)b->addr + b->offset : NULL;
}

/* Whether a tensor is a constant; nnrti_check_constant checks that its data exist. */
NNRTI_NOINLINE static bool nnrti_is_constant(const NNRT_Tensor *t)
{
    return t->data.addr != NULL || t->data.dataSize != 0;
}

/* false: dims is {NNRT_RANK_UNKNOWN}, and shape inference computes the rank. */
static bool nnrti_rank_known(const NNRT_Tensor *t)
{
    return !(t->dims.count == 1 && t->dims.data[0] == NNRT_RANK_UNKNOWN);
}

/* Reports why constant i has no address. nnrt_model_map, which has no error to report to, failed to map its
   descriptor, or was not called: mapping it again yields the reason. */
NNRTI_COLD static NNRT_ReturnCode nnrti_no_address(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_Tensor *t = &m->allTensors.data[i];
#ifndef NNRT_FIRMWARE
    nnrt_error own;
    void *block;
    memset(&own, 0, sizeof(own));
    if (nnrt_buffer_map(&t->data, false, &block, &own) != NNRT_SUCCESS)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "tensor %u '%s': %s", i, nnrti_text_of(t->name), own.message);
    nnrt_buffer_unmap(&t->data, block);
#endif
    return nnrt_error_set(error, NNRT_INVALID_BUFFER,
                          "tensor %u '%s': its data have a descriptor but no address (SharedBuffer.addr)", i,
                          nnrti_text_of(t->name));
}

/* Rule: the data of constant i are inside their buffer, aligned to the element size, and as large as its shape
   requires. Before: its dataType is known, and its dims may be read. A type whose size is 0 would divide by 0 here.
   */
static NNRT_ReturnCode nnrti_check_constant(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_Tensor *t = &m->allTensors.data[i];
    const NNRT_SharedBuffer *b = &t->data;
    const void *data = nnrti_buffer_data(b);
    size_t need, width = nnrt_type_size(t->dataType);
    if (data == NULL)
        return nnrti_no_address(m, i, error);
    if (b->offset > b->bufferSize || b->dataSize > b->bufferSize - b->offset)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER,
                              "tensor %u '%s': offset %u and dataSize %u run past the buffer's %u bytes", i,
                              nnrti_text_of(t->name), b->offset, b->dataSize, b->bufferSize);
    if ((uintptr_t)data % width != 0)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "tensor %u '%s': its data are not aligned to %z bytes", i,
                              nnrti_text_of(t->name), width);
    if (!nnrti_rank_known(t) || !nnrt_dims_bytes(t->dims.data, (int32_t)t->dims.count, t->dataType, &need))
        return nnrt_error_set(error, NNRT_INVALID_SHAPE, "tensor %u '%s': a constant needs fixed dimensions", i,
                              nnrti_text_of(t->name));
    if (b->dataSize != need)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER_SIZE,
                              "tensor %u '%s': has %u bytes of data, its shape needs %z", i, nnrti_text_of(t->name),
                              b->dataSize, need);
    return NNRT_SUCCESS;
}

#ifndef NNRT_FIRMWARE

/* Rule: one symbol per axis, and 0 for a fixed dimension. */
static NNRT_ReturnCode nnrti_check_symbols(const NNRT_Tensor *t, uint32_t i, nnrt_error *error)
{
    if (t->symbols.data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "tensor %u '%s': counts %u symbols, but has none", i,
                              nnrti_text_of(t->name), t->symbols.count);
    if (!nnrti_rank_known(t) || t->symbols.count != t->dims.count)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "tensor %u '%s': has %u symbols, expected %s", i,
                              nnrti_text_of(t->name), t->symbols.count,
                              nnrti_rank_known(t) ? "one for each axis" : "none, as its rank is unknown");
    for (uint32_t k = 0; k < t->symbols.count; k++)
        if (t->symbols.data[k] != 0 && t->dims.data[k] != -1)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "tensor %u '%s': symbol %u for axis %u, which is not dynamic but %d", i,
                                  nnrti_text_of(t->name), t->symbols.data[k], k, t->dims.data[k]);
    return NNRT_SUCCESS;
}

#endif

/* Rule: type, format, dimensions, lists and constant data of tensor i are valid. Afterwards its dims and quantParams
   may be read. */
NNRTI_COLD static NNRT_ReturnCode nnrti_check_tensor(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_Tensor *t = &m->allTensors.data[i];
#ifndef NNRT_FIRMWARE
    NNRT_ReturnCode code;
#endif
    if (t->dataType != NNRT_DATA_TYPE_UNKNOWN && nnrt_type_size(t->dataType) == 0)
        return nnrt_error_set(error, NNRT_INVALID_DATATYPE, "tensor %u '%s': dataType %d does not exist", i,
                              nnrti_text_of(t->name), t->dataType);
    if (t->format < NNRT_FORMAT_NONE || t->format > NNRT_FORMAT_NHWC)
        return nnrt_error_set(error, NNRT_INVALID_FORMAT, "tensor %u '%s': format %d does not exist", i,
                              nnrti_text_of(t->name), t->format);
    if (t->dims.count > NNRT_MAX_RANK || (t->dims.count > 0 && t->dims.data == NULL))
        return nnrt_error_set(error, NNRT_INVALID_SHAPE, "tensor %u '%s': has %u axes, expected 0 to %d", i,
                              nnrti_text_of(t->name), t->dims.count, NNRT_MAX_RANK);
    for (uint32_t k = 0; k < t->dims.count && nnrti_rank_known(t); k++)
        if (t->dims.data[k] < -1)
            return nnrt_error_set(error, NNRT_INVALID_SHAPE, "tensor %u '%s': size %d of axis %u, expected -1 or more",
                                  i, nnrti_text_of(t->name), t->dims.data[k], k);
    if (t->quantParams.count > 0 && t->quantParams.data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "tensor %u '%s': counts %u quantParams, but has none", i,
                              nnrti_text_of(t->name), t->quantParams.count);
    if (t->quantAxis < 0 || t->quantAxis > (nnrti_rank_known(t) ? (int32_t)t->dims.count : NNRT_MAX_RANK))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "tensor %u '%s': quantAxis %d, expected 0 to %d", i,
                              nnrti_text_of(t->name), t->quantAxis,
                              nnrti_rank_known(t) ? (int32_t)t->dims.count : NNRT_MAX_RANK);
#ifndef NNRT_FIRMWARE /* nothing reads them there */
    if (t->symbols.count != 0 && (code = nnrti_check_symbols(t, i, error)) != NNRT_SUCCESS)
        return code;
#endif
    if (!nnrti_is_constant(t))
        return NNRT_SUCCESS;
    if (t->dataType == NNRT_DATA_TYPE_UNKNOWN)
        return nnrt_error_set(error, NNRT_INVALID_DATATYPE, "tensor %u '%s': a constant needs a dataType", i,
                              nnrti_text_of(t->name));
    return nnrti_check_constant(m, i, error);
}

#ifndef NNRT_FIRMWARE
/* Rule: the model is not deferred. */
static NNRT_ReturnCode nnrti_check_complete(const NNRT_Model *m, nnrt_error *error)
{
    const char *why = nnrt_model_deferred(m);
    return why == NULL ? NNRT_SUCCESS
                       : nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "%s (nnrt_session_desc.inputs or nnrt_model_fix)", why);
}
#endif

/* Rule: the model is not deferred; the lists exist, and the required ones are not empty. If several are empty, the first
   one decides the code: HDI defines this order (allTensors, subGraph, nodes, inputIndex, outputIndex). A model without inputs is valid,
   although a driver may reject it. At most INT32_MAX entries: error->node and error->tensor, of type int32_t, can
   name each. */
static NNRT_ReturnCode nnrti_check_lists(const NNRT_Model *m, nnrt_error *error)
{
    const struct {
        const void *data;
        uint32_t count;
        NNRT_ReturnCode code;
        const char *name;
    } lists[] = {
        {m->allTensors.data, m->allTensors.count, NNRT_INVALID_TENSOR, "allTensors"},
        {m->subGraph.data, m->subGraph.count, NNRT_INVALID_MODEL, "subGraph"},
        {m->nodes.data, m->nodes.count, NNRT_INVALID_NODE, "nodes"},
        {m->inputIndex.data, m->inputIndex.count, NNRT_INVALID_INPUT, "inputIndex"},
        {m->outputIndex.data, m->outputIndex.count, NNRT_INVALID_OUTPUT, "outputIndex"},
    };
#ifndef NNRT_FIRMWARE
    if (nnrti_check_complete(m, error) != NNRT_SUCCESS)
        return NNRT_UNSUPPORTED_OP;
#endif
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (lists[i].count == 0 && lists[i].code == NNRT_INVALID_INPUT)
            continue; /* a model may have no inputs */
        if (lists[i].count == 0)
            return nnrt_error_set(error, lists[i].code, "the model's list %s is empty", lists[i].name);
        if (lists[i].data == NULL)
            return nnrt_error_set(error, NNRT_NULL_PTR, "the model's list %s counts %u entries, but has no data",
                                  lists[i].name, lists[i].count);
        if (lists[i].count > INT32_MAX)
            return nnrt_error_set(error, lists[i].code, "the model's list %s has more than 2^31 entries",
                                  lists[i].name);
    }
#ifdef NNRT_FIRMWARE
    if (m->subGraph.count > 1)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "the model has %u subgraphs, under NNRT_FIRMWARE only one is run", m->subGraph.count);
#endif
    return NNRT_SUCCESS;
}

#ifdef NNRT_FIRMWARE

/* Firmware looks up no tensor by name, so names are not checked. */
static NNRT_ReturnCode nnrti_check_names(const NNRT_Model *m, const uint32_t *home, nnrt_memory *memory,
                                         nnrt_error *error)
{
    (void)home;
    (void)m;
    (void)memory;
    (void)error;
    return NNRT_SUCCESS;
}

#else

static const char *nnrti_tensor_name(const NNRT_Model *m, uint32_t i)
{
    return nnrti_text_of(m->allTensors.data[i].name);
}

/* A comparison for sorting: below 0, 0 or above 0 if a is before, equal to or after b. */
typedef int (*nnrti_before)(const void *user, uint32_t a, uint32_t b);

/* Heapsort: in place, O(n log n) for every input. (qsort of the C library may be quadratic or allocate, and passes no
   user pointer.) Restores the heap property below heap[at]; the greatest is on top. */
static void nnrti_sift(uint32_t *heap, uint32_t count, uint32_t at, nnrti_before before, const void *user)
{
    const uint32_t moved = heap[at];
    while (at < count / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < count && before(user, heap[child], heap[child + 1]) < 0)
            child++;
        if (before(user, moved, heap[child]) >= 0)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void nnrti_sort_list(uint32_t *order, uint32_t count, nnrti_before before, const void *user)
{
    for (uint32_t i = count / 2; i-- > 0;)
        nnrti_sift(order, count, i, before, user);
    for (uint32_t left = count; left > 1;) {
        const uint32_t top = order[0];
        order[0] = order[--left];
        order[left] = top;
        nnrti_sift(order, left, 0, before, user);
    }
}

/* order = 0 .. count - 1, sorted. */
static void nnrti_sort(uint32_t *order, uint32_t count, nnrti_before before, const void *user)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    nnrti_sort_list(order, count, before, user);
}

/* The tensors of a model, and the graph of each tensor; home NULL: there is only the main graph. */
typedef struct nnrti_names {
    const NNRT_Model *model;
    const uint32_t *home;
} nnrti_names;

/* Order of tensors a and b by name, then by graph. */
static int nnrti_name_order(const void *user, uint32_t a, uint32_t b)
{
    const nnrti_names *n = (const nnrti_names *)user;
    const int order = strcmp(nnrti_tensor_name(n->model, a), nnrti_tensor_name(n->model, b));
    return order != 0 || n->home == NULL || n->home[a] == n->home[b] ? order : n->home[a] < n->home[b] ? -1 : 1;
}

/* The same heapsort for 64-bit keys, which are compared without a call. */
static void nnrti_sift_keys(uint64_t *heap, size_t count, size_t at)
{
    const uint64_t moved = heap[at];
    while (at < count / 2) {
        size_t child = 2 * at + 1;
        if (child + 1 < count && heap[child] < heap[child + 1])
            child++;
        if (moved >= heap[child])
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void nnrti_sort_keys(uint64_t *keys, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        nnrti_sift_keys(keys, count, i);
    for (size_t left = count; left > 1;) {
        const uint64_t top = keys[0];
        keys[0] = keys[--left];
        keys[left] = top;
        nnrti_sift_keys(keys, left, 0);
    }
}

/* Rule: the tensors of a list, whose names have equal hashes, have different names within each graph. */
static NNRT_ReturnCode nnrti_check_names_of(const nnrti_names *names, uint32_t *list, uint32_t count, nnrt_error *error)
{
    nnrti_sort_list(list, count, nnrti_name_order, names);
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t a = list[i - 1] < list[i] ? list[i - 1] : list[i], b = list[i - 1] + list[i] - a;
        if (nnrti_name_order(names, a, b) == 0)
            return nnrt_error_blame(error,
                               nnrt_error_set(error, NNRT_INVALID_TENSOR_NAME, "tensors %u and %u are both named '%s'",
                                              a, b, nnrti_tensor_name(names->model, a)),
                               -1, b);
    }
    return NNRT_SUCCESS;
}

/* Rule: names are unique within each graph; home: the graph of each tensor. Sorts the hashes of all names, then the
   names with equal hashes, which takes a third of the time of sorting the names. (Rejected: a hash table, whose time
   is quadratic if a hostile file contains names that collide.) */
static NNRT_ReturnCode nnrti_check_names(const NNRT_Model *m, const uint32_t *home, nnrt_memory *memory,
                                         nnrt_error *error)
{
    uint64_t *keys = (uint64_t *)nnrt_memory_temp_array(memory, m->allTensors.count, sizeof(*keys));
    uint32_t count = 0, longest = 0, *list;
    nnrti_names names;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (keys == NULL)
        return nnrti_no_memory(error);
    names.model = m;
    names.home = home;
    for (uint32_t t = 0; t < m->allTensors.count; t++) {
        const char *name = nnrti_tensor_name(m, t);
        uint32_t hash = 2166136261u; /* FNV-1a */
        if (*name == '\0')
            continue;
        for (; *name != '\0'; name++)
            hash = (hash ^ (uint8_t)*name) * 16777619u;
        keys[count++] = (uint64_t)hash << 32 | t;
    }
    nnrti_sort_keys(keys, count);
    for (uint32_t i = 0, first = 0; i < count; i++) {
        first = keys[i] >> 32 != keys[first] >> 32 ? i : first;
        longest = i - first + 1 > longest ? i - first + 1 : longest;
    }
    if (longest < 2)
        return NNRT_SUCCESS;
    if ((list = (uint32_t *)nnrt_memory_temp_array(memory, longest, sizeof(*list))) == NULL)
        return nnrti_no_memory(error);
    for (uint32_t i = 0, n = 0; i < count && code == NNRT_SUCCESS; i++) {
        list[n++] = (uint32_t)keys[i];
        if (i + 1 < count && keys[i + 1] >> 32 == keys[i] >> 32)
            continue;
        if (n > 1)
            code = nnrti_check_names_of(&names, list, n, error);
        n = 0;
    }
    return code;
}

#endif

/* The writer of a tensor: the index of a node, or one of these. */
#define NNRTI_BY_NOBODY 0xFFFFFFFFu
#define NNRTI_BY_INPUT 0xFFFFFFFEu
#define NNRTI_BY_CONSTANT 0xFFFFFFFDu
#define NNRTI_BY_CALLER 0xFFFFFFFCu /* an input of a subgraph */

/* Rule: the model's outputs are tensors. */
static NNRT_ReturnCode nnrti_check_model_outputs(const NNRT_Model *m, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        if (m->outputIndex.data[i] >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_OUTPUT, "model output %u is tensor %u, but there are %u tensors",
                                  i, m->outputIndex.data[i], m->allTensors.count);
    return NNRT_SUCCESS;
}

/* Rule: the model's inputs and outputs are tensors; each input is listed once, is no constant, and has a type and a
   rank. Initializes writer[]: BY_INPUT, BY_CONSTANT, or BY_NOBODY until nnrti_check_node finds the node. */
static NNRT_ReturnCode nnrti_check_inputs_outputs(const NNRT_Model *m, uint32_t *writer, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        writer[i] = nnrti_is_constant(&m->allTensors.data[i]) ? NNRTI_BY_CONSTANT : NNRTI_BY_NOBODY;
    for (uint32_t i = 0; i < m->inputIndex.count; i++) {
        uint32_t t = m->inputIndex.data[i];
        if (t >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_INPUT, "model input %u is tensor %u, but there are %u tensors", i,
                                  t, m->allTensors.count);
        if (writer[t] != NNRTI_BY_NOBODY)
            return nnrt_error_blame(error,
                               nnrt_error_set(error, NNRT_INVALID_INPUT, "model input %u '%s' %s", i,
                                              nnrti_text_of(m->allTensors.data[t].name),
                                              writer[t] == NNRTI_BY_CONSTANT ? "has constant data" : "is listed twice"),
                               -1, t);
        if (m->allTensors.data[t].dataType == NNRT_DATA_TYPE_UNKNOWN || !nnrti_rank_known(&m->allTensors.data[t]))
            return nnrt_error_blame(error,
                               nnrt_error_set(error, NNRT_INVALID_INPUT,
                                              "model input %u '%s' needs a dataType and a rank", i,
                                              nnrti_text_of(m->allTensors.data[t].name)),
                               -1, t);
        writer[t] = NNRTI_BY_INPUT;
    }
    return nnrti_check_model_outputs(m, error);
}

static NNRT_ReturnCode nnrti_no_operator(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
#ifndef NNRT_FIRMWARE
    if (m->nodes.data[i].nodeType < 0)
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP,
                              "node %u '%s': no operator with number %d is registered (nnrt_op_register)", i,
                              nnrti_text_of(m->nodes.data[i].name), m->nodes.data[i].nodeType);
#endif
    return nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "node %u '%s': there is no operator with number %d", i,
                          nnrti_text_of(m->nodes.data[i].name), m->nodes.data[i].nodeType);
}

/* Rule: the subgraphs in the attributes of node i exist, and none is the main graph. An attribute outside
   nodeAttr.size has its default: no subgraph. */
NNRTI_UNUSED static NNRT_ReturnCode nnrti_check_graphs(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_Node *n = &m->nodes.data[i];
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    for (uint32_t k = 0; op != NULL && n->nodeAttr.data != NULL && k < op->attr->count; k++) {
        const nnrt_attr_member *a = &op->attr->members[k];
        uint32_t graph;
        if (a->kind != NNRT_ATTR_KIND_GRAPH || a->offset + a->bytes > n->nodeAttr.size)
            continue;
        memcpy(&graph, (const uint8_t *)n->nodeAttr.data + a->offset, sizeof(graph));
        if (graph != NNRT_NO_GRAPH && (graph == 0 || graph >= m->subGraph.count))
            return nnrt_error_set(
                error, NNRT_INVALID_NODE,
                "node %u '%s' (%s): %s is subgraph %u, but the model has %u, of which 0 is the main one", i,
                nnrti_text_of(n->name), op->name, NNRTI_NAME_IN(a), graph, m->subGraph.count);
    }
    return NNRT_SUCCESS;
}

/* Rule: the operands of node i are tensors, and no output has another writer. Stores i as the writer of its outputs.
   strangers: an unknown operator is no error. */
static NNRT_ReturnCode nnrti_check_node(const NNRT_Model *m, uint32_t i, uint32_t *writer, bool strangers,
                                        nnrt_error *error)
{
    const NNRT_Node *n = &m->nodes.data[i];
    const char *name = nnrti_text_of(n->name), *op = nnrti_node_op(m, i);
    if (!strangers && nnrt_op_find(n->nodeType) == NULL)
        return nnrti_no_operator(m, i, error);
    if ((n->inputIndex.count > 0 && n->inputIndex.data == NULL) ||
        (n->outputIndex.count > 0 && n->outputIndex.data == NULL))
        return nnrt_error_set(error, NNRT_NULL_PTR, "node %u '%s' (%s): counts operands, but has no list of them", i,
                              name, op);
    for (uint32_t k = 0; k < n->inputIndex.count; k++)
        if (n->inputIndex.data[k] != NNRT_NO_TENSOR && n->inputIndex.data[k] >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_INPUT,
                                  "node %u '%s' (%s): input %u is tensor %u, but there are %u", i, name, op, k,
                                  n->inputIndex.data[k], m->allTensors.count);
    for (uint32_t k = 0; k < n->outputIndex.count; k++) {
        uint32_t t = n->outputIndex.data[k];
        if (t == NNRT_NO_TENSOR)
            continue;
        if (t >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_OUTPUT,
                                  "node %u '%s' (%s): output %u is tensor %u, but there are %u", i, name, op, k, t,
                                  m->allTensors.count);
        if (writer[t] == NNRTI_BY_INPUT || writer[t] == NNRTI_BY_CONSTANT || writer[t] == NNRTI_BY_CALLER)
            return nnrt_error_set(error, NNRT_INVALID_OUTPUT, "node %u '%s' (%s): output %u '%s' is %s", i, name, op, k,
                                  nnrti_text_of(m->allTensors.data[t].name),
                                  writer[t] == NNRTI_BY_CALLER  ? "an input of a subgraph"
                                  : writer[t] == NNRTI_BY_INPUT ? "a model input"
                                                                : "a constant");
        if (writer[t] != NNRTI_BY_NOBODY)
            return nnrt_error_set(error, NNRT_INVALID_OUTPUT,
                                  "node %u '%s' (%s): output %u '%s' is also written by node %u '%s'", i, name, op, k,
                                  nnrti_text_of(m->allTensors.data[t].name), writer[t],
                                  nnrti_text_of(m->nodes.data[writer[t]].name));
        writer[t] = i;
    }
    return NNRTI_HAS(GRAPH) ? nnrti_check_graphs(m, i, error) : NNRT_SUCCESS;
}

/* Rule: every tensor that a node reads, or that is a model output, has a writer. It is a separate pass over the
   nodes, because a model may list a node before the producers of its inputs. Before: nnrti_check_node has passed for
   all nodes. */
static NNRT_ReturnCode nnrti_check_sources(const NNRT_Model *m, const uint32_t *writer, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        for (uint32_t k = 0; k < n->inputIndex.count; k++) {
            uint32_t t = n->inputIndex.data[k];
            if (t != NNRT_NO_TENSOR && writer[t] == NNRTI_BY_NOBODY)
                return nnrt_error_blame(
                    error,
                    nnrt_error_set(error, NNRT_INVALID_INPUT,
                                   "node %u '%s' (%s): input %u is tensor %u '%s', which no node writes and "
                                   "which is neither a model input nor a constant",
                                   i, nnrti_text_of(n->name), nnrti_node_op(m, i), k, t,
                                   nnrti_text_of(m->allTensors.data[t].name)),
                    i, t);
        }
    }
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        if (writer[m->outputIndex.data[i]] == NNRTI_BY_NOBODY)
            return nnrt_error_blame(error,
                               nnrt_error_set(error, NNRT_INVALID_OUTPUT, "model output %u '%s' is written by no node",
                                              i, nnrti_text_of(m->allTensors.data[m->outputIndex.data[i]].name)),
                               -1, m->outputIndex.data[i]);
    return NNRT_SUCCESS;
}

/* Rule: the entries of a list of subgraph i are below `most`, the number of nodes or tensors (kind). */
static NNRT_ReturnCode nnrti_check_entries(const NNRT_Uint32List *list, uint32_t most, uint32_t i, const char *name,
                                           const char *kind, nnrt_error *error)
{
    for (uint32_t k = 0; k < list->count; k++)
        if (list->data == NULL || list->data[k] >= most)
            return nnrt_error_set(error, NNRT_INVALID_MODEL, "subgraph %u: entry %u of %s is no %s", i, k, name, kind);
    return NNRT_SUCCESS;
}

/* Rule: the lists of subgraph i contain indices of nodes and tensors. */
static NNRT_ReturnCode nnrti_check_subgraph(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_SubGraph *g = &m->subGraph.data[i];
    const uint32_t tensors = m->allTensors.count;
    NNRT_ReturnCode code = nnrti_check_entries(&g->nodeIndices, m->nodes.count, i, "nodeIndices", "node", error);
    if (code == NNRT_SUCCESS)
        code = nnrti_check_entries(&g->inputIndices, tensors, i, "inputIndices", "tensor", error);
    return code != NNRT_SUCCESS ? code
                                : nnrti_check_entries(&g->outputIndices, tensors, i, "outputIndices", "tensor", error);
}

/* The nesting of a model's graphs: a tree whose root is the main graph. A tensor is in scope in the graph that
   defines it and in all graphs nested in that. If there is only the main graph, the arrays are NULL. */
typedef struct nnrti_tree {
    uint32_t *owner;  /* per node: its graph */
    uint32_t *caller; /* per graph: the node that has it as an attribute */
    uint32_t *home;   /* per tensor: the graph that defines it; of constants the main graph */
    uint32_t *first,
        *taken; /* captured tensors: taken[first[n] .. first[n + 1]) are the tensors of its own graph that the
                                subgraphs of node n read */
} nnrti_tree;

#ifdef NNRT_FIRMWARE
#define nnrti_tree_begin(m, writer, memory, x, error) NNRT_SUCCESS
#define nnrti_tree_end(m, writer, memory, x, error) NNRT_SUCCESS
#else

/* The graph that encloses graph g, which is not the main graph. */
static uint32_t nnrti_tree_up(const nnrti_tree *x, uint32_t g)
{
    return x->owner[x->caller[g]];
}

/* Rule: every node is in exactly one graph. Stores it in x->owner. */
static NNRT_ReturnCode nnrti_tree_owners(const NNRT_Model *m, nnrti_tree *x, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->nodes.count; i++)
        x->owner[i] = NNRT_NO_GRAPH;
    for (uint32_t g = 0; g < m->subGraph.count; g++)
        for (uint32_t k = 0; k < m->subGraph.data[g].nodeIndices.count; k++) {
            const uint32_t n = m->subGraph.data[g].nodeIndices.data[k];
            if (x->owner[n] != NNRT_NO_GRAPH)
                return nnrt_error_set(error, NNRT_INVALID_MODEL, "node %u '%s' is in subgraph %u and in subgraph %u", n,
                                      nnrti_text_of(m->nodes.data[n].name), x->owner[n], g);
            x->owner[n] = g;
        }
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if (x->owner[i] == NNRT_NO_GRAPH)
            return nnrt_error_set(error, NNRT_INVALID_MODEL, "node %u '%s' (%s) is in none of the %u subgraphs", i,
                                  nnrti_text_of(m->nodes.data[i].name), nnrti_node_op(m, i), m->subGraph.count);
    return NNRT_SUCCESS;
}

NNRT_API uint32_t nnrt_node_graphs(const NNRT_Node *n)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    return op != NULL && (op->flags & NNRT_OP_GRAPHS) != 0 ? op->attr->count : 0;
}

NNRT_API uint32_t nnrt_node_graph(const NNRT_Node *n, uint32_t k)
{
    const nnrt_attr_member *a = &nnrt_op_find(n->nodeType)->attr->members[k];
    uint32_t graph = NNRT_NO_GRAPH;
    if (a->kind == NNRT_ATTR_KIND_GRAPH && n->nodeAttr.data != NULL && a->offset + a->bytes <= n->nodeAttr.size)
        memcpy(&graph, (const uint8_t *)n->nodeAttr.data + a->offset, sizeof(graph));
    return graph;
}

static NNRT_ReturnCode nnrti_nested(uint32_t g, nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_INVALID_MODEL, "subgraph %u lies in itself, or in more than %d subgraphs", g,
                          NNRT_MAX_NESTING);
}

/* Rule: every subgraph is an attribute of exactly one node, and the nesting has no cycle and at most NNRT_MAX_NESTING
   levels. Stores the node in x->caller. Before: nnrti_check_graphs has passed for all nodes. A cycle needs no search
   of its own: the walk to the main graph stops after NNRT_MAX_NESTING levels, which also bounds the time of each
   graph, and of each read in nnrti_tree_taker. */
static NNRT_ReturnCode nnrti_tree_callers(const NNRT_Model *m, nnrti_tree *x, nnrt_error *error)
{
    for (uint32_t g = 0; g < m->subGraph.count; g++)
        x->caller[g] = UINT32_MAX;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        for (uint32_t k = 0; k < nnrt_node_graphs(n); k++) {
            const uint32_t g = nnrt_node_graph(n, k);
            if (g == NNRT_NO_GRAPH)
                continue;
            if (x->caller[g] != UINT32_MAX)
                return nnrt_error_set(error, NNRT_INVALID_MODEL,
                                      "subgraph %u is run by node %u '%s' and by node %u '%s': each needs its own", g,
                                      x->caller[g], nnrti_text_of(m->nodes.data[x->caller[g]].name), i,
                                      nnrti_text_of(n->name));
            x->caller[g] = i;
        }
    }
    for (uint32_t g = 1; g < m->subGraph.count; g++) {
        uint32_t depth = 0, up = g;
        for (; up != 0 && depth <= NNRT_MAX_NESTING && x->caller[up] != UINT32_MAX; depth++)
            up = nnrti_tree_up(x, up);
        if (up != 0 && x->caller[up] == UINT32_MAX)
            return nnrt_error_set(error, NNRT_INVALID_MODEL, "subgraph %u: no node runs it", up);
        if (depth > NNRT_MAX_NESTING)
            return nnrti_nested(g, error);
    }
    return NNRT_SUCCESS;
}

/* Builds the tree, up to tensors: finds the graph of each node and the node that runs each graph. The writer of a
   subgraph's inputs becomes NNRTI_BY_CALLER, since the node that runs the subgraph stores them. */
static NNRT_ReturnCode nnrti_tree_begin(const NNRT_Model *m, uint32_t *writer, nnrt_memory *memory, nnrti_tree *x,
                                        nnrt_error *error)
{
    NNRT_ReturnCode code;
    if (m->subGraph.count == 1)
        return NNRT_SUCCESS;
    x->owner = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*x->owner));
    x->caller = (uint32_t *)nnrt_memory_temp_array(memory, m->subGraph.count, sizeof(*x->caller));
    x->home = (uint32_t *)nnrt_memory_temp_array(memory, m->allTensors.count, sizeof(*x->home));
    if (memory->full)
        return nnrti_no_memory(error);
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if ((code = nnrti_check_graphs(m, i, error)) != NNRT_SUCCESS)
            return nnrt_error_blame(error, code, i, -1);
    if ((code = nnrti_tree_owners(m, x, error)) != NNRT_SUCCESS ||
        (code = nnrti_tree_callers(m, x, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t g = 1; g < m->subGraph.count; g++)
        for (uint32_t k = 0; k < m->subGraph.data[g].inputIndices.count; k++) {
            const uint32_t t = m->subGraph.data[g].inputIndices.data[k];
            if (writer[t] != NNRTI_BY_NOBODY)
                return nnrt_error_blame(error,
                                   nnrt_error_set(error, NNRT_INVALID_MODEL,
                                                  "subgraph %u: input %u is tensor %u '%s', which is given elsewhere",
                                                  g, k, t, nnrti_text_of(m->allTensors.data[t].name)),
                                   -1, t);
            writer[t] = NNRTI_BY_CALLER;
            x->home[t] = g;
        }
    return NNRT_SUCCESS;
}

/* For tensor t that is read in graph g: *node = the node of the defining graph in whose subgraphs the read is (this
   node captures t), UINT32_MAX: it is read in the defining graph itself. false: t is not in scope in g. */
static bool nnrti_tree_taker(const nnrti_tree *x, uint32_t g, uint32_t t, uint32_t *node)
{
    *node = UINT32_MAX;
    for (; g != x->home[t]; g = nnrti_tree_up(x, g)) {
        if (g == 0)
            return false;
        *node = x->caller[g];
    }
    return true;
}

/* Records one read of tensor t in graph g, if it is a capture: counts it, and stores it if taken has been allocated. */
static NNRT_ReturnCode nnrti_tree_take(const NNRT_Model *m, const nnrti_tree *x, uint32_t g, uint32_t t,
                                       uint32_t *count, nnrt_error *error)
{
    uint32_t node;
    if (!nnrti_tree_taker(x, g, t, &node))
        return nnrt_error_blame(
            error,
            nnrt_error_set(error, NNRT_INVALID_MODEL,
                           "tensor %u '%s' of subgraph %u is read in subgraph %u, which does not lie in it", t,
                           nnrti_text_of(m->allTensors.data[t].name), x->home[t], g),
            -1, t);
    if (node == UINT32_MAX)
        return NNRT_SUCCESS;
    if (x->taken != NULL)
        x->taken[x->first[node] + count[node]] = t;
    count[node]++;
    return NNRT_SUCCESS;
}

/* Records all reads: of nodes, as outputs of subgraphs, and as outputs of the model. Called twice: to count, then to
   store, so that taken has the exact size. A tensor that a subgraph reads several times is recorded as often. */
static NNRT_ReturnCode nnrti_tree_takes(const NNRT_Model *m, const nnrti_tree *x, uint32_t *count, nnrt_error *error)
{
    NNRT_ReturnCode code;
    memset(count, 0, m->nodes.count * sizeof(*count));
    for (uint32_t i = 0; i < m->nodes.count; i++)
        for (uint32_t k = 0; k < m->nodes.data[i].inputIndex.count; k++) {
            const uint32_t t = m->nodes.data[i].inputIndex.data[k];
            if (t != NNRT_NO_TENSOR && (code = nnrti_tree_take(m, x, x->owner[i], t, count, error)) != NNRT_SUCCESS)
                return nnrt_error_blame(error, code, i, t);
        }
    for (uint32_t g = 1; g < m->subGraph.count; g++)
        for (uint32_t k = 0; k < m->subGraph.data[g].outputIndices.count; k++)
            if ((code = nnrti_tree_take(m, x, g, m->subGraph.data[g].outputIndices.data[k], count, error)) !=
                NNRT_SUCCESS)
                return code;
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        if ((code = nnrti_tree_take(m, x, 0, m->outputIndex.data[i], count, error)) != NNRT_SUCCESS)
            return code;
    return NNRT_SUCCESS;
}

/* Completes the tree after the writers are known: finds the graph of each tensor, checks that every read is in scope,
   and collects the captured tensors, on which a control-flow node depends as on its inputs. */
static NNRT_ReturnCode nnrti_tree_end(const NNRT_Model *m, const uint32_t *writer, nnrt_memory *memory, nnrti_tree *x,
                                      nnrt_error *error)
{
    uint32_t *count, total = 0;
    NNRT_ReturnCode code;
    if (x->owner == NULL)
        return NNRT_SUCCESS;
    count = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*count));
    x->first = (uint32_t *)nnrt_memory_temp_array(memory, (size_t)m->nodes.count + 1, sizeof(*x->first));
    if (memory->full)
        return nnrti_no_memory(error);
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        if (writer[t] < m->nodes.count)
            x->home[t] = x->owner[writer[t]];
    for (uint32_t g = 1; g < m->subGraph.count; g++)
        for (uint32_t k = 0; k < m->subGraph.data[g].outputIndices.count; k++)
            if (writer[m->subGraph.data[g].outputIndices.data[k]] == NNRTI_BY_NOBODY)
                return nnrt_error_set(error, NNRT_INVALID_MODEL, "subgraph %u: output %u is written by no node", g, k);
    if ((code = nnrti_tree_takes(m, x, count, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        x->first[i] = total;
        total += count[i];
    }
    x->first[m->nodes.count] = total;
    x->taken = (uint32_t *)nnrt_memory_temp_array(memory, (size_t)total + 1, sizeof(*x->taken));
    return x->taken != NULL ? nnrti_tree_takes(m, x, count, error) : nnrti_no_memory(error);
}

#endif

/* The number of tensors that a node depends on, and the k-th: its inputs, then the tensors that its subgraphs read
   from its graph. */
#ifdef NNRT_FIRMWARE
#define nnrti_need_count(m, x, n) ((void)(x), (m)->nodes.data[n].inputIndex.count)
#define nnrti_need(m, x, n, k) (m)->nodes.data[n].inputIndex.data[k]
#else
static uint32_t nnrti_need_count(const NNRT_Model *m, const nnrti_tree *x, uint32_t n)
{
    return m->nodes.data[n].inputIndex.count + (x->taken != NULL ? x->first[n + 1] - x->first[n] : 0);
}

static uint32_t nnrti_need(const NNRT_Model *m, const nnrti_tree *x, uint32_t n, uint32_t k)
{
    const NNRT_Uint32List *in = &m->nodes.data[n].inputIndex;
    return k < in->count ? in->data[k] : x->taken[x->first[n] + k - in->count];
}
#endif

/* Topological sort: a depth-first search from every node in the model's order, which appends a node after its
   producers. It is stable: nodes that are already sorted keep their order. Iterative, because a chain of nodes may be
   too long for the stack. A node met again on the path is a cycle, an error. O(nodes + inputs); path has room for all
   nodes, as no node enters it twice. Captured tensors count as inputs of the node that runs the subgraph, so their
   producers come first. next[n]: 0 = not visited, 1 .. = on the path, number of the next input to visit, UINT32_MAX =
   done. */
static NNRT_ReturnCode nnrti_sort_nodes(const NNRT_Model *m, const uint32_t *writer, const nnrti_tree *x,
                                        nnrt_memory *memory, uint32_t *order, nnrt_error *error)
{
    uint32_t *next = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*next));
    uint32_t *path = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*path)), done = 0;
    if (next == NULL || path == NULL)
        return nnrti_no_memory(error);
    for (uint32_t root = 0; root < m->nodes.count; root++) {
        uint32_t depth = 0;
        if (next[root] != 0)
            continue;
        path[depth++] = root;
        next[root] = 1;
        while (depth > 0) {
            uint32_t n = path[depth - 1];
            uint32_t t, w;
            if (next[n] > nnrti_need_count(m, x, n)) {
                next[n] = UINT32_MAX;
                order[done++] = n;
                depth--;
                continue;
            }
            t = nnrti_need(m, x, n, next[n]++ - 1);
            w = t == NNRT_NO_TENSOR ? NNRTI_BY_NOBODY : writer[t];
            if (w >= m->nodes.count || next[w] == UINT32_MAX)
                continue;
            if (next[w] != 0)
                return nnrt_error_blame(
                    error,
                    nnrt_error_set(error, NNRT_INVALID_MODEL,
                                   "node %u '%s' (%s) needs its own result: a cycle through tensor %u '%s'", w,
                                   nnrti_text_of(m->nodes.data[w].name), nnrti_node_op(m, w), t,
                                   nnrti_text_of(m->allTensors.data[t].name)),
                    w, t);
            path[depth++] = w;
            next[w] = 1;
        }
    }
    return NNRT_SUCCESS;
}

/* Size of an order: the nodes, sorted by graph, then the position where the nodes of each graph begin, and the number
   of nodes. Firmware has one graph. */
#ifdef NNRT_FIRMWARE
#define nnrti_order_count(m) ((m)->nodes.count)
#define nnrti_order_begin(m, order, g) 0
#define nnrti_order_end(m, order, g) ((m)->nodes.count)
#define nnrti_sort_graphs(m, x, memory, order, error) NNRT_SUCCESS
#else
#define nnrti_order_count(m) ((size_t)(m)->nodes.count + (m)->subGraph.count + 1)
#define nnrti_order_begin(m, order, g) ((order)[(m)->nodes.count + (g)])
#define nnrti_order_end(m, order, g) ((order)[(m)->nodes.count + (g) + 1])
/* Stable sort of a topological order by graph; appends the position where each graph begins. */
static NNRT_ReturnCode nnrti_sort_graphs(const NNRT_Model *m, const nnrti_tree *x, nnrt_memory *memory, uint32_t *order,
                                         nnrt_error *error)
{
    uint32_t *begin = order + m->nodes.count, *copy;
    begin[m->subGraph.count] = m->nodes.count;
    if (x->owner == NULL) /* begin[0] is 0 */
        return NNRT_SUCCESS;
    copy = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*copy));
    if (copy == NULL)
        return nnrti_no_memory(error);
    memcpy(copy, order, m->nodes.count * sizeof(*copy));
    memset(begin, 0, m->subGraph.count * sizeof(*begin));
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if (x->owner[i] + 1 < m->subGraph.count)
            begin[x->owner[i] + 1]++;
    for (uint32_t g = 1; g < m->subGraph.count; g++)
        begin[g] += begin[g - 1];
    for (uint32_t i = 0; i < m->nodes.count; i++)
        order[begin[x->owner[copy[i]]]++] = copy[i];
    for (uint32_t g = m->subGraph.count - 1; g > 0; g--)
        begin[g] = begin[g - 1];
    begin[0] = 0;
    return NNRT_SUCCESS;
}
#endif

/* nnrt_model_check; strangers: unknown operators are no error. Names come after the scopes, since names must differ
   within one graph only; cycles come last, as the search follows writers that all exist. All tables are temporary
   blocks of memory, and stay there after a failure, too: the caller drops them. */
NNRTI_COLD static NNRT_ReturnCode nnrti_check_model(const NNRT_Model *model, nnrt_memory *memory, uint32_t **order,
                                                    bool strangers, nnrt_error *error)
{
    NNRT_ReturnCode code;
    uint32_t *writer, *sorted;
    nnrti_tree tree;
    memset(&tree, 0, sizeof(tree));
    if (model == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the model is NULL");
    if ((code = nnrti_check_lists(model, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < model->allTensors.count; i++)
        if ((code = nnrti_check_tensor(model, i, error)) != NNRT_SUCCESS)
            return nnrt_error_blame(error, code, -1, i);
    writer = (uint32_t *)nnrt_memory_temp_array(memory, model->allTensors.count, sizeof(*writer));
    sorted = (uint32_t *)nnrt_memory_temp_array(memory, nnrti_order_count(model), sizeof(*sorted));
    if (writer == NULL || sorted == NULL)
        return nnrti_no_memory(error);
    if ((code = nnrti_check_inputs_outputs(model, writer, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < model->subGraph.count; i++)
        if ((code = nnrti_check_subgraph(model, i, error)) != NNRT_SUCCESS)
            return code;
    if ((code = nnrti_tree_begin(model, writer, memory, &tree, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if ((code = nnrti_check_node(model, i, writer, strangers, error)) != NNRT_SUCCESS)
            return nnrt_error_blame(error, code, i, -1);
    if ((code = nnrti_check_sources(model, writer, error)) != NNRT_SUCCESS ||
        (code = nnrti_tree_end(model, writer, memory, &tree, error)) != NNRT_SUCCESS ||
        (code = nnrti_check_names(model, tree.home, memory, error)) != NNRT_SUCCESS ||
        (code = nnrti_sort_nodes(model, writer, &tree, memory, sorted, error)) != NNRT_SUCCESS ||
        (code = nnrti_sort_graphs(model, &tree, memory, sorted, error)) != NNRT_SUCCESS)
        return code;
    if (order != NULL)
        *order = sorted;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_model_check(const NNRT_Model *model, nnrt_memory *memory, uint32_t **order,
                                          nnrt_error *error)
{
    return nnrti_check_model(model, memory, order, false, error);
}

/* nnrt_resolve.alloc: resolved attributes are kept memory, because the plan refers to them. */
static void *nnrti_keep_for_rule(void *user, size_t bytes)
{
    return nnrt_memory_keep((nnrt_memory *)user, bytes);
}

#ifndef NNRT_FIRMWARE

/* nnrti_model_copy copies names, lists, attributes, and on request constants. false: no memory, or an unknown operator.
   nnrti_copy_bytes replaces *at by a kept copy of its bytes. */
static bool nnrti_copy_bytes(nnrt_memory *memory, const void **at, size_t bytes)
{
    void *copy;
    if (*at == NULL)
        return true;
    copy = nnrt_memory_keep(memory, bytes);
    if (copy == NULL)
        return false;
    memcpy(copy, *at, bytes);
    *at = copy;
    return true;
}

static bool nnrti_copy_name(nnrt_memory *memory, const char **name)
{
    return *name == NULL || nnrti_copy_bytes(memory, (const void **)name, strlen(*name) + 1);
}

#define NNRTI_COPY_LIST(memory, list)                                                                                  \
    nnrti_copy_bytes(memory, (const void **)&(list).data, (list).count * sizeof(*(list).data))

/* Replaces the lists, the name and (constants) the data of a tensor, a shallow copy, by copies; false: no memory. */
static bool nnrti_copy_tensor(nnrt_memory *memory, NNRT_Tensor *t, bool constants)
{
    const void *data = nnrti_buffer_data(&t->data);
    void *copy;
    if (!nnrti_copy_name(memory, &t->name) || !NNRTI_COPY_LIST(memory, t->dims) ||
        !NNRTI_COPY_LIST(memory, t->quantParams) || !NNRTI_COPY_LIST(memory, t->symbols))
        return false;
    if (!constants || data == NULL)
        return true;
    if (!nnrti_memory_reserve(memory, t->data.dataSize, &copy))
        return false;
    if (copy == NULL) /* count mode: constants are counted, but used in place */
        return true;
    memcpy(copy, data, t->data.dataSize);
    t->data.addr = copy;
    t->data.fd = -1;
    t->data.offset = 0;
    t->data.bufferSize = t->data.dataSize;
    return true;
}

/* Replaces the lists, the name and the attributes of a node, a shallow copy, by copies; members outside nodeAttr.size
   have their defaults. */
static bool nnrti_copy_node(nnrt_memory *memory, NNRT_Node *n)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    void *attr;
    if (!nnrti_copy_name(memory, &n->name) || !NNRTI_COPY_LIST(memory, n->inputIndex) ||
        !NNRTI_COPY_LIST(memory, n->outputIndex))
        return false;
    if (op == NULL)
        return true;
    attr = nnrt_memory_keep(memory, op->attr->bytes);
    if (attr == NULL)
        return false;
    nnrt_attr_defaults(op->attr, attr);
    for (uint32_t i = 0; i < op->attr->count; i++) {
        const nnrt_attr_member *m = &op->attr->members[i];
        if (n->nodeAttr.data != NULL && m->offset + m->bytes <= n->nodeAttr.size)
            memcpy((uint8_t *)attr + m->offset, (const uint8_t *)n->nodeAttr.data + m->offset, m->bytes);
    }
    n->nodeAttr.data = attr;
    n->nodeAttr.size = op->attr->bytes;
    return nnrti_attr_own(op->attr, attr, nnrti_keep_for_rule, memory);
}

/* A deep copy of the model in kept memory; constants true: with the data of constants, false: only with their
   addresses. The model must have passed nnrt_model_check. NULL: no memory. Each list is copied whole, with pointers
   into the original, then the pointers of its elements are replaced. The copy has self NULL: it ends with memory, and
   nnrt_model_destroy ignores it. After a failure the parts copied so far stay in memory. */
NNRTI_COLD NNRTI_UNUSED static NNRT_Model *nnrti_model_copy(const NNRT_Model *model, nnrt_memory *memory,
                                                            bool constants)
{
    NNRT_Model *m = (NNRT_Model *)nnrt_memory_keep(memory, sizeof(*m));
    NNRT_Tensor *tensors;
    NNRT_Node *nodes;
    NNRT_SubGraph *graphs;
    if (m == NULL)
        return NULL;
    *m = *model;
    m->self = NULL;
    if (!nnrti_copy_name(memory, &m->name) || !NNRTI_COPY_LIST(memory, m->inputIndex) ||
        !NNRTI_COPY_LIST(memory, m->outputIndex) || !NNRTI_COPY_LIST(memory, m->nodes) ||
        !NNRTI_COPY_LIST(memory, m->allTensors) || !NNRTI_COPY_LIST(memory, m->subGraph))
        return NULL;
    tensors = (NNRT_Tensor *)(uintptr_t)m->allTensors.data;
    nodes = (NNRT_Node *)(uintptr_t)m->nodes.data;
    graphs = (NNRT_SubGraph *)(uintptr_t)m->subGraph.data;
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        if (!nnrti_copy_tensor(memory, &tensors[i], constants))
            return NULL;
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if (!nnrti_copy_node(memory, &nodes[i]))
            return NULL;
    for (uint32_t i = 0; i < m->subGraph.count; i++)
        if (!nnrti_copy_name(memory, &graphs[i].name) || !NNRTI_COPY_LIST(memory, graphs[i].inputIndices) ||
            !NNRTI_COPY_LIST(memory, graphs[i].outputIndices) || !NNRTI_COPY_LIST(memory, graphs[i].nodeIndices))
            return NULL;
    return m;
}

#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>format */

/* The .nnrt format in memory; paths and streams belong to nnrt.h, >>file. The reader checks each number of a file
   before its first use; lists, texts and constants are used in place. The writer emits the bytes in order to a
   function of its caller (nnrti_write). Reader and writer count bytes by the walk that later uses them. Invariant:
   sections are inside the file, in order, and disjoint; each text, list and constant is charged against the bytes of
   its section (nnrti_reader.texts, words, weights). So a model takes memory in proportion to its file
   (NNRT_FILE_FACTOR), also if a hostile file lets many records refer to one list. Rejected: a format that must be
   decoded, such as protobuf, as weights in flash or in a memory map could not be used in place. */

#define NNRTI_MAX_ATTACHED 4

/* A block that a model owns. */
typedef struct nnrti_block {
    void *data;
    size_t bytes;
    void (*release)(void *data, size_t bytes); /* NULL: nnrt_free */
} nnrti_block;

/* A model made by the library: the block begins with this struct. All data of the model is in the block, in attached
   blocks, in the replaced model, or is the caller's (constants that were not copied). */
typedef struct nnrti_owned {
    NNRT_Model model; /* model.self identifies models of the library; of a caller's model nothing after NNRT_Model may
                         be read */
    nnrt_allocator allocator;
    size_t bytes; /* of the block */
    nnrti_block attached[NNRTI_MAX_ATTACHED];
    uint32_t nAttached;
    bool bare;           /* inputs and outputs only; the prepared form is in file */
    const uint8_t *file; /* the checked .nnrt file that the model is in, or NULL; its metadata */
    const nnrt_metadata *metadata;
    uint32_t nMetadata;
    NNRT_Model *replaced; /* the model whose optimized form this is, or NULL */
    void *pieces;         /* memory with constants, for nnrti_memory_free, or NULL */
    const struct nnrti_deferred *deferred; /* NULL: the model has nodes */
} nnrti_owned;

#ifndef NNRT_FIRMWARE
/* A deferred model: the reason, and the function that imports its file once more. The importer's own data follow. */
typedef struct nnrti_deferred {
    const char *why;
    /* Imports the file with these inputs and the inputs of the first import. The result may be deferred, too. */
    NNRT_ReturnCode (*import)(const struct nnrti_deferred *deferred, const nnrt_input *inputs, uint32_t count,
                              NNRT_Model **model, nnrt_error *error);
} nnrti_deferred;
#endif

/* The block of a model; NULL if the library did not make it. A copy of the struct at another address is not
   recognized, so two structs never own one block. */
NNRTI_NOINLINE static nnrti_owned *nnrti_owned_of(const NNRT_Model *model)
{
    nnrti_owned *o = (nnrti_owned *)(uintptr_t)model;
    return model != NULL && model->self == model ? o : NULL;
}

#ifndef NNRT_FIRMWARE
/* Rule: no list among the attributes has a count above 0 and data NULL. */
static bool nnrti_attr_lists(const nnrt_attr_struct *s, const void *attr)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const void *at = (const uint8_t *)attr + s->members[i].offset;
        nnrti_any_list list;
        switch (s->members[i].kind) {
        case NNRT_ATTR_KIND_INTS:
        case NNRT_ATTR_KIND_INTS64:
        case NNRT_ATTR_KIND_FLOATS:
        case NNRT_ATTR_KIND_INTS2: list = nnrti_list_at(at); break;
        default: continue;
        }
        if (list.count > 0 && list.data == NULL)
            return false;
        for (uint32_t k = 0; s->members[i].kind == NNRT_ATTR_KIND_INTS2 && k < list.count; k++)
            if (((const NNRT_Int64List *)list.data)[k].count > 0 && ((const NNRT_Int64List *)list.data)[k].data == NULL)
                return false;
    }
    return true;
}

static void nnrti_block_release(const nnrti_block *b, const nnrt_allocator *allocator)
{
    if (b->release != NULL)
        b->release(b->data, b->bytes);
    else
        nnrt_free(allocator, b->data, b->bytes);
}

/* An optimized model owns the model that it replaced, whose constants it uses: the loop frees the chain. self is
   reset, so that a model in memory of the caller (bytes 0) is not released twice. */
NNRT_API void nnrt_model_destroy(NNRT_Model *model)
{
    for (nnrti_owned *o = nnrti_owned_of(model); o != NULL;) {
        nnrti_owned *replaced = nnrti_owned_of(o->replaced);
        nnrt_allocator allocator = o->allocator;
        for (uint32_t i = 0; i < o->nAttached; i++)
            nnrti_block_release(&o->attached[i], &allocator);
        nnrti_memory_free(&allocator, o->pieces);
        o->model.self = NULL;
        if (o->bytes > 0) /* 0: it lies in memory of the caller's (nnrt_model_load_into) */
            nnrt_free(&allocator, o, o->bytes);
        o = replaced;
    }
}

NNRT_API size_t nnrt_model_bytes(const NNRT_Model *model)
{
    size_t bytes = 0;
    for (const nnrti_owned *o = nnrti_owned_of(model); o != NULL; o = nnrti_owned_of(o->replaced)) {
        bytes += o->bytes;
        for (uint32_t i = 0; i < o->nAttached; i++)
            bytes += o->attached[i].release == NULL ? o->attached[i].bytes : 0;
        for (const nnrti_piece *p = (const nnrti_piece *)o->pieces; p != NULL; p = p->next)
            bytes += p->bytes;
    }
    return bytes;
}

NNRT_API const char *nnrt_model_deferred(const NNRT_Model *model)
{
    const nnrti_owned *o = nnrti_owned_of(model);
    return o != NULL && o->deferred != NULL ? o->deferred->why : NULL;
}

NNRT_API NNRT_ReturnCode nnrt_model_attach(NNRT_Model *model, void *block, size_t bytes)
{
    nnrti_owned *o = nnrti_owned_of(model);
    if (o == NULL || block == NULL)
        return NNRT_NULL_PTR;
    if (o->nAttached == NNRTI_MAX_ATTACHED)
        return NNRT_OUT_OF_MEMORY;
    o->attached[o->nAttached].data = block;
    o->attached[o->nAttached++].bytes = bytes;
    return NNRT_SUCCESS;
}

#endif

enum {
    NNRTI_FILE_STRINGS = 1,
    NNRTI_FILE_MODEL,
    NNRTI_FILE_SUBGRAPHS,
    NNRTI_FILE_TENSORS,
    NNRTI_FILE_NODES,
    NNRTI_FILE_LISTS,
    NNRTI_FILE_METADATA,
    NNRTI_FILE_WEIGHTS,
    NNRTI_FILE_DEVICE,
    NNRTI_FILE_PLAN,
    NNRTI_FILE_TYPES
};

#define NNRTI_FILE_ROW 40       /* bytes of a row of the section table */
#define NNRTI_FILE_ALIGNMENT 64 /* of sections, and of constants in them */
#define NNRTI_FILE_CHECKSUM 24  /* where the checksum stands */

static const uint8_t nnrti_file_magic[8] = {0x89, 'N', 'N', 'R', 'T', '\r', '\n', 0x1A};

#ifdef NNRT_FIRMWARE
#define NNRTI_FILE_TENSOR 48 /* it does not read symbols, and so no more than the first writers wrote */
#define NNRTI_FILE_NODE 40
#else
#define NNRTI_FILE_TENSOR 56
#define NNRTI_FILE_NODE 44
#endif
#define NNRTI_FILE_LEAST_NODE 40 /* where no operator is the application's */

/* Bytes of a section's records now and by the first writers, and its name; by type. Two tables, so that firmware links
   no addresses of names. */
static const struct {
    uint8_t record, least;
} nnrti_file_types[NNRTI_FILE_TYPES] = {
    {1, 1},                                   /* unknown */
    {1, 1},                                   /* strings */
    {24, 24},                                 /* model */
    {32, 32},                                 /* subgraphs */
    {NNRTI_FILE_TENSOR, 48},                  /* tensors */
    {NNRTI_FILE_NODE, NNRTI_FILE_LEAST_NODE}, /* nodes */
    {4, 4},                                   /* lists */
    {8, 8},                                   /* metadata */
    {1, 1},                                   /* weights */
    {1, 1},                                   /* device */
    {1, 1},                                   /* plan */
};
static const char *const nnrti_file_kinds[NNRTI_FILE_TYPES] = {
    "unknown", "strings", "model", "subgraphs", "tensors", "nodes", "lists", "metadata", "weights", "device", "plan"};

/* Records as they are in the file, on a little-endian machine. Every member is aligned; there is no padding. */
typedef struct nnrti_ref {
    uint32_t at, count;
} nnrti_ref;

typedef struct nnrti_file_header {
    uint8_t magic[8];
    uint32_t version, header;
    uint64_t bytes, checksum;
    uint32_t sections, row;
    uint32_t words; /* 1: in the checksum device sections go by words (nnrti_digest) */
    uint32_t zero[5];
} nnrti_file_header;

typedef struct nnrti_file_row {
    uint32_t type, flags;
    uint64_t offset, bytes;
    uint32_t alignment, record, name, zero;
} nnrti_file_row;

typedef struct nnrti_file_model {
    uint32_t name, zero;
    nnrti_ref inputs, outputs;
} nnrti_file_model;

typedef struct nnrti_file_subgraph {
    uint32_t name, zero;
    nnrti_ref inputs, outputs, nodes;
} nnrti_file_subgraph;

typedef struct nnrti_file_tensor {
    uint32_t name;
    int32_t dataType, format;
    uint32_t flags;
    nnrti_ref dims, quant;
    uint64_t offset;
    uint32_t bytes;
    int32_t quantAxis;
#ifndef NNRT_FIRMWARE
    nnrti_ref symbols;
#endif
} nnrti_file_tensor;

typedef struct nnrti_file_node {
    uint32_t name;
    int32_t nodeType, quantType;
    uint32_t shape;
    nnrti_ref attr, inputs, outputs;
#ifndef NNRT_FIRMWARE
    uint32_t op; /* not in records of NNRTI_FILE_LEAST_NODE bytes */
#endif
} nnrti_file_node;

/* The file's records and lists are these structs: a machine on which they are not cannot compile this. */
typedef char nnrti_file_fits[sizeof(nnrti_file_header) == NNRT_FILE_HEADER && sizeof(nnrti_file_row) == 40 &&
                                     sizeof(nnrti_file_model) == 24 && sizeof(nnrti_file_subgraph) == 32 &&
                                     sizeof(nnrti_file_tensor) == NNRTI_FILE_TENSOR &&
                                     sizeof(nnrti_file_node) == NNRTI_FILE_NODE && sizeof(NNRT_QuantParam) == 16
                                 ? 1
                                 : -1];

static bool nnrti_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* The kind by which a file stores an attribute. Kinds whose 8 bytes are alike and whose values differ in range only
   count as one, so that an attribute may get a wider range without another shape. */
static nnrt_attr_kind nnrti_file_kind(const nnrt_attr_member *m)
{
    switch (m->kind) {
    case NNRT_ATTR_KIND_INT64: return NNRT_ATTR_KIND_INT;
    case NNRT_ATTR_KIND_INTS64: return NNRT_ATTR_KIND_INTS;
    case NNRT_ATTR_KIND_TYPE: return m->bytes == sizeof(int64_t) ? NNRT_ATTR_KIND_INT : NNRT_ATTR_KIND_ENUM;
    default: return m->kind;
    }
}

/* Shape of the first count attributes of s: FNV-1a-32 over names and kinds. A file of another version whose
   attributes were renamed, reordered or retyped has another shape and is rejected instead of misread. */
static uint32_t nnrti_file_shape(const nnrt_attr_struct *s, uint32_t count)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = NNRTI_NAME_IN(&s->members[i]);
        for (; *name != '\0'; name++)
            h = (h ^ (uint8_t)*name) * 16777619u;
        h = (h ^ 0u) * 16777619u;
        h = (h ^ (uint32_t)nnrti_file_kind(&s->members[i])) * 16777619u;
    }
    return h;
}

NNRT_API bool nnrt_file_is(const void *data, size_t bytes)
{
    return data != NULL && bytes >= NNRT_FILE_HEADER &&
           nnrti_bytes_equal(data, nnrti_file_magic, sizeof(nnrti_file_magic));
}

#ifndef NNRT_FIRMWARE

/* A digest of weights and device sections, by words of 8 bytes on four lanes: FNV-1a takes one byte after the other,
   and ten times as long as reading them. The shift brings high bits down again, as a product only moves bits up. */
static uint64_t nnrti_digest(uint64_t hash, const uint8_t *data, size_t bytes)
{
    uint64_t lane[4] = {hash, hash ^ 1, hash ^ 2, hash ^ 3}, word[4];
    size_t i = 0;
    for (; bytes - i >= sizeof(word); i += sizeof(word)) {
        memcpy(word, data + i, sizeof(word));
        for (uint32_t k = 0; k < 4; k++) {
            lane[k] = (lane[k] ^ word[k]) * (uint64_t)0x9E3779B97F4A7C15u;
            lane[k] ^= lane[k] >> 29;
        }
    }
    hash = nnrti_fnv64(hash, (const uint8_t *)lane, sizeof(lane));
    return nnrti_fnv64(hash, data + i, bytes - i);
}

NNRT_API const char *nnrt_file_guess(const void *data, size_t bytes)
{
    static const struct {
        size_t at, n;
        const char *magic, *kind;
    } known[] = {{0, 8, "\x89NNRT\r\n\x1A", "a .nnrt file"},
                 {0, 4, "\x89PNG", "a PNG image"},
                 {0, 3, "\xFF\xD8\xFF", "a JPEG image"},
                 {0, 8, "\x89HDF\r\n\x1A\n", "an HDF5 file, perhaps of Keras: export it as ONNX"},
                 {4, 4, "TFL3", "a TensorFlow Lite model: nnrt_tflite_load reads it"},
                 {0, 4, "GGUF", "a GGUF file"},
                 {0, 6, "\x93NUMPY", "an array of NumPy"},
                 {0, 2, "\x1F\x8B", "compressed by gzip: unpack it"},
                 {8, 2, "{\"", "a SafeTensors file, which has weights and no graph"},
                 {0, 8, "version ", "a pointer of Git LFS: fetch the file itself"},
                 {0, 2, "\x80\x02", "a Python pickle, perhaps of PyTorch: export the model as ONNX"},
                 {0, 2, "\x80\x04", "a Python pickle: export the model as ONNX"},
                 {0, 4, "\x7F" "ELF", "an ELF executable or library"},
                 {0, 4, "\xCF\xFA\xED\xFE", "a Mach-O executable or library"},
                 {0, 4, "MZ\x90\x00", "a Windows executable or library"},
                 {0, 4, "%PDF", "a PDF document"},
                 {0, 4, "GIF8", "a GIF image"},
                 {0, 4, "RIFF", "a RIFF file, such as WAV or WebP"},
                 {0, 3, "BZh", "compressed by bzip2: unpack it"},
                 {0, 6, "\xFD" "7zXZ\x00", "compressed by xz: unpack it"},
                 {0, 4, "\x28\xB5\x2F\xFD", "compressed by Zstandard: unpack it"},
                 {0, 1, "<", "a page of HTML or XML"},
                 {0, 1, "{", "a text of JSON"}};
    const uint8_t *p = (const uint8_t *)data;
    size_t text = 0;
    if (data == NULL)
        return NULL;
    if (bytes == 0)
        return "an empty file";
    if (bytes >= 4 && nnrti_bytes_equal(p, "PK\x03\x04", 4)) { /* the first member of a PyTorch file is NAME/data.pkl */
        for (size_t i = 30; i + 8 <= bytes && i < 256; i++)
            if (nnrti_bytes_equal(p + i, "data.pkl", 8))
                return "a PyTorch file: export the model as ONNX (torch.onnx.export)";
        return "a zip archive";
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (bytes >= known[i].at + known[i].n && nnrti_bytes_equal(p + known[i].at, known[i].magic, known[i].n))
            return known[i].kind;
    if (bytes >= 3 && p[0] == 8 && p[1] > 0 && p[1] < 32 && (p[2] & 7) == 2)
        return "an ONNX model: nnrt convert makes .nnrt files of them";
    while (text < bytes && text < 256 && (p[text] >= ' ' || p[text] == '\t' || p[text] == '\n' || p[text] == '\r') &&
           p[text] < 0x7F)
        text++;
    return text == bytes || text == 256 ? "a text" : NULL;
}

/* The fault of a file of another kind: "is no .nnrt file; it looks like a PNG image". */
static NNRT_ReturnCode nnrti_file_no_file(nnrt_error *error, const char *name, const void *data, size_t bytes)
{
    const char *kind = nnrt_file_guess(data, bytes);
    if (kind != NULL && nnrti_bytes_equal(data, nnrti_file_magic, 2))
        kind = NULL; /* it begins like one, and is broken */
    return nnrt_error_set(error, NNRT_INVALID_FILE, "%s is no .nnrt file%s%s", name,
                          kind != NULL ? "; it looks like " : "", kind != NULL ? kind : "");
}

/* The prepared form of a device, which a file stores as a device section. */
typedef struct nnrti_form {
    struct nnrti_form *next;
    const char *device;
    const uint8_t *data;
    size_t bytes;  /* of data */
    size_t block;  /* of the allocation that begins with this struct: with new data, and with the name */
    bool packed;   /* prepacked weights for the whole model .. */
    uint64_t hash; /* .. with this digest */
} nnrti_form;

/* An nnrt_cache begins with the pointer to its first form. */
static const nnrti_form *nnrti_forms_of(const struct nnrt_cache *cache)
{
    return cache != NULL ? *(nnrti_form *const *)(const void *)cache : NULL;
}

/* Receives the bytes of a file in order, bytes > 0. */
typedef void (*nnrti_write)(void *user, const void *data, size_t bytes);

/* The writer walks over the whole model once per section; each walk emits the bytes of that section and counts those
   of the others. So a reference to another section always equals its final offset. section 0 emits nothing. The time
   is one walk over the tables for each of at most eight sections; constants are read once, as only one of the walks
   emits them. Rejected: a buffer per section, which would hold a copy of the file in memory. */
typedef struct nnrti_writer {
    const NNRT_Model *model;
    nnrt_save_desc desc;
    nnrti_file_header header;
    uint32_t section;
    size_t used[NNRTI_FILE_TYPES], total[NNRTI_FILE_TYPES]; /* bytes in this walk, and in all */
    bool full;                                              /* a section exceeds the range of its numbers */
    bool bare;                                              /* the model has no nodes */
    bool own;                                               /* it has nodes of operators of the application */
    bool digest, light; /* the hash is the digest of the model; light: without its weights */
    nnrti_write write;  /* NULL: only the hash is computed */
    void *user;
    uint64_t at, hash;
} nnrti_writer;

/* Every byte of the file passes here once, in order, so the checksum needs no second pass over the file. */
static void nnrti_writer_emit(nnrti_writer *w, const void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    if (w->digest && w->section == NNRTI_FILE_WEIGHTS)
        w->hash = w->light ? w->hash : nnrti_digest(w->hash, (const uint8_t *)data, bytes);
    else if (w->bare && w->section == NNRTI_FILE_DEVICE)
        w->hash = nnrti_digest(w->hash, (const uint8_t *)data, bytes);
    else
        w->hash = nnrti_fnv64(w->hash, (const uint8_t *)data, bytes);
    if (w->write != NULL)
        w->write(w->user, data, bytes);
    w->at += bytes;
}

/* Appends bytes to a section: emits them in the walk of that section, else only counts them. full is sticky and
   compared once, after the counting walk (nnrti_writer_lay): offsets in the walks that emit are then known to fit 32
   bits. */
static void nnrti_writer_put(nnrti_writer *w, uint32_t section, const void *data, size_t bytes)
{
    if (w->section == section)
        nnrti_writer_emit(w, data, bytes);
    w->full = w->full || !nnrt_add_size(w->used[section], bytes, &w->used[section]) ||
              w->used[section] > SIZE_MAX - 2 * NNRTI_FILE_ALIGNMENT ||
              (section == NNRTI_FILE_STRINGS && w->used[section] > UINT32_MAX) ||
              (section == NNRTI_FILE_LISTS && w->used[section] / 4 > UINT32_MAX);
}

/* Zeros up to a multiple of alignment (at most 64). */
static void nnrti_writer_pad(nnrti_writer *w, uint32_t section, size_t alignment)
{
    static const uint8_t zeros[NNRTI_FILE_ALIGNMENT] = {0};
    nnrti_writer_put(w, section, zeros, (alignment - w->used[section] % alignment) % alignment);
}

/* The offset of a text that is appended; 0 = the empty text. Equal texts are stored again: readers require that no
   two texts share bytes. */
static uint32_t nnrti_writer_text(nnrti_writer *w, const char *text)
{
    const uint32_t at = (uint32_t)w->used[NNRTI_FILE_STRINGS];
    if (text == NULL || *text == '\0')
        return 0;
    nnrti_writer_put(w, NNRTI_FILE_STRINGS, text, strlen(text) + 1);
    return at;
}

/* Appends the list at `at`. width: bytes of an entry, 4, or a multiple of 8 for entries at even words. An empty list
   is {0, 0} and takes no bytes. */
static nnrti_ref nnrti_writer_list(nnrti_writer *w, const void *at, size_t width)
{
    const nnrti_any_list list = nnrti_list_at(at);
    nnrti_ref ref = {0, 0};
    size_t bytes;
    if (list.count == 0 || list.data == NULL)
        return ref;
    nnrti_writer_pad(w, NNRTI_FILE_LISTS, width == 4 ? 4 : 8);
    ref.at = (uint32_t)(w->used[NNRTI_FILE_LISTS] / 4);
    ref.count = list.count;
    if (nnrt_mul_size(list.count, width, &bytes))
        nnrti_writer_put(w, NNRTI_FILE_LISTS, list.data, bytes);
    else
        w->full = true;
    return ref;
}

/* The inner lists first, adjacent to each other, then their references: the reference of each follows from the counts
   of the lists before it, so that no table of positions is necessary. */
static nnrti_ref nnrti_writer_lists(nnrti_writer *w, const NNRT_Int64Lists *lists)
{
    nnrti_ref each, ref = {0, 0};
    uint32_t at;
    if (lists->count == 0 || lists->data == NULL)
        return ref;
    nnrti_writer_pad(w, NNRTI_FILE_LISTS, 8);
    at = (uint32_t)(w->used[NNRTI_FILE_LISTS] / 4);
    for (uint32_t k = 0; k < lists->count; k++)
        (void)nnrti_writer_list(w, &lists->data[k], 8);
    ref.at = (uint32_t)(w->used[NNRTI_FILE_LISTS] / 4);
    ref.count = lists->count;
    for (uint32_t k = 0; k < lists->count; k++) {
        each.count = lists->data[k].count;
        each.at = each.count > 0 ? at : 0;
        at += 2u * each.count;
        nnrti_writer_put(w, NNRTI_FILE_LISTS, &each, sizeof(each));
    }
    return ref;
}

/* The 8 bytes of one attribute. */
static uint64_t nnrti_writer_attr(nnrti_writer *w, const nnrt_attr_member *m, const uint8_t *at)
{
    uint64_t slot = 0;
    uint32_t bits;
    int32_t value;
    nnrti_ref ref;
    bool flag;
    switch (nnrti_file_kind(m)) {
    case NNRT_ATTR_KIND_BOOL: memcpy(&flag, at, sizeof(flag)); return flag ? 1 : 0;
    case NNRT_ATTR_KIND_INT:
    case NNRT_ATTR_KIND_DOUBLE: memcpy(&slot, at, sizeof(slot)); return slot;
    case NNRT_ATTR_KIND_ENUM: memcpy(&value, at, sizeof(value)); return (uint64_t)(int64_t)value;
    case NNRT_ATTR_KIND_GRAPH:
    case NNRT_ATTR_KIND_FLOAT: memcpy(&bits, at, sizeof(bits)); return bits;
    case NNRT_ATTR_KIND_STRING: return nnrti_writer_text(w, nnrti_text_at(at));
    case NNRT_ATTR_KIND_INTS: ref = nnrti_writer_list(w, at, sizeof(int64_t)); break;
    case NNRT_ATTR_KIND_FLOATS: ref = nnrti_writer_list(w, at, sizeof(float)); break;
    case NNRT_ATTR_KIND_INTS2: ref = nnrti_writer_lists(w, (const NNRT_Int64Lists *)(const void *)at); break;
    default: return 0;
    }
    memcpy(&slot, &ref, sizeof(slot));
    return slot;
}

/* Attributes of a node up to the first that its struct does not have (nodeAttr.size). The shape covers these alone;
   readers give the rest their defaults. */
static void nnrti_writer_attrs(nnrti_writer *w, const NNRT_Node *n, nnrti_file_node *record)
{
    const nnrt_attr_struct *s = nnrt_op_find(n->nodeType)->attr;
    const uint8_t *const attr = (const uint8_t *)n->nodeAttr.data;
    uint64_t slots[NNRTI_OP_MEMBERS_MOST];
    nnrti_any_list list;
    list.data = slots;
    for (list.count = 0; attr != NULL && list.count < s->count && list.count < NNRTI_OP_MEMBERS_MOST; list.count++) {
        const nnrt_attr_member *m = &s->members[list.count];
        if (m->offset + m->bytes > n->nodeAttr.size)
            break;
        slots[list.count] = nnrti_writer_attr(w, m, attr + m->offset);
    }
    record->shape = nnrti_file_shape(s, list.count);
    record->attr = nnrti_writer_list(w, &list, 8);
}

#define NNRTI_FILE_CHUNK 4194304u /* bytes between two calls of progress */

/* A constant, with progress: once at its end, and on the way in a large one. */
static void nnrti_writer_constant(nnrti_writer *w, const uint8_t *data, size_t bytes)
{
    size_t part;
    do {
        part = bytes > NNRTI_FILE_CHUNK && w->section == NNRTI_FILE_WEIGHTS ? NNRTI_FILE_CHUNK : bytes;
        nnrti_writer_put(w, NNRTI_FILE_WEIGHTS, data, part);
        if (w->section == NNRTI_FILE_WEIGHTS && w->desc.progress != NULL)
            w->desc.progress(w->desc.user, w->at, w->header.bytes);
        data += part;
        bytes -= part;
    } while (bytes > 0);
}

/* A constant without elements has no bytes but is a constant by its address (nnrti_is_constant): it gets flag and
   offset, too, and readers an address, for which the section "weights" exists in every file (nnrti_writer_has). */
static void nnrti_writer_tensor(nnrti_writer *w, const NNRT_Tensor *t)
{
    nnrti_file_tensor record;
    memset(&record, 0, sizeof(record));
    record.name = nnrti_writer_text(w, t->name);
    record.dataType = t->dataType;
    record.format = t->format;
    record.dims = nnrti_writer_list(w, &t->dims, 4);
    record.quant = nnrti_writer_list(w, &t->quantParams, sizeof(NNRT_QuantParam));
    record.quantAxis = t->quantAxis;
    record.symbols = nnrti_writer_list(w, &t->symbols, 4);
    if (nnrti_is_constant(t)) {
        nnrti_writer_pad(w, NNRTI_FILE_WEIGHTS, NNRTI_FILE_ALIGNMENT);
        record.flags = 1;
        record.offset = w->used[NNRTI_FILE_WEIGHTS];
        record.bytes = t->data.dataSize;
        nnrti_writer_constant(w, (const uint8_t *)nnrti_buffer_data(&t->data), t->data.dataSize);
    }
    nnrti_writer_put(w, NNRTI_FILE_TENSORS, &record, sizeof(record));
}

/* Bytes of a record of a section. */
static uint32_t nnrti_writer_record(const nnrti_writer *w, uint32_t type)
{
    return type == NNRTI_FILE_NODES && !w->own ? NNRTI_FILE_LEAST_NODE : nnrti_file_types[type].record;
}

static void nnrti_writer_node(nnrti_writer *w, const NNRT_Node *n)
{
    nnrti_file_node record;
    memset(&record, 0, sizeof(record));
    record.name = nnrti_writer_text(w, n->name);
    record.nodeType = n->nodeType;
    record.quantType = n->quantType;
    nnrti_writer_attrs(w, n, &record);
    record.inputs = nnrti_writer_list(w, &n->inputIndex, 4);
    record.outputs = nnrti_writer_list(w, &n->outputIndex, 4);
    if (n->nodeType < 0) {
        record.nodeType = -1;
        record.op = nnrti_writer_text(w, nnrt_op_find(n->nodeType)->name);
    }
    nnrti_writer_put(w, NNRTI_FILE_NODES, &record, nnrti_writer_record(w, NNRTI_FILE_NODES));
}

static void nnrti_writer_subgraph(nnrti_writer *w, const NNRT_SubGraph *g)
{
    nnrti_file_subgraph record;
    memset(&record, 0, sizeof(record));
    record.name = nnrti_writer_text(w, g->name);
    record.inputs = nnrti_writer_list(w, &g->inputIndices, 4);
    record.outputs = nnrti_writer_list(w, &g->outputIndices, 4);
    record.nodes = nnrti_writer_list(w, &g->nodeIndices, 4);
    nnrti_writer_put(w, NNRTI_FILE_SUBGRAPHS, &record, sizeof(record));
}

/* One walk over the model, for the bytes of one section. All walks visit texts and lists in this order, on which the
   offsets depend. */
static void nnrti_writer_walk(nnrti_writer *w, uint32_t section)
{
    const NNRT_Model *const m = w->model;
    nnrti_file_model record;
    w->section = section;
    memset(w->used, 0, sizeof(w->used));
    memset(&record, 0, sizeof(record));
    nnrti_writer_put(w, NNRTI_FILE_STRINGS, "", 1);
    for (const nnrti_form *f = nnrti_forms_of(w->desc.cache); f != NULL; f = f->next)
        (void)nnrti_writer_text(w, f->device); /* first: nnrti_writer_table computes their offsets */
    record.name = nnrti_writer_text(w, m->name);
    record.inputs = nnrti_writer_list(w, &m->inputIndex, 4);
    record.outputs = nnrti_writer_list(w, &m->outputIndex, 4);
    nnrti_writer_put(w, NNRTI_FILE_MODEL, &record, sizeof(record));
    for (uint32_t i = 0; i < m->subGraph.count; i++)
        nnrti_writer_subgraph(w, &m->subGraph.data[i]);
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        nnrti_writer_tensor(w, &m->allTensors.data[i]);
    for (uint32_t i = 0; i < m->nodes.count; i++)
        nnrti_writer_node(w, &m->nodes.data[i]);
    for (uint32_t i = 0; i < w->desc.metadataCount; i++) {
        uint32_t pair[2];
        pair[0] = nnrti_writer_text(w, w->desc.metadata[i].key);
        pair[1] = nnrti_writer_text(w, w->desc.metadata[i].value);
        nnrti_writer_put(w, NNRTI_FILE_METADATA, pair, sizeof(pair));
    }
}

/* Sections without bytes are left out, except for the weights. */
static bool nnrti_writer_has(const nnrti_writer *w, uint32_t type)
{
    return w->total[type] > 0 || type == NNRTI_FILE_WEIGHTS;
}

/* The earliest version whose readers understand the model: readers of version 1 ignore quantAxis. */
static uint32_t nnrti_writer_version(const NNRT_Model *m)
{
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        if (m->allTensors.data[i].quantAxis != 0)
            return 2;
    return 1;
}

/* The row of the section that follows offset *at, which then is its end; emit false: only counts. False: a size
   overflows. */
static bool nnrti_writer_row(nnrti_writer *w, uint32_t type, size_t bytes, size_t name, size_t *at, bool emit)
{
    nnrti_file_row row;
    if (!nnrt_round_size(*at, NNRTI_FILE_ALIGNMENT, at))
        return false;
    memset(&row, 0, sizeof(row));
    row.type = type;
    row.offset = *at;
    row.bytes = bytes;
    row.alignment = NNRTI_FILE_ALIGNMENT;
    row.record = nnrti_writer_record(w, type);
    row.name = (uint32_t)name;
    if (emit)
        nnrti_writer_emit(w, &row, sizeof(row));
    return nnrt_add_size(*at, bytes, at);
}

/* The section table; emit false: only computes the bytes of the file. */
static bool nnrti_writer_table(nnrti_writer *w, bool emit)
{
    size_t at = NNRT_FILE_HEADER + (size_t)w->header.sections * NNRTI_FILE_ROW, name = 1;
    for (uint32_t type = 1; type < NNRTI_FILE_DEVICE; type++)
        if (nnrti_writer_has(w, type) && !nnrti_writer_row(w, type, w->total[type], 0, &at, emit))
            return false;
    for (const nnrti_form *f = nnrti_forms_of(w->desc.cache); f != NULL; f = f->next) {
        if (!nnrti_writer_row(w, NNRTI_FILE_DEVICE, f->bytes, name, &at, emit))
            return false;
        name += strlen(f->device) + 1;
    }
    if (!nnrt_round_size(at, NNRTI_FILE_ALIGNMENT, &at))
        return false;
    w->header.bytes = at;
    return true;
}

/* Counts the sections and completes the header; false: a size overflows. */
static bool nnrti_writer_lay(nnrti_writer *w)
{
    nnrti_file_header *const h = &w->header;
    nnrti_writer_walk(w, 0);
    memcpy(w->total, w->used, sizeof(w->total));
    memcpy(h->magic, nnrti_file_magic, sizeof(h->magic));
    h->version = nnrti_writer_version(w->model);
    h->header = NNRT_FILE_HEADER;
    h->row = NNRTI_FILE_ROW;
    h->words = w->bare;
    for (uint32_t type = 1; type < NNRTI_FILE_DEVICE; type++)
        h->sections += nnrti_writer_has(w, type);
    for (const nnrti_form *f = nnrti_forms_of(w->desc.cache); f != NULL; f = f->next)
        h->sections++;
    return !w->full && nnrti_writer_table(w, false);
}

/* Zeros up to the start of the next section. */
static void nnrti_writer_align(nnrti_writer *w)
{
    static const uint8_t zeros[NNRTI_FILE_ALIGNMENT] = {0};
    w->section = 0;
    nnrti_writer_emit(w, zeros, (size_t)(0 - w->at) % NNRTI_FILE_ALIGNMENT);
}

/* Emits the whole file. Its checksum field is still 0; w->hash is the final value. */
static void nnrti_writer_all(nnrti_writer *w, nnrti_write write, void *user)
{
    w->write = write;
    w->user = user;
    w->at = 0;
    w->hash = NNRTI_FNV64;
    nnrti_writer_emit(w, &w->header, sizeof(w->header));
    (void)nnrti_writer_table(w, true); /* the sizes were checked */
    for (uint32_t type = 1; type < NNRTI_FILE_DEVICE; type++)
        if (nnrti_writer_has(w, type)) {
            nnrti_writer_align(w);
            nnrti_writer_walk(w, type);
        }
    for (const nnrti_form *f = nnrti_forms_of(w->desc.cache); f != NULL; f = f->next) {
        nnrti_writer_align(w);
        w->section = NNRTI_FILE_DEVICE;
        nnrti_writer_emit(w, f->data, f->bytes);
    }
    nnrti_writer_align(w);
}

/* Rule: keys are unique and not empty, values exist. Quadratic, as an application passes few; nnrti_reader_keys,
   which reads files, sorts. */
static NNRT_ReturnCode nnrti_save_metadata(const nnrt_save_desc *desc, nnrt_error *error)
{
    if (desc->metadataCount > 0 && desc->metadata == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "counts %u metadata, but has none", desc->metadataCount);
    for (uint32_t i = 0; i < desc->metadataCount; i++) {
        const char *key = desc->metadata[i].key;
        if (key == NULL || *key == '\0' || desc->metadata[i].value == NULL)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "metadata %u has no %s", i,
                                  desc->metadata[i].value == NULL ? "value" : "key");
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(desc->metadata[k].key, key) == 0)
                return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "metadata %u and %u both have the key '%s'", k, i,
                                      key);
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_forms_fit(const NNRT_Model *m, const nnrt_save_desc *desc, nnrt_error *error);

/* Checks that the model can be written, then computes the layout; afterwards nnrti_writer_all cannot fail. bare: the
   model has no nodes, so it is a cache, and validation, which requires nodes, is omitted. It calls nnrti_model_digest
   by nnrti_forms_fit and is called by it; the nested call has no cache and ends there. */
static NNRT_ReturnCode nnrti_save_begin(nnrti_writer *w, const NNRT_Model *m, bool bare, const nnrt_save_desc *desc,
                                        nnrt_error *error)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_memory memory;
    memset(w, 0, sizeof(*w));
    w->model = m;
    w->bare = bare;
    if (desc != NULL)
        w->desc = *desc;
    if (!nnrti_little_endian())
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a big-endian machine cannot write .nnrt files");
    nnrt_memory_allocate(&memory, w->desc.allocator);
    if (!bare)
        code = nnrt_model_check(m, &memory, NULL, error);
    nnrt_memory_end(&memory);
    for (uint32_t i = 0; code == NNRT_SUCCESS && i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        const nnrt_attr_struct *s = nnrt_op_find(n->nodeType)->attr;
        w->own = w->own || n->nodeType < 0;
        if (n->nodeAttr.data != NULL && n->nodeAttr.size >= s->bytes && !nnrti_attr_lists(s, n->nodeAttr.data))
            code = nnrt_error_set(error, NNRT_NULL_PTR, "node %u '%s': a list of its attributes has no data", i,
                                  nnrti_text_of(n->name));
    }
    if (code == NNRT_SUCCESS)
        code = nnrti_save_metadata(&w->desc, error);
    if (code == NNRT_SUCCESS && !bare)
        code = nnrti_forms_fit(m, &w->desc, error);
    if (code == NNRT_SUCCESS && !nnrti_writer_lay(w))
        code = nnrt_error_set(error, NNRT_NOT_SUPPORT, "the model is too large for a .nnrt file");
    return code;
}

/* *hash = a digest of m as a .nnrt file, which is not made. All of its weights are read, so that a model with other
   weights has another digest; light: none are read. */
static NNRT_ReturnCode nnrti_model_digest(const NNRT_Model *m, const nnrt_allocator *allocator, bool light,
                                          uint64_t *hash)
{
    nnrt_save_desc desc;
    NNRT_ReturnCode code;
    nnrti_writer w;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = allocator;
    code = nnrti_save_begin(&w, m, false, &desc, NULL);
    w.digest = true;
    w.light = light;
    if (code == NNRT_SUCCESS)
        nnrti_writer_all(&w, NULL, NULL);
    *hash = w.hash;
    return code;
}

/* Rule: prepacked weights that are saved with a model are of that model. */
static NNRT_ReturnCode nnrti_forms_fit(const NNRT_Model *m, const nnrt_save_desc *desc, nnrt_error *error)
{
    NNRT_ReturnCode code;
    uint64_t hash = 0;
    bool known = false;
    for (const nnrti_form *f = nnrti_forms_of(desc->cache); f != NULL; f = f->next) {
        if (!f->packed)
            continue;
        if (!known && (code = nnrti_model_digest(m, desc->allocator, false, &hash)) != NNRT_SUCCESS)
            return code;
        known = true;
        if (hash != f->hash)
            return nnrt_error_set(error, NNRT_INVALID_MODEL_CACHE,
                                  "the packed weights of device '%s' are of another model than the one that is saved",
                                  f->device);
    }
    return NNRT_SUCCESS;
}

/* nnrti_write into memory. */
static void nnrti_save_copy(void *user, const void *data, size_t bytes)
{
    uint8_t **at = (uint8_t **)user;
    memcpy(*at, data, bytes);
    *at += bytes;
}

static NNRT_ReturnCode nnrti_save_memory(const NNRT_Model *model, bool bare, const nnrt_save_desc *desc, void *out,
                                         size_t size, size_t *bytes, nnrt_error *error)
{
    uint8_t *at = (uint8_t *)out;
    NNRT_ReturnCode code;
    nnrti_writer w;
    if (bytes == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_save_memory: bytes is NULL");
    *bytes = 0;
    if ((code = nnrti_save_begin(&w, model, bare, desc, error)) != NNRT_SUCCESS)
        return code;
    *bytes = (size_t)w.header.bytes;
    if (out == NULL)
        return NNRT_SUCCESS;
    if (size < *bytes)
        return nnrt_error_set(error, NNRT_INSUFFICIENT_BUFFER, "the file has %z bytes, the buffer %z", *bytes, size);
    nnrti_writer_all(&w, nnrti_save_copy, &at);
    memcpy((uint8_t *)out + NNRTI_FILE_CHECKSUM, &w.hash, sizeof(w.hash));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_model_save_memory(const NNRT_Model *model, const nnrt_save_desc *desc, void *out,
                                                size_t size, size_t *bytes, nnrt_error *error)
{
    nnrt_error_clear(error);
    return nnrti_save_memory(model, false, desc, out, size, bytes, error);
}

#endif /* NNRT_FIRMWARE */

/* The state of reading a file. nnrti_reader_sections fills sections, which are then inside the file;
   nnrti_reader_model resets the three budgets, as it may run twice: to count, and to fill. The first fault stays in
   code. */
typedef struct nnrti_reader {
    const uint8_t *data;
    struct {
        const uint8_t *data;
        size_t bytes, record;
        uint32_t count; /* records */
    } sections[NNRTI_FILE_TYPES];
    size_t texts, words, weights; /* bytes of strings, words of lists, bytes of weights: not used by anything yet */
    nnrt_memory *memory;
    nnrt_error *error;
    NNRT_ReturnCode code; /* the first fault */
#ifndef NNRT_FIRMWARE
    bool cache;     /* without nodes it is one, which may be */
    bool strangers; /* operators need not be registered */
#endif
} nnrti_reader;

/* Records that the file is wrong; false. */
NNRTI_COLD static bool nnrti_reader_fail(nnrti_reader *r, const char *what, uint32_t index, const char *fault)
{
    if (r->code == NNRT_SUCCESS)
        r->code =
            nnrt_error_set(r->error, NNRT_INVALID_FILE, "the .nnrt file is broken: %s %u: %s", what, index, fault);
    return false;
}

#ifdef NNRT_NO_MESSAGES
static bool nnrti_reader_wrong(nnrti_reader *r)
{
    if (r->code == NNRT_SUCCESS)
        r->code = nnrti_error_code(r->error, NNRT_INVALID_FILE);
    return false;
}
#define nnrti_reader_fail(r, what, index, fault)                                                                       \
    ((void)(0 && nnrti_reader_fail(r, what, index, fault)), nnrti_reader_wrong(r))
#endif

/* *out = v; false where it does not fit. */
static bool nnrti_file_fits_size(uint64_t v, size_t *out)
{
    *out = (size_t)v;
    return (uint64_t)*out == v;
}

/* Kept memory for count things of `bytes` bytes; NULL and a recorded fault when there is none. */
static void *nnrti_reader_keep(nnrti_reader *r, size_t count, size_t bytes)
{
    void *block = nnrt_memory_keep_array(r->memory, count, bytes);
    if (block == NULL && r->code == NNRT_SUCCESS)
        r->code = nnrt_error_set(r->error, NNRT_OUT_OF_MEMORY, "there is not enough memory to load the model");
    return block;
}

/* *out = record i of a section: without members that later versions appended, zeros for members that earlier versions
   lack. */
static void nnrti_reader_record(const nnrti_reader *r, uint32_t section, uint32_t i, void *out)
{
    const size_t known = nnrti_file_types[section].record, has = r->sections[section].record;
#ifdef NNRT_FIRMWARE
    const size_t bytes = known;
#else
    const size_t bytes = has < known ? has : known;
    memset(out, 0, known);
#endif
    memcpy(out, r->sections[section].data + i * has, bytes);
}

/* *text = the text at offset `at`, in place. Rule: it begins directly after a 0, and the budget suffices, so that all
   texts together are no longer than the section, and copying the model takes no more memory than the file justifies.
   The search for the terminating 0 ends inside the section, whose last byte is 0 (nnrti_reader_sections). */
static bool nnrti_reader_text(nnrti_reader *r, uint32_t at, const char **text, const char *what, uint32_t index)
{
    const uint8_t *strings = r->sections[NNRTI_FILE_STRINGS].data;
    size_t bytes = 0;
    if (at >= r->sections[NNRTI_FILE_STRINGS].bytes || (at > 0 && strings[at - 1] != 0))
        return nnrti_reader_fail(r, what, index, "a text is not where it says");
    *text = (const char *)(strings + at);
    while (at > 0 && (bytes == 0 || (*text)[bytes - 1] != '\0'))
        bytes++;
    if (bytes > r->texts)
        return nnrti_reader_fail(r, what, index, "its text is also another one's");
    r->texts -= bytes;
    return true;
}

/* The list struct at `at` = the entries of a list, in place; data NULL if it has none. Rule: the words are inside
   "lists" and the budget suffices. Sections are aligned to 64 bytes, so entries at even words are aligned to 8. */
static bool nnrti_reader_list(nnrti_reader *r, const nnrti_ref *ref, size_t width, void *at, const char *what,
                              uint32_t index)
{
    const size_t all = r->sections[NNRTI_FILE_LISTS].bytes / 4;
    const void *data = NULL;
    size_t words = 0;
    if (ref->count != 0) {
        if (!nnrt_mul_size(ref->count, width / 4, &words) || ref->at > all || words > all - ref->at ||
            (width > 4 && ref->at % 2 != 0))
            return nnrti_reader_fail(r, what, index, "a list is not inside the lists");
        if (words > r->words)
            return nnrti_reader_fail(r, what, index, "its list is also another one's");
        data = r->sections[NNRTI_FILE_LISTS].data + (size_t)ref->at * 4;
    }
    r->words -= words;
    memcpy(at, &data, sizeof(data));
    memcpy((uint8_t *)at + offsetof(nnrti_any_list, count), &ref->count, sizeof(ref->count));
    return true;
}

/* A list of lists needs a table, as its entries in memory have pointers; the inner entries are used in place. */
static bool nnrti_reader_lists(nnrti_reader *r, const nnrti_ref *ref, void *at, const char *what, uint32_t index)
{
    nnrti_any_list inner;
    NNRT_Int64List *each;
    nnrti_ref one;
    if (!nnrti_reader_list(r, ref, sizeof(one), &inner, what, index))
        return false;
    each = inner.count > 0 ? (NNRT_Int64List *)nnrti_reader_keep(r, inner.count, sizeof(*each)) : NULL;
    for (uint32_t k = 0; each != NULL && k < inner.count; k++) {
        memcpy(&one, (const uint8_t *)inner.data + k * sizeof(one), sizeof(one));
        if (!nnrti_reader_list(r, &one, sizeof(int64_t), &each[k], what, index))
            return false;
    }
    inner.data = each;
    memcpy(at, &inner, sizeof(inner));
    return each != NULL || inner.count == 0;
}

/* Stores the attribute m, whose 8 bytes are slot, in its member of the struct, at `at`. Rule: the bits above a
   narrower value are zeros or, for enums, its sign; other bits would be lost when the model is saved again. */
static bool nnrti_reader_attr(nnrti_reader *r, const nnrt_attr_member *m, uint64_t slot, uint8_t *at, uint32_t index)
{
    const char *const what = "attributes of node";
    const bool flag = slot == 1;
    const uint32_t bits = (uint32_t)slot;
    const uint64_t top = slot >> 31; /* all equal: the value is an int32_t */
    nnrti_ref ref;
    memcpy(&ref, &slot, sizeof(ref));
    switch (nnrti_file_kind(m)) {
    case NNRT_ATTR_KIND_BOOL:
        memcpy(at, &flag, sizeof(flag));
        return slot <= 1 || nnrti_reader_fail(r, what, index, "a bool is neither 0 nor 1");
    case NNRT_ATTR_KIND_INT: memcpy(at, &slot, sizeof(slot)); return true;
    case NNRT_ATTR_KIND_ENUM:
        memcpy(at, &bits, sizeof(bits));
        return top == 0 || top == ((uint64_t)1 << 33) - 1 || nnrti_reader_fail(r, what, index, "a number does not fit");
    case NNRT_ATTR_KIND_FLOAT:
        memcpy(at, &bits, sizeof(bits));
        return slot >> 32 == 0 || nnrti_reader_fail(r, what, index, "a float has more than 32 bits");
    case NNRT_ATTR_KIND_INTS: return nnrti_reader_list(r, &ref, sizeof(int64_t), at, what, index);
    case NNRT_ATTR_KIND_INTS2:
        return !NNRTI_HAS(INTS2) || nnrti_reader_lists(r, &ref, at, what, index);
    default: break;
    }
    if (NNRTI_HAS(DOUBLE) && m->kind == NNRT_ATTR_KIND_DOUBLE)
        memcpy(at, &slot, sizeof(slot));
    if (NNRTI_HAS(GRAPH) && m->kind == NNRT_ATTR_KIND_GRAPH) {
        memcpy(at, &bits, sizeof(bits));
        return slot >> 32 == 0 || nnrti_reader_fail(r, what, index, "a subgraph has more than 32 bits");
    }
    if (NNRTI_HAS(STRING) && m->kind == NNRT_ATTR_KIND_STRING)
        return slot >> 32 == 0 ? nnrti_reader_text(r, bits, (const char **)(void *)at, what, index)
                               : nnrti_reader_fail(r, what, index, "a text has more than 32 bits");
    return !NNRTI_HAS(FLOATS) || m->kind != NNRT_ATTR_KIND_FLOATS ||
           nnrti_reader_list(r, &ref, sizeof(float), at, what, index);
}

#ifdef NNRT_FIRMWARE
#define nnrti_reader_own(r, record, n, index) true
#else
/* Resolves a node of an operator of the application by its name, as numbers below 0 are assigned at registration and
   differ between programs; stores the number in record and n. Rule: the name is none of a built-in operator, whose
   nodes carry their number. An operator that is not registered is UNSUPPORTED_OP, unless r->strangers. */
static bool nnrti_reader_own(nnrti_reader *r, nnrti_file_node *record, NNRT_Node *n, uint32_t index)
{
    const char *name = "";
    const nnrt_op *op;
    if (record->nodeType >= 0)
        return record->op == 0 || nnrti_reader_fail(r, "node", index, "names the operator whose number it has");
    if (!nnrti_reader_text(r, record->op, &name, "node", index))
        return false;
    op = nnrt_op_named(name);
    if (!nnrti_is_op_name(name) || (op != NULL && op->type > 0))
        return nnrti_reader_fail(r, "node", index, "its operator is none of the application");
    record->nodeType = n->nodeType = op != NULL ? op->type : NNRTI_STRANGER;
    if (op == NULL && !r->strangers && r->code == NNRT_SUCCESS)
        r->code = nnrt_error_set(r->error, NNRT_UNSUPPORTED_OP,
                                 "node %u '%s': its operator '%s' is not registered (nnrt_op_register)", index, n->name,
                                 name);
    return op != NULL || r->strangers;
}
#endif

/* The attribute struct of a node: values of the file, defaults for the rest. A file with more attributes than this
   version knows is rejected: a node without one of them might compute something else. */
static bool nnrti_reader_attrs(nnrti_reader *r, const nnrti_file_node *record, NNRT_Node *n, uint32_t index)
{
    const nnrt_op *op = nnrt_op_find(record->nodeType);
    nnrti_any_list slots;
    uint64_t slot;
    uint8_t *attr;
#ifndef NNRT_FIRMWARE
    if (record->nodeType == NNRTI_STRANGER)
        return true;
#endif
    if (op == NULL) {
        if (r->code == NNRT_SUCCESS)
            r->code = nnrt_error_set(r->error, NNRT_UNSUPPORTED_OP, "node %u '%s': there is no operator with number %d",
                                     index, n->name, record->nodeType);
        return false;
    }
    if (record->attr.count > op->attr->count)
        return nnrti_reader_fail(r, "node", index, "has attributes that this version does not know");
#ifndef NNRT_FIRMWARE /* where attributes have no names */
    if (record->shape != nnrti_file_shape(op->attr, record->attr.count))
        return nnrti_reader_fail(r, "node", index, "its attributes are not those of its operator");
#endif
    if (!nnrti_reader_list(r, &record->attr, sizeof(slot), &slots, "attributes of node", index) ||
        (attr = (uint8_t *)nnrti_reader_keep(r, 1, op->attr->bytes)) == NULL)
        return false;
    nnrt_attr_defaults(op->attr, attr);
    for (uint32_t i = 0; i < record->attr.count; i++) {
        memcpy(&slot, (const uint8_t *)slots.data + i * sizeof(slot), sizeof(slot));
        if (!nnrti_reader_attr(r, &op->attr->members[i], slot, attr + op->attr->members[i].offset, index))
            return false;
    }
    n->nodeAttr.data = attr;
    n->nodeAttr.size = op->attr->bytes;
    return true;
}

/* A constant points into "weights"; whether its bytes match its shape is checked later, as for any model
   (nnrti_check_constant). */
static bool nnrti_reader_tensor(nnrti_reader *r, uint32_t i, NNRT_Tensor *t)
{
    nnrti_file_tensor record;
    size_t offset;
    nnrti_reader_record(r, NNRTI_FILE_TENSORS, i, &record);
    if (!nnrti_reader_text(r, record.name, &t->name, "tensor", i) ||
        !nnrti_reader_list(r, &record.dims, 4, &t->dims, "tensor", i) ||
        !nnrti_reader_list(r, &record.quant, sizeof(NNRT_QuantParam), &t->quantParams, "tensor", i))
        return false;
    t->dataType = record.dataType;
    t->format = record.format;
    t->quantAxis = record.quantAxis;
#ifndef NNRT_FIRMWARE /* nothing reads them there */
    if (!nnrti_reader_list(r, &record.symbols, 4, &t->symbols, "tensor", i))
        return false;
#endif
    t->data.fd = -1;
    if ((record.flags & 1u) == 0)
        return true;
    if (r->sections[NNRTI_FILE_WEIGHTS].data == NULL || !nnrti_file_fits_size(record.offset, &offset) ||
        offset > r->sections[NNRTI_FILE_WEIGHTS].bytes || record.bytes > r->sections[NNRTI_FILE_WEIGHTS].bytes - offset)
        return nnrti_reader_fail(r, "tensor", i, "its data are not inside the weights");
    if (record.bytes > r->weights)
        return nnrti_reader_fail(r, "tensor", i, "its data are also another one's");
    r->weights -= record.bytes;
    t->data.addr = (void *)(uintptr_t)(r->sections[NNRTI_FILE_WEIGHTS].data + offset);
    t->data.bufferSize = t->data.dataSize = record.bytes;
    return true;
}

static bool nnrti_reader_node(nnrti_reader *r, uint32_t i, NNRT_Node *n)
{
    nnrti_file_node record;
    nnrti_reader_record(r, NNRTI_FILE_NODES, i, &record);
    n->nodeType = record.nodeType;
    n->quantType = record.quantType;
    return nnrti_reader_text(r, record.name, &n->name, "node", i) && nnrti_reader_own(r, &record, n, i) &&
           nnrti_reader_attrs(r, &record, n, i) && nnrti_reader_list(r, &record.inputs, 4, &n->inputIndex, "node", i) &&
           nnrti_reader_list(r, &record.outputs, 4, &n->outputIndex, "node", i);
}

static bool nnrti_reader_subgraph(nnrti_reader *r, uint32_t i, NNRT_SubGraph *g)
{
    nnrti_file_subgraph record;
    nnrti_reader_record(r, NNRTI_FILE_SUBGRAPHS, i, &record);
    return nnrti_reader_text(r, record.name, &g->name, "subgraph", i) &&
           nnrti_reader_list(r, &record.inputs, 4, &g->inputIndices, "subgraph", i) &&
           nnrti_reader_list(r, &record.outputs, 4, &g->outputIndices, "subgraph", i) &&
           nnrti_reader_list(r, &record.nodes, 4, &g->nodeIndices, "subgraph", i);
}

static bool nnrti_reader_metadata(nnrti_reader *r, uint32_t i, nnrt_metadata *metadata)
{
    uint32_t pair[2];
    nnrti_reader_record(r, NNRTI_FILE_METADATA, i, pair);
    return nnrti_reader_text(r, pair[0], &metadata->key, "metadata", i) &&
           nnrti_reader_text(r, pair[1], &metadata->value, "metadata", i);
}

#ifdef NNRT_FIRMWARE
#define nnrti_reader_keys(r, metadata, count) true
#else
static int nnrti_key_order(const void *user, uint32_t a, uint32_t b)
{
    const nnrt_metadata *metadata = (const nnrt_metadata *)user;
    return strcmp(metadata[a].key, metadata[b].key);
}

/* Keys are unique and not empty. */
static bool nnrti_reader_keys(nnrti_reader *r, const nnrt_metadata *metadata, uint32_t count)
{
    uint32_t *order = count > 0 ? (uint32_t *)nnrti_reader_keep(r, count, sizeof(*order)) : NULL;
    if (order == NULL)
        return count == 0;
    nnrti_sort(order, count, nnrti_key_order, metadata);
    for (uint32_t i = 0; i < count; i++)
        if (*metadata[order[i]].key == '\0')
            return nnrti_reader_fail(r, "metadata", order[i], "has no key");
        else if (i > 0 && nnrti_key_order(metadata, order[i - 1], order[i]) == 0)
            return nnrti_reader_fail(r, "metadata", order[i] > order[i - 1] ? order[i] : order[i - 1],
                                     "its key is also another one's");
    return true;
}
#endif

/* Builds the tables of the model in memory; lists, texts and constants are used in the file (memory map). NULL:
   r->code has the reason. The same code counts the memory and fills it. */
NNRTI_COLD static nnrti_owned *nnrti_reader_model(nnrti_reader *r, nnrt_memory *memory)
{
    const uint32_t nTensors = r->sections[NNRTI_FILE_TENSORS].count, nNodes = r->sections[NNRTI_FILE_NODES].count,
                   nGraphs = r->sections[NNRTI_FILE_SUBGRAPHS].count, nMeta = r->sections[NNRTI_FILE_METADATA].count;
    nnrti_file_model record;
    nnrti_owned *o;
    NNRT_Tensor *tensors;
    NNRT_Node *nodes;
    NNRT_SubGraph *graphs;
    nnrt_metadata *metadata;
    bool good;
    r->memory = memory;
    r->texts = r->sections[NNRTI_FILE_STRINGS].bytes;
    r->words = r->sections[NNRTI_FILE_LISTS].bytes / 4;
    r->weights = r->sections[NNRTI_FILE_WEIGHTS].bytes;
    if ((o = (nnrti_owned *)nnrti_reader_keep(r, 1, sizeof(*o))) == NULL ||
        (tensors = (NNRT_Tensor *)nnrti_reader_keep(r, nTensors, sizeof(*tensors))) == NULL ||
        (nodes = (NNRT_Node *)nnrti_reader_keep(r, nNodes, sizeof(*nodes))) == NULL ||
        (graphs = (NNRT_SubGraph *)nnrti_reader_keep(r, nGraphs, sizeof(*graphs))) == NULL ||
        (metadata = (nnrt_metadata *)nnrti_reader_keep(r, nMeta, sizeof(*metadata))) == NULL)
        return NULL;
    nnrti_reader_record(r, NNRTI_FILE_MODEL, 0, &record);
    good = nnrti_reader_text(r, record.name, &o->model.name, "model", 0) &&
           nnrti_reader_list(r, &record.inputs, 4, &o->model.inputIndex, "model", 0) &&
           nnrti_reader_list(r, &record.outputs, 4, &o->model.outputIndex, "model", 0);
    for (uint32_t i = 0; good && i < nTensors; i++)
        good = nnrti_reader_tensor(r, i, &tensors[i]);
    for (uint32_t i = 0; good && i < nNodes; i++)
        good = nnrti_reader_node(r, i, &nodes[i]);
    for (uint32_t i = 0; good && i < nGraphs; i++)
        good = nnrti_reader_subgraph(r, i, &graphs[i]);
    for (uint32_t i = 0; good && i < nMeta; i++)
        good = nnrti_reader_metadata(r, i, &metadata[i]);
    good = good && nnrti_reader_keys(r, metadata, nMeta);
    o->model.allTensors = NNRT_TensorList_make(tensors, nTensors);
    o->model.nodes = NNRT_NodeList_make(nodes, nNodes);
    o->model.subGraph = NNRT_SubGraphList_make(graphs, nGraphs);
    o->metadata = metadata;
    o->nMetadata = nMeta;
    return good ? o : NULL;
}

/* Rule: the file begins like one, has a known version, and contains its section table. The version comes before all
   other numbers, whose meaning it decides. After it bytes, header, row and sections can be used without overflow: the
   table ends inside h->bytes, which fits size_t. */
static NNRT_ReturnCode nnrti_file_header_read(const uint8_t *data, size_t bytes, nnrti_file_header *h,
                                              nnrt_error *error)
{
    if (!nnrt_file_is(data, bytes))
#ifdef NNRT_FIRMWARE
        return nnrt_error_set(error, NNRT_INVALID_FILE, "this is no .nnrt file");
#else
        return nnrti_file_no_file(error, "this", data, bytes);
#endif
    memcpy(h, data, sizeof(*h));
    if (h->version < 1 || h->version > NNRT_FILE_VERSION)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the .nnrt file has version %u, known are 1 to %u", h->version,
                              (uint32_t)NNRT_FILE_VERSION);
    if (h->bytes > bytes)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the .nnrt file is cut short: it says it has %l bytes, got %z",
                              (int64_t)(h->bytes & INT64_MAX), bytes);
    if (h->header < NNRT_FILE_HEADER || h->row < NNRTI_FILE_ROW || h->header > h->bytes ||
        (uint64_t)h->row * h->sections > h->bytes - h->header)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the .nnrt file is broken: its section table is not inside it");
    return NNRT_SUCCESS;
}

/* Row i of the section table of a file whose header is good. */
static nnrti_file_row nnrti_file_row_read(const uint8_t *data, const nnrti_file_header *h, uint32_t i)
{
    nnrti_file_row row;
    memcpy(&row, data + h->header + (size_t)i * h->row, sizeof(row));
    return row;
}

/* Checks row i, which must begin at `from` or behind, and stores a section of a known type in r->sections; *end = its
   end. Sections in order cannot overlap, so no comparison of pairs is necessary. Unknown types are skipped unless
   flags requires them. Records may be longer than known ones (a later writer appended members), except in strings,
   lists and weights. */
static bool nnrti_reader_section(nnrti_reader *r, const nnrti_file_header *h, const nnrti_file_row *row, uint32_t i,
                                 size_t from, size_t *end)
{
    const uint32_t type = row->type;
    size_t offset, bytes;
    if (row->alignment < NNRTI_FILE_ALIGNMENT || (row->alignment & (row->alignment - 1)) != 0 ||
        (row->offset & (row->alignment - 1)) != 0)
        return nnrti_reader_fail(r, "section", i, "is not aligned");
    if (!nnrti_file_fits_size(row->offset, &offset) || !nnrti_file_fits_size(row->bytes, &bytes) || offset < from ||
        offset > h->bytes || bytes > h->bytes - offset)
        return nnrti_reader_fail(r, "section", i, "is not behind the one before it and inside the file");
    *end = offset + bytes;
    if (row->record == 0 || bytes % row->record != 0)
        return nnrti_reader_fail(r, "section", i, "does not consist of whole records");
    if (type == 0 || type >= NNRTI_FILE_TYPES)
        return (row->flags & 1u) == 0 || nnrti_reader_fail(r, "section", i, "is needed, but not known here");
    if (type == NNRTI_FILE_DEVICE)
        return true;
    if (type == NNRTI_FILE_PLAN)
        return nnrti_reader_fail(r, "section", i, "is a plan for firmware (nnrt_mcu_open), not a model");
    if (r->sections[type].data != NULL)
        return nnrti_reader_fail(r, "section", i, "is there twice");
    if (row->record < nnrti_file_types[type].least ||
        (row->record > nnrti_file_types[type].record && nnrti_file_types[type].record <= 4))
        return nnrti_reader_fail(r, "section", i, "has records of a wrong size");
    r->sections[type].data = r->data + offset;
    r->sections[type].bytes = bytes;
    r->sections[type].record = row->record;
    r->sections[type].count = bytes / row->record < UINT32_MAX ? (uint32_t)(bytes / row->record) : UINT32_MAX;
    return true;
}

/* Finds all sections. Rule: those that every model needs exist: strings, which begin and end in 0, and one model
   record. Texts of the table itself are checked last, as they need strings. */
static bool nnrti_reader_sections(nnrti_reader *r, const nnrti_file_header *h)
{
    size_t from = (size_t)h->header + (size_t)h->row * h->sections; /* inside the file */
    const uint8_t *strings;
    const char *name;
    size_t bytes;
    for (uint32_t i = 0; i < h->sections; i++) {
        nnrti_file_row row = nnrti_file_row_read(r->data, h, i);
        if (!nnrti_reader_section(r, h, &row, i, from, &from))
            return false;
    }
    strings = r->sections[NNRTI_FILE_STRINGS].data;
    bytes = r->sections[NNRTI_FILE_STRINGS].bytes;
    if (bytes == 0 || strings[0] != 0 || strings[bytes - 1] != 0)
        return nnrti_reader_fail(r, "section of type", NNRTI_FILE_STRINGS, "its texts do not begin and end in 0");
    if (r->sections[NNRTI_FILE_MODEL].count != 1)
        return nnrti_reader_fail(r, "section of type", NNRTI_FILE_MODEL, "must have one record");
    r->texts = bytes;
    for (uint32_t i = 0; i < h->sections; i++)
        if (!nnrti_reader_text(r, nnrti_file_row_read(r->data, h, i).name, &name, "section", i))
            return false;
    return true;
}

/* FNV-1a-64 of the file, with its own bytes as zeros. The device sections of a cache, whose section table was checked,
   are digested by words. */
static uint64_t nnrti_file_checksum(const uint8_t *data, const nnrti_file_header *h)
{
    static const uint8_t zeros[8] = {0};
    size_t at = NNRTI_FILE_CHECKSUM + 8;
    uint64_t hash = nnrti_fnv64(NNRTI_FNV64, data, NNRTI_FILE_CHECKSUM);
    hash = nnrti_fnv64(hash, zeros, sizeof(zeros));
#ifndef NNRT_FIRMWARE
    for (uint32_t i = 0; h->words == 1 && i < h->sections; i++) {
        const nnrti_file_row row = nnrti_file_row_read(data, h, i);
        if (row.type != NNRTI_FILE_DEVICE)
            continue;
        hash = nnrti_fnv64(hash, data + at, (size_t)row.offset - at);
        hash = nnrti_digest(hash, data + (size_t)row.offset, (size_t)row.bytes);
        at = (size_t)(row.offset + row.bytes);
    }
#endif
    return nnrti_fnv64(hash, data + at, (size_t)h->bytes - at);
}

/* Finds the sections of a file in data. The checksum is compared before the section table is read, so that a damaged
   file is reported as damaged; only if device sections enter it by words (header.words) does it need the checked
   table first. r->cache and r->strangers are false afterwards: callers set them. */
NNRTI_COLD static NNRT_ReturnCode nnrti_reader_begin(nnrti_reader *r, const void *data, size_t bytes, bool checksum,
                                                     nnrt_error *error)
{
    nnrti_file_header header;
    NNRT_ReturnCode code;
    if (!nnrti_little_endian())
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a big-endian machine cannot use .nnrt files");
    if ((uintptr_t)data % NNRT_ALIGNMENT != 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the file's data are not aligned to %d bytes",
                              NNRT_ALIGNMENT);
    code = nnrti_file_header_read((const uint8_t *)data, bytes, &header, error);
    if (code != NNRT_SUCCESS)
        return code;
    memset(r, 0, sizeof(*r));
    r->data = (const uint8_t *)data;
    r->error = error;
    if (header.words == 1 && !nnrti_reader_sections(r, &header))
        return r->code;
    if (checksum && nnrti_file_checksum((const uint8_t *)data, &header) != header.checksum)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the .nnrt file is damaged: its checksum is wrong");
    return header.words == 1 || nnrti_reader_sections(r, &header) ? NNRT_SUCCESS : r->code;
}

#ifndef NNRT_FIRMWARE
/* Rule: inputs and outputs are tensors. */
static NNRT_ReturnCode nnrti_check_ends(const NNRT_Model *m, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        if (m->inputIndex.data[i] >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_INPUT, "model input %u is tensor %u, but there are %u tensors", i,
                                  m->inputIndex.data[i], m->allTensors.count);
    return nnrti_check_model_outputs(m, error);
}

/* Checks the lists of a model without nodes. */
static NNRT_ReturnCode nnrti_bare_check(const NNRT_Model *m, nnrt_error *error)
{
    NNRT_ReturnCode code = nnrti_check_ends(m, error);
    for (uint32_t i = 0; code == NNRT_SUCCESS && i < m->allTensors.count; i++)
        code = nnrti_check_tensor(m, i, error);
    if (code == NNRT_SUCCESS && m->outputIndex.count == 0)
        code = nnrt_error_set(error, NNRT_INVALID_OUTPUT, "the cache has no outputs");
    return code;
}
#endif

/* Completes the model: checks it as any other model. scratch: memory for the check. */
static NNRT_ReturnCode nnrti_reader_end(nnrti_reader *r, nnrti_owned *o, nnrt_memory *scratch)
{
    NNRT_ReturnCode code;
    if (o == NULL)
        return r->code;
#ifndef NNRT_FIRMWARE
    if (!r->cache && o->model.nodes.count == 0 && o->model.subGraph.count == 0)
        return nnrt_error_set(r->error, NNRT_INVALID_MODEL,
                              "the file has no nodes: it is a cache, for sessions of the model that it was made from");
    o->bare = r->cache && o->model.nodes.count == 0;
    code = o->bare ? nnrti_bare_check(&o->model, r->error)
                   : nnrti_check_model(&o->model, scratch, NULL, r->strangers, r->error);
#else
    code = nnrt_model_check(&o->model, scratch, NULL, r->error);
#endif
    if (code != NNRT_SUCCESS)
        return code;
    o->model.self = &o->model;
    o->file = r->data;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_model_load_into(NNRT_Model **model, const void *data, size_t bytes, bool checksum,
                                              nnrt_memory *memory, nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrti_owned *o;
    nnrti_reader r;
    if (model != NULL)
        *model = NULL;
    if (model == NULL || data == NULL || memory == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_load_into: %s is NULL",
                              model == NULL  ? "model"
                              : data == NULL ? "data"
                                             : "memory");
    if ((code = nnrti_reader_begin(&r, data, bytes, checksum, error)) != NNRT_SUCCESS)
        return code;
    o = nnrti_reader_model(&r, memory);
    code = nnrti_reader_end(&r, o, memory);
    nnrt_memory_drop_temp(memory);
    if (o != NULL && code == NNRT_SUCCESS)
        *model = &o->model;
    return code;
}

#ifndef NNRT_FIRMWARE

/* Makes the model of a file whose sections are good: counts, takes one block, fills it, checks the model. One block,
   so that nnrt_model_destroy frees it by one call; validation needs temporary memory, which comes from pieces of its
   own and not from the block, as the model keeps that. */
static NNRT_ReturnCode nnrti_reader_make(nnrti_reader *r, const nnrt_allocator *allocator, NNRT_Model **model)
{
    nnrt_memory memory, scratch;
    NNRT_ReturnCode code;
    nnrti_owned *o;
    uint8_t *block;
    size_t bytes;
    nnrt_memory_count(&memory, allocator);
    if (NNRTI_PREFAULTS && nnrti_is_malloc(allocator)) /* then the memory of a small model, and of its session, is mapped */
        nnrti_memory_expect(&memory, 4 * NNRTI_PREFAULT_BYTES, 0);
    o = nnrti_reader_model(r, &memory);
    bytes = memory.peak;
    nnrt_memory_end(&memory);
    if (o == NULL)
        return r->code;
    block = nnrt_round_size(bytes, NNRT_ALIGNMENT, &bytes) ? (uint8_t *)nnrt_alloc(allocator, bytes) : NULL;
    if (block == NULL)
        return nnrt_error_set(r->error, NNRT_OUT_OF_MEMORY, "there is not enough memory to load the model");
    nnrt_memory_buffer(&memory, block, bytes);
    nnrt_memory_allocate(&scratch, allocator);
    o = nnrti_reader_model(r, &memory);
    code = nnrti_reader_end(r, o, &scratch);
    nnrt_memory_end(&scratch);
    if (o == NULL || code != NNRT_SUCCESS) {
        nnrt_free(allocator, block, bytes);
        return code;
    }
    if (allocator != NULL)
        o->allocator = *allocator;
    o->bytes = bytes;
    *model = &o->model;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_model_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                                const nnrt_load_desc *desc, nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrti_reader r;
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_load_memory: %s is NULL",
                              model == NULL ? "model" : "data");
    code = nnrti_reader_begin(&r, data, bytes, desc != NULL && (desc->checksum || desc->cache), error);
    if (code != NNRT_SUCCESS)
        return code;
    r.cache = desc != NULL && desc->cache;
    r.strangers = desc != NULL && desc->strangers;
    return nnrti_reader_make(&r, desc != NULL ? desc->allocator : NULL, model);
}

NNRT_API nnrt_metadata nnrt_model_metadata_at(const NNRT_Model *model, uint32_t index)
{
    const nnrti_owned *o = nnrti_owned_of(model);
    nnrt_metadata none;
    none.key = none.value = NULL;
    return o != NULL && index < o->nMetadata ? o->metadata[index] : none;
}

NNRT_API const char *nnrt_model_metadata(const NNRT_Model *model, const char *key)
{
    nnrt_metadata m = nnrt_model_metadata_at(model, 0);
    for (uint32_t i = 0; key != NULL && m.key != NULL; m = nnrt_model_metadata_at(model, ++i))
        if (strcmp(m.key, key) == 0)
            return m.value;
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>states */

/* Idea: a model stays a function without memory. Its states are the last inputs and the last outputs; the key "states"
   pairs them, and a session (nnrt.h) swaps the buffers of each pair after a run. A state that a run only adds rows to
   (TENSOR_SCATTER, the cache of a decoder) has one buffer, and nothing of it is copied (nnrti_state_axis). Rejected:
   states in any position, for which each function of a session that has an index would need a table. */

/* The line at *text, which moves to the next one; *length: without the line break. NULL: no more lines. */
static const char *nnrti_states_line(const char **text, size_t *length)
{
    const char *line = *text;
    *length = strcspn(line, "\n");
    *text += *length + (line[*length] != '\0' ? 1 : 0);
    return *length > 0 || line[0] != '\0' ? line : NULL;
}

/* True if the line is "IN=OUT". */
static bool nnrti_states_is(const char *line, size_t length, const char *in, const char *out)
{
    const size_t n = strlen(in);
    return n > 0 && n < length && line[n] == '=' && length - n - 1 == strlen(out) && memcmp(line, in, n) == 0 &&
           memcmp(line + n + 1, out, length - n - 1) == 0;
}

static const char *nnrti_io_name(const NNRT_Model *m, bool output, uint32_t i)
{
    return nnrti_text_of(m->allTensors.data[(output ? m->outputIndex : m->inputIndex).data[i]].name);
}

/* Finds the input and the output that a line pairs. */
static bool nnrti_states_find(const NNRT_Model *m, const char *line, size_t length, uint32_t *in, uint32_t *out)
{
    for (*in = 0; *in < m->inputIndex.count; ++*in) {
        const size_t n = strlen(nnrti_io_name(m, false, *in));
        if (n >= length || line[n] != '=' || memcmp(line, nnrti_io_name(m, false, *in), n) != 0)
            continue;
        for (*out = 0; *out < m->outputIndex.count; ++*out)
            if (nnrti_states_is(line, length, nnrti_io_name(m, false, *in), nnrti_io_name(m, true, *out)))
                return true;
    }
    return false;
}

/* Moves entry `at` of a list to its end. False: it is one of the last `done` entries, which have moved before. */
static bool nnrti_states_move(uint32_t *list, uint32_t count, uint32_t at, uint32_t done)
{
    const uint32_t moved = list[at];
    if (at >= count - done)
        return false;
    memmove(list + at, list + at + 1, (count - at - 1) * sizeof(*list));
    list[count - 1] = moved;
    return true;
}

/* Moves the inputs and outputs of the states behind the others, in m's lists, which belong to m. */
static NNRT_ReturnCode nnrti_states_order(NNRT_Model *m, const char *text, nnrt_error *error)
{
    const char *line;
    size_t length;
    for (uint32_t k = 0; (line = nnrti_states_line(&text, &length)) != NULL; k++) {
        uint32_t in, out;
        if (!nnrti_states_find(m, line, length, &in, &out))
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "states, line %u: expected INPUT=OUTPUT, the names of an input and an output of the "
                                  "model",
                                  k + 1);
        if (!nnrti_states_move((uint32_t *)(uintptr_t)m->inputIndex.data, m->inputIndex.count, in, k) ||
            !nnrti_states_move((uint32_t *)(uintptr_t)m->outputIndex.data, m->outputIndex.count, out, k))
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "states, line %u: input '%s' or output '%s' is a state already", k + 1,
                                  nnrti_io_name(m, false, in), nnrti_io_name(m, true, out));
    }
    return NNRT_SUCCESS;
}

/* The number of states of m, whose metadata are text (NULL: none). Fails unless the lines name the last inputs and
   outputs in order. */
NNRTI_UNUSED static NNRT_ReturnCode nnrti_states_count(const NNRT_Model *m, const char *text, uint32_t *count,
                                                       nnrt_error *error)
{
    const char *line, *at = text;
    size_t length;
    uint32_t n = 0;
    *count = 0;
    while (at != NULL && nnrti_states_line(&at, &length) != NULL)
        n++;
    for (uint32_t k = 0; k < n; k++) {
        line = nnrti_states_line(&text, &length);
        if (n > m->inputIndex.count || n > m->outputIndex.count ||
            !nnrti_states_is(line, length, nnrti_io_name(m, false, m->inputIndex.count - n + k),
                             nnrti_io_name(m, true, m->outputIndex.count - n + k)))
            return nnrt_error_set(error, NNRT_INVALID_MODEL,
                                  "states, line %u: expected INPUT=OUTPUT with the names of the last %u "
                                  "inputs and outputs of the model, in their order (nnrt_model_annotate)",
                                  k + 1, n);
    }
    *count = n;
    return NNRT_SUCCESS;
}

#define NNRTI_STATES_SEARCHED ((uint64_t)1 << 28) /* at most so many pairs of a state and a node are looked at */

/* The axis of a node TENSOR_SCATTER on a tensor of this rank; -1: it is not valid. */
NNRTI_UNUSED static int32_t nnrti_scatter_axis(const NNRT_Node *node, uint32_t rank)
{
    NNRT_TensorScatter a;
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_TENSOR_SCATTER)->attr, &a);
    if (node->nodeAttr.data != NULL)
        memcpy(&a, node->nodeAttr.data, node->nodeAttr.size < sizeof(a) ? node->nodeAttr.size : sizeof(a));
    a.axis += a.axis < 0 ? (int64_t)rank : 0;
    return a.axis >= 0 && a.axis < (int64_t)rank ? (int32_t)a.axis : -1;
}

/* The axis of the rows that a run adds to state k, of `count`, which it may write over itself: its only reader is a node
   TENSOR_SCATTER whose result is the output of the state. Whatever else reads the state reads that result. -1: it may not.
   nnrt_plan_run accepts the one buffer (nnrt_plan.inPlace); models with subgraphs have two. The work is count * nodes for
   all states, which the limit keeps small for any file. */
NNRTI_UNUSED static int32_t nnrti_state_axis(const NNRT_Model *m, uint32_t count, uint32_t k)
{
    const NNRT_Node *update = NULL;
    const uint32_t in = m->inputIndex.data[m->inputIndex.count - count + k];
    const uint32_t out = m->outputIndex.data[m->outputIndex.count - count + k];
    uint32_t updates = 0, uses = 0, outputs = 0;
    if ((uint64_t)count * m->nodes.count > NNRTI_STATES_SEARCHED || m->subGraph.count > 1)
        return -1;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *node = &m->nodes.data[i];
        for (uint32_t j = 0; j < node->inputIndex.count; j++)
            uses += node->inputIndex.data[j] == in ? 1 : 0;
        if (node->nodeType == NNRT_NODE_TYPE_TENSOR_SCATTER && node->inputIndex.count > 1 &&
            node->outputIndex.count == 1 && node->inputIndex.data[0] == in && node->outputIndex.data[0] == out) {
            update = node;
            updates++;
        }
    }
    for (uint32_t j = 0; j < m->outputIndex.count; j++) {
        uses += m->outputIndex.data[j] == in ? 1 : 0;
        outputs += m->outputIndex.data[j] == out ? 1 : 0;
    }
    return updates == 1 && uses == 1 && outputs == 1 ? nnrti_scatter_axis(update, m->allTensors.data[in].dims.count) : -1;
}

/* True if entry i of `metadata` has a later entry with its key. */
static bool nnrti_annotate_again(const nnrt_metadata *metadata, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(metadata[i].key, key) == 0)
            return true;
    return false;
}

/* Entry i of the old metadata followed by the new ones; false: another one replaces it. */
static bool nnrti_annotate_at(const nnrti_owned *old, const nnrt_metadata *added, uint32_t count, uint32_t i,
                              nnrt_metadata *entry)
{
    const uint32_t k = i < old->nMetadata ? 0 : i - old->nMetadata + 1;
    *entry = i < old->nMetadata ? old->metadata[i] : added[k - 1];
    return k == count || !nnrti_annotate_again(added + k, count - k, entry->key);
}

/* Bytes of the block of the annotated model: struct, graphs, lists of inputs and outputs, table of metadata, texts. */
static bool nnrti_annotate_bytes(const nnrti_owned *old, const nnrt_metadata *added, uint32_t count, size_t *bytes)
{
    const NNRT_Model *m = &old->model;
    size_t lists, graphs, table;
    nnrt_metadata e;
    if (!nnrt_mul_size((size_t)m->inputIndex.count + m->outputIndex.count + 1, sizeof(uint32_t), &lists) ||
        !nnrt_mul_size(m->subGraph.count, sizeof(NNRT_SubGraph), &graphs) ||
        !nnrt_mul_size((size_t)old->nMetadata + count, sizeof(nnrt_metadata), &table) ||
        !nnrt_add_size(sizeof(*old), lists + 8, bytes) || !nnrt_add_size(*bytes, graphs, bytes) ||
        !nnrt_add_size(*bytes, table, bytes))
        return false;
    for (uint32_t i = 0; i < old->nMetadata + count; i++)
        if (nnrti_annotate_at(old, added, count, i, &e) &&
            (!nnrt_add_size(*bytes, strlen(e.key) + strlen(e.value) + 2, bytes)))
            return false;
    return true;
}

/* Appends a text to the block at *at. */
static const char *nnrti_annotate_text(char **at, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *to = *at;
    memcpy(to, text, n);
    *at += n;
    return to;
}

/* Copies n elements of `size` bytes into the block at *at. */
static void *nnrti_annotate_list(uint8_t **at, const void *list, uint32_t n, size_t size)
{
    void *to = *at;
    if (n > 0)
        memcpy(to, list, n * size);
    *at += n * size;
    return to;
}

/* Fills the block: everything but its lists and metadata is the old model's. */
static nnrti_owned *nnrti_annotate_make(void *block, size_t bytes, nnrti_owned *old, const nnrt_metadata *added,
                                        uint32_t count)
{
    nnrti_owned *o = (nnrti_owned *)block;
    NNRT_Model *m = &o->model;
    uint8_t *at = (uint8_t *)(o + 1);
    nnrt_metadata *table, e;
    NNRT_SubGraph *graphs;
    char *text;
    memset(block, 0, bytes);
    *m = old->model;
    m->self = m;
    o->allocator = old->allocator;
    o->bytes = bytes;
    o->bare = old->bare;
    o->deferred = old->deferred;
    o->file = old->file;
    o->replaced = &old->model;
    graphs = (NNRT_SubGraph *)nnrti_annotate_list(&at, m->subGraph.data, m->subGraph.count, sizeof(*graphs));
    o->metadata = table = (nnrt_metadata *)(void *)at;
    at += ((size_t)old->nMetadata + count) * sizeof(*table);
    m->inputIndex.data = (uint32_t *)nnrti_annotate_list(&at, m->inputIndex.data, m->inputIndex.count, 4);
    m->outputIndex.data = (uint32_t *)nnrti_annotate_list(&at, m->outputIndex.data, m->outputIndex.count, 4);
    m->subGraph.data = graphs;
    if (m->subGraph.count > 0) {
        graphs[0].inputIndices = m->inputIndex;
        graphs[0].outputIndices = m->outputIndex;
    }
    text = (char *)at;
    for (uint32_t i = 0; i < old->nMetadata + count; i++) {
        if (!nnrti_annotate_at(old, added, count, i, &e))
            continue;
        table[o->nMetadata].key = nnrti_annotate_text(&text, e.key);
        table[o->nMetadata++].value = nnrti_annotate_text(&text, e.value);
    }
    return o;
}

NNRT_API NNRT_ReturnCode nnrt_model_annotate(NNRT_Model **model, const nnrt_metadata *metadata, uint32_t count,
                                             nnrt_error *error)
{
    nnrti_owned *old = model != NULL ? nnrti_owned_of(*model) : NULL, *o;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    const char *states;
    size_t bytes;
    void *block;
    nnrt_error_clear(error);
    if (old == NULL || (count > 0 && metadata == NULL))
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_annotate: %s",
                              old != NULL ? "the metadata are NULL" : "takes only a model that the library made");
    for (uint32_t i = 0; i < count; i++)
        if (metadata[i].key == NULL || metadata[i].key[0] == '\0' || metadata[i].value == NULL)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "metadata %u has no %s", i,
                                  metadata[i].value == NULL ? "value" : "key");
    block = nnrti_annotate_bytes(old, metadata, count, &bytes) ? nnrt_alloc(&old->allocator, bytes) : NULL;
    if (block == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the metadata");
    o = nnrti_annotate_make(block, bytes, old, metadata, count);
    states = nnrt_model_metadata(&o->model, "states");
    if (states != NULL)
        code = nnrti_states_order(&o->model, states, error);
    if (code != NNRT_SUCCESS)
        nnrt_free(&old->allocator, block, bytes);
    else
        *model = &o->model;
    return code;
}

/* ---- sections of a file ---- */

/* Section `index` of a file that was checked: nnrti_reader_sections has verified the offsets and the names of all
   rows, which are used without a check here. false: file NULL, or no such section; *section is then all zero. */
static bool nnrti_file_section(const uint8_t *file, uint32_t index, nnrt_file_section *section)
{
    nnrti_file_header h;
    nnrti_file_row row;
    memset(section, 0, sizeof(*section));
    if (file == NULL)
        return false;
    memcpy(&h, file, sizeof(h));
    if (index >= h.sections)
        return false;
    row = nnrti_file_row_read(file, &h, index);
    section->type = row.type;
    section->alignment = row.alignment;
    section->kind = nnrti_file_kinds[row.type < NNRTI_FILE_TYPES ? row.type : 0];
    section->offset = (size_t)row.offset;
    section->bytes = (size_t)row.bytes;
    section->data = file + section->offset;
    for (uint32_t i = 0; i < h.sections; i++) {
        nnrti_file_row other = nnrti_file_row_read(file, &h, i);
        if (other.type == NNRTI_FILE_STRINGS)
            section->name = (const char *)file + (size_t)other.offset + row.name;
    }
    return true;
}

NNRT_API bool nnrt_model_section(const NNRT_Model *model, uint32_t index, nnrt_file_section *section)
{
    const nnrti_owned *o = nnrti_owned_of(model);
    return section != NULL && nnrti_file_section(o != NULL ? o->file : NULL, index, section);
}

#endif

NNRT_SETUP_END()

#endif /* NNRT_IMPLEMENTATION */
