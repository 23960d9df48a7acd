/*
nnrt.c - the command line of nnrt: inspect a model, run it, time it, check it against ONNX test data.

    cc -std=c99 -O2 -I. tools/nnrt.c -o build/nnrt -lm

It uses the public functions of nnrt.h, formats/nnrt_onnx.h, devices/ and compat/nnrt_nnadapter_driver.h only, and
stb_image (libstb-dev) to read PNG images. Exit status: 0 done, 1 failed, 2 wrong usage. Results go to standard output,
everything else to standard error.

This file has the help texts and the table of commands. Each command is a function in a header of its family. A header
includes only headers of its folder, of common and of io, which includes nothing above it:

    io/       messages, JSON, tensors, files, images, sounds
    common/   arguments, metadata, model inputs, sessions, samples
    model/    info, dot, run, bench, generate, check, compare, accuracy, report, devices, serve
    text/     tokenize, embed
    convert/  convert, compile, quantize
    emit/     emit-c, emit-wasm, emit-frontend
    ops/      ops, and operators as C
    batch/    batch

    >>help      help texts
    >>commands  the table of commands
    >>main      the program
*/
#define _POSIX_C_SOURCE 200809L

#if defined(__linux__) && defined(__GNUC__) && !defined(NNRT_THREADS)
#define NNRT_THREADS 1 /* nnrt serve */
#endif
#define NNRT_IMPLEMENTATION
#include "../nnrt.h"

#include "../compat/nnrt_nnadapter_driver.h"
#include "../devices/nnrt_driver.h"
#include "../devices/nnrt_fake.h"
#include "../devices/nnrt_remote.h"
#include "../formats/nnrt_gguf.h"
#include "../formats/nnrt_onnx.h"
#include "../formats/nnrt_safetensors.h"
#include "../formats/nnrt_tflite.h"

#include "batch/batch.h"
#include "convert/compile.h"
#include "convert/quantize.h"
#include "emit/emit_wasm.h"
#include "emit/frontend.h"
#include "model/accuracy.h"
#include "model/bench.h"
#include "model/check.h"
#include "model/compare.h"
#include "model/devices.h"
#include "model/dot.h"
#include "model/generate.h"
#include "model/info.h"
#include "model/report.h"
#include "model/run.h"
#include "ops/ops.h"
#include "text/embed.h"
#include "text/tokenize.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>help */

static const char cli_info_text[] =
    "Inputs are shown as the file declares them, with the name of a dynamic dimension, or ?; everything else describes\n"
    "a session on the chosen device, with the sizes of --dim and --shape, and 1 for a batch. With --max dimensions stay\n"
    "dynamic, and memory sizes are those of the upper bounds. For an ONNX file without a session - sizes are missing,\n"
    "operators not supported, shapes do not fit - info shows what the file says, the operators as ONNX names them, and why.\n"
    "opsets: the operator sets of an ONNX file. parameters: number of elements of all constants, by type.\n"
    "MACs: multiply-accumulates of convolutions, matrix multiplications, EINSUM, attention and recurrent layers for\n"
    "these shapes, including padding; bodies of LOOP count once.\n"
    "cortex-m4: an estimate for the kernels of nnrt_mcu.h (mcu:cortex-m4), by operators, types and shapes.\n"
    "arena: memory for the values between nodes; its lower bound is the largest number of bytes that live at a time.\n"
    "keep: compiler options that restrict a program that loads the model to the operators it needs.\n"
    "session: everything that nnrt_session_create allocates; parameters are used in place. Also the metadata, and\n"
    "the sections of a .nnrt file.\n"
    "--memory: the offset of every value in the arena of the reference device, in bytes, and its first and last\n"
    "step; then the bytes in use during each step. Inputs and outputs are the caller's memory.\n"
    "--placement: one line per node: number, name, operator, device, part (partition: nodes that are prepared\n"
    "together), and why the preferred device does not run it.\n\n";

static const char cli_run_text[] =
    "Every input needs a value. NAME= is optional if there is one input; --input random without a name applies to\n"
    "all inputs without another value. Files of floats are rounded to the input's float type, or quantized for a\n"
    "quantized input of a .nnrt file; integers are converted to its integer type if they fit; rounding and\n"
    "converting print a note. Dynamic dimensions are set by the values, --dim or --shape; a batch is 1, and\n"
    "no other size is guessed. If an operator requires a parameter (axes, sizes) at planning time, values of at most 64\n"
    "elements become constants, with a note; --fix makes an input a constant in any case. With --max the session is created once for all shapes up to these\n"
    "upper bounds, and each run has its own.\n"
    "\n"
    "Images are resized to the input's height and width: bilinear, averaging when they shrink. Then\n"
    "value = (pixel - mean) * scale, pixel 0 to 255. Default: pixel / 255 for floats, pixel - 128 for\n"
    "int8, the pixel itself for other types. torchvision's mean 0.485 and std 0.229, which apply to\n"
    "pixel / 255, are --mean 123.675 --std 58.395 here. The defaults of these options are the metadata of the model\n"
    "(see nnrt convert --help), which also contain the labels shown after the values. EXIF rotation is ignored, and\n"
    "alpha is, too, unless the input has 4 channels.\n"
    "\n"
    "Sounds are WAV files of one channel, 16-bit PCM, and become sample / 32768, one sample per element of an input\n"
    "[N], [1,N] or [1,N,1]. The rate of a file is not compared with the model's, which states none.\n"
    "\n"
    "random is SplitMix64, starting at SEED (default 0) + 2^32 * the input's number, one step per element, of which\n"
    "the top bits are used: floats in [-1, 1), integers 0 to 7, bool 0 or 1. The values are the same on every "
    "machine.\n"
    "\n"
    "--profile shows the steps in the order in which they ended: the time of each in microseconds, without\n"
    "the steps inside it (IF, LOOP), its share, and the bytes of its inputs and results; then the sums by operator.\n"
    "chrome://tracing and Perfetto show the file. nnrt bench shows the mean of many runs.\n"
    "\n"
    "Output files are NAME.npy with '_' for characters other than letters, digits, '.', '_' and '-'. Names that\n"
    "become equal get _2, _3, ...\n\n";

static const char cli_check_text[] =
    "A set is a folder with input_0.pb, ... and output_0.pb, ..., or .npy; they belong to the input or output with\n"
    "the name of their tensor, else with that number. --input and --expected name the files of one set. A float is\n"
    "right if |got - expected| <= A + R * |expected|, or both are NaN or the same infinity; integers and bools\n"
    "must be equal. The exit status is 1 if a set is wrong.\n\n";

static const char cli_compare_text[] =
    "Runs the model on both devices, then once more on both with the results of all nodes as outputs, and names the\n"
    "first node, in execution order, whose result differs: the first element that differs with both values, the\n"
    "largest difference, and the largest difference relative to the first device. Values are equal if\n"
    "|b - a| <= A + R * |a|, or both are NaN or the same infinity. R and A are --rtol and --atol, else for float16\n"
    "1e-2 and 1e-3, for float32 1e-4 and 1e-5, for float64 1e-7 and 1e-7; quantized values may differ by 1 unit\n"
    "(--atol); other integers and bools must be equal. --rtol 0 --atol 0 compares bits. Nodes of subgraphs are\n"
    "compared by the results of the node that contains them. Inputs are as for nnrt run; without any, random ones.\n"
    "A single --device is compared with reference. The exit status is 1 if anything differs.\n\n";

static const char cli_batch_text[] =
    "Writes each output as DIR/NAME.npy, with a row for each sample, in the order of names, shorter names first; DIR/names.txt has\n"
    "the path of each row's sample, if there are several files. Images and sounds are converted as by nnrt run.\n"
    "\n"
    "The samples are divided into chunks. The results of a chunk are files in DIR/chunks that appear when they are complete:\n"
    "the same command continues after it was killed, and --shard divides the chunks among machines that see DIR. Without --shard\n"
    "the command joins the chunks and removes them; after the shards, do so with --merge. The bytes of the results do not depend\n"
    "on --shard, --jobs, --threads and interruptions. DIR/batch.txt states model, samples and options; a command with other ones\n"
    "is refused.\n"
    "A damaged file ends the run with a message that names it, unless --skip-bad is given. docs/batch.md describes Slurm,\n"
    "Kubernetes, MPI (nnrt-mpi) and others.\n\n";

static const char cli_accuracy_text[] =
    "The class of a sample is the largest element of the first output. Top 5: the expected class is among the five\n"
    "largest. With a second model: both figures, and in how many samples both give the same class.\n"
    "A quantized input takes real values, which are quantized as by nnrt run. Images and sounds are\n"
    "converted as by nnrt run.\n\n";

static const char cli_generate_text[] =
    "The model is a decoder: a GGUF file, or an ONNX or .nnrt file with the inputs input_ids and past_key_values..., perhaps\n"
    "attention_mask and position_ids, and the outputs logits and present.... Or a .nnrt file that was made from a GGUF file with\n"
    "--context. The prompt is processed in parts of --batch tokens. All memory is allocated before the first token; 'nnrt info'\n"
    "prints it for a --context, a --cache-type and a --batch.\n"
    "--save-cache: keys, values and tokens are written in the end, for --load-cache, which continues behind them.\n"
    "--prompt: the text behind the prompt is printed as it is generated, until a token that ends it, or --tokens. The tokenizer is that of\n"
    "the GGUF file; other files need --tokenizer. Control tokens in the prompt, such as <|im_end|>, are found.\n"
    "--chat: messages get the form of the file's chat template, if it is one of those of --template. Ctrl-C ends the text, or the reply, and\n"
    "keeps the text so far; a second one ends the program. Figures follow on standard error.\n"
    "--ids: the prompt is numbers, and so is the result. first_ms: from the prompt to the first token; step_ms: median of the\n"
    "following tokens.\n\n";

static const char cli_tokenize_text_help[] =
    "MODEL is a GGUF file, of which only the keys are read, a tokenizer.json, or a safetensors model with a tokenizer.json beside\n"
    "it. Without FILE and --text the text is standard input. A line has the tokens of a text, separated by commas, as generate --ids takes them. Control tokens in the text, such as\n"
    "<|im_end|>, are found unless --plain is given. Bytes that are not UTF-8 become U+FFFD.\n"
    "--json: \"tokens\" has a list for each text.\n\n";

static const char cli_embed_text_help[] =
    "The model is an encoder: a GGUF file of bert or nomic-bert, or an ONNX or .nnrt file with the input input_ids, perhaps\n"
    "attention_mask and token_type_ids, and a vector for the text or for each token as output. Texts are those of --text, the lines\n"
    "of FILE, or of standard input. The file has a row for each: the dot product of two rows is the cosine similarity, unless\n"
    "--no-normalize is given. Texts beyond the context of a GGUF file are cut off there.\n\n";

static const char cli_report_text[] =
    "The page is self-contained: inputs and outputs, the graph, colored by operator and framed by device, the time of\n"
    "every step and operator, and the memory map of the reference device's arena from step to step. Inputs are as\n"
    "for nnrt run; without any, random ones. Nodes of subgraphs are not drawn, and models with subgraphs have no\n"
    "memory map.\n\n";

static const char cli_convert_text[] =
    "IN is an ONNX, .tflite, GGUF, safetensors or .nnrt file. A .nnrt file is used in place, memory-mapped or in flash: loading it copies no\n"
    "weights and repeats nothing of the import. OUT appears when it is completely written; an existing OUT must be a\n"
    "regular file that is not read by the command.\n"
    "\n"
    "OUT has the metadata of IN (metadata_props of an ONNX file), overridden by --labels and --meta. nnrt run uses\n"
    "these keys; its options take precedence:\n"
    "  labels, labels.OUTPUT         class labels, one per line, of all outputs or of one\n"
    "  input.NAME.mean, .scale       images: value = (pixel - mean) * scale: one number or one per channel\n"
    "  input.NAME.std                a divisor instead of scale\n"
    "  input.NAME.color              rgb, bgr or gray\n"
    "  input.NAME.invert             yes: 255 - pixel instead of the pixel; no\n"
    "  input.NAME.layout             nchw or nhwc\n"
    "  input.NAME.quantize           yes: the value is real, and is quantized with scale and zero point of the input;\n"
    "                                no. --int8-io stores yes\n"
    "Texts for people: description, license, source. Other keys are kept unchanged.\n\n";

static const char cli_quantize_text[] =
    "Runs the model on the samples of --data and derives scale and zero point of every value between operators. Weights\n"
    "become int8 with one scale per output channel. The file computes in integers wherever operators have quantized\n"
    "arithmetic (docs/quantization.md); inputs and outputs stay float32 unless --int8-io is given. A name FILE.onnx writes\n"
    "the ONNX file in QDQ form, also for ONNX Runtime.\n"
    "equalize: channels between two convolutions get similar ranges, their weights are scaled accordingly.\n"
    "ranges: of every tensor the range with the least squared error over the samples.\n"
    "bias: the mean error of rounded weights in each output channel is subtracted from the bias.\n"
    "Operators that are faster in float32, casts included, stay so, and the layers that cost most accuracy while the\n"
    "predicted time grows by at most 10 %. --full-integer quantizes all: for microcontrollers, as --int8-io does.\n"
    "Printed: these operators; signal-to-noise ratio of each output of the 8-bit model against the float32 model over the\n"
    "samples; the number of samples with the same largest element; the time of a run of both. Images and sounds are\n"
    "converted as by nnrt run.\n"
    "--report: the sizes of both models in bytes, ranges and histograms of the values, scales of the weights.\n\n";

static const char cli_compile_text[] =
    "The file is that of nnrt convert plus the model as the device prepared it (a section with the device's name, "
    "which\n"
    "nnrt info shows), or the partitions that auto gives to devices. A session on that device restores it and does "
    "not\n"
    "compile. For another device or version, other options or other shapes the section is ignored, and the model is\n"
    "prepared as usual. Dynamic dimensions of an ONNX file are set by --dim and --shape, in the file as well; those "
    "of a\n"
    ".nnrt file stay dynamic, and it is compiled for --shape.\n"
    "Of the built-in devices, cpu stores its prepacked weights, for the instruction set of this machine, and "
    "reference has\n"
    "no model cache; devices of --load, or fake:cache=yes, may have one.\n\n"
    "With --device mcu:TARGET the file has the finished plan instead of the model: firmware runs it in flash\n"
    "(nnrt_mcu_open, nnrt_mcu_run of devices/nnrt_mcu.h). Every node must have a kernel of that header. nnrt info "
    "shows\n"
    "the file, and the kernels that the firmware must link.\n\n";

static const char cli_wasm_text[] =
    "The module has the model's weights, the kernels that it needs, and a memory of fixed size. It exports memory,\n"
    "run(), which returns 0 or a return code, and the addresses and sizes of the buffers: input(i), input_bytes(i),\n"
    "output(i), output_bytes(i), i from 0. A model with states keeps them between runs; reset() sets them to their\n"
    "initial values. Compiled by clang and wasm-ld (Debian: clang lld wasi-libc). Dynamic shapes are an error.\n\n"
    "  const {exports: m} = (await WebAssembly.instantiateStreaming(fetch('digits.wasm'))).instance;\n"
    "  new Float32Array(m.memory.buffer, m.input(0), 784).set(image);\n"
    "  if (m.run() !== 0) throw new Error('the run failed');\n"
    "  const scores = new Float32Array(m.memory.buffer, m.output(0), 10);\n\n";
static const char cli_emit_text_help[] =
    "The file has the model as constant data, planned for an arena whose size it states: include it after nnrt.h,\n"
    "and NAME_run runs it. No files, no heap, and only the kernels it needs are linked. NAME_selftest compares the\n"
    "results for one input, --input or random values, with those of this machine. With --golden it also\n"
    "compares checksums of the results of all nodes, and NAME_selftest_node names the first one that differs.\n"
    "Quantized inputs and outputs have macros NAME_INPUT_SCALE and NAME_INPUT_ZERO_POINT, after the tensor's name.\n"
    "Subgraphs (IF, LOOP) are written, too; a model with dynamic or data-dependent shapes is an error.\n"
    "--region places the tensors that are accessed most in the first region that has room (define NNRT_REGIONS).\n"
    "--state: NAME_run has no parameters for IN and OUT, but a pointer to NAME_STATE_BYTES, which NAME_state_reset\n"
    "zeroes.\n\n";

static const char cli_frontend_text[] =
    "DESCRIPTION is a list MEMBER=VALUE,... of members of nnrt_frontend_desc, which nnrt_frontend.h describes; a\n"
    "member that is not named is 0. rate, window, hop, fft, output and, for integers, scale are required.\n"
    "  arithmetic    int16, float32\n"
    "  output        int8, int16, float32\n"
    "  rate, window, hop, fft, mels, dct, zeroPoint          integers\n"
    "  fullScale, lower, upper, offset, floor, scale         numbers\n"
    "  windowKind    hann, hamming, rectangular\n"
    "  spectrum      power, magnitude\n"
    "  melScale      htk, slaney\n"
    "  log           ln, log10, db, none\n"
    "  symmetric, removeMean, melTriangles, melArea, dctEqual    no, yes\n"
    "The file has its tables as constant data: include it after nnrt_frontend.h. NAME_frontend() is the front end for\n"
    "nnrt_frontend_start, NAME_FRONTEND_WORDS the memory of a stream, and int16 arithmetic needs no floats.\n\n";

static const char cli_ops_text[] =
    "--tflite lists the operators of TensorFlow Lite: number, versions, types of the main input, and the operators that\n"
    "each becomes. --onnx lists the supported operators of ONNX: the first and last operator set, the operator that each becomes\n"
    "(one of several separated by spaces), the operators that may be added and why, or those it is made of;\n"
    "then the unsupported operators, and why. Operators that only compute with dynamic dimensions are not listed.\n"
    "--show NAME prints shapes, attributes, formula and the float32 kernel of an operator: loops in the order of the formula.\n"
    "--copy NAME prints that kernel with all that it needs, as C that compiles by itself: types, attribute struct, views\n"
    "(of elementwise operators the loop over arrays of n elements), helpers, license, a comment with the calling convention, the\n"
    "fused activations RELU and RELU6, and with --example for most operators a main() that calls it (NNRT_EXAMPLE). It calls\n"
    "expf and others of <math.h>. --all prints the kernels of all element types as the library has them: functions with the same\n"
    "bits on every platform, broadcasting, copies of whole rows, and how derived constants are made. NAME is CONV2D_FUSION, in\n"
    "any case and as ONNX, TensorFlow Lite and papers call it (Conv, DepthwiseConv2D, NMS), or a kernel (nnrt_softmax_f16).\n"
    "Both are extracted from nnrt_ops.h, which is searched for beside this\n"
    "program, in the current folder, in the folder above the program's, and in ../include/nnrt from there, where make\n"
    "install puts it.\n\n";

static const char cli_serve_text[] =
    "Another process uses the device with --device remote:PATH. Models and tensors are in shared memory. The server\n"
    "prints a line when it listens; SIGTERM and SIGINT stop it after its current runs, and it removes the socket's\n"
    "file. Only Linux supports this.\n\n";

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>commands */

static const cli_command cli_commands[] = {
    {"info", "MODEL", "Shows inputs, outputs, nodes of each operator, and the memory of a model.", cli_info_text,
     "nnrt info examples/digits/digits.onnx", CLI_INFO, cli_info},
    {"run", "MODEL", "Runs a model once and shows or writes its outputs.", cli_run_text,
     "nnrt run examples/digits/digits.onnx --input examples/digits/digit_7.png --top 1", CLI_RUN, cli_run},
    {"bench", "MODEL", "Times loading, preparing and running a model on random inputs.",
     "Inputs are random, as with --input random. Three untimed warm-up runs come first. --profile shows means of the\n"
     "timed runs, which it slows down by two clock reads per step.\n\n",
     "nnrt bench examples/digits/digits.onnx --device reference --json", CLI_BENCH, cli_bench},
    {"generate", "MODEL", "Generates text, or tokens, with a language model; --chat: answers messages.", cli_generate_text,
     "nnrt generate model.gguf --prompt 'Once upon a time' --tokens 100 --threads 4", CLI_GENERATE, cli_generate},
    {"embed", "MODEL [FILE]", "Writes vectors of texts, for search by meaning.", cli_embed_text_help,
     "nnrt embed model.gguf texts.txt -o vectors.npy --threads 4", CLI_EMBED, cli_embed},
    {"tokenize", "MODEL [FILE]", "Prints the tokens of a text, or the text of tokens.", cli_tokenize_text_help,
     "nnrt tokenize model.gguf --text 'Once upon a time' --pieces", CLI_TOKENIZE, cli_tokenize},
    {"check", "MODEL", "Runs a model on test data and compares its outputs.", cli_check_text,
     "nnrt check model.onnx --input x=x.npy --expected y=y.npy --rtol 1e-4", CLI_CHECK, cli_check},
    {"compare", "MODEL", "Runs a model on two devices and names the first node whose result differs.",
     cli_compare_text, "nnrt compare examples/digits/digits.onnx --device reference --device auto", CLI_COMPARE,
     cli_compare_devices},
    {"accuracy", "MODEL [MODEL]", "Counts how often a classifier is right on samples with labels; compares two.", cli_accuracy_text,
     "nnrt accuracy float.onnx int8.nnrt --data images.npy --labels classes.npy", CLI_ACCURACY, cli_accuracy_command},
    {"batch", "MODEL", "Runs a model on many samples: files whole or absent, resumable, on many machines.", cli_batch_text,
     "nnrt batch examples/digits/digits.onnx --input examples/digits --output build/digits --jobs 2", CLI_BATCH, cli_batch_command},
    {"report", "MODEL", "Writes an HTML report of a model: graph, time, memory.", cli_report_text,
     "nnrt report examples/digits/digits.onnx -o digits.html", CLI_REPORT, cli_report_make},
    {"convert", "IN OUT.nnrt", "Writes a model as a .nnrt file.", cli_convert_text,
     "nnrt convert examples/digits/digits.onnx digits.nnrt --meta license=MIT --meta input.image.color=gray",
     CLI_CONVERT, cli_convert},
    {"quantize", "MODEL", "Writes a float32 model as a .nnrt file that computes in 8-bit integers.", cli_quantize_text,
     "nnrt quantize examples/digits/digits.onnx --data examples/digits -o digits_int8.nnrt", CLI_QUANTIZE, cli_quantize},
    {"compile", "MODEL", "Writes a .nnrt file that loads without compiling on a device.", cli_compile_text,
     "nnrt compile examples/digits/digits.onnx --device fake:cache=yes -o digits.nnrt", CLI_COMPILE, cli_compile},
    {"emit-c", "MODEL", "Writes a model as C: constant data that runs without files or heap.", cli_emit_text_help,
     "nnrt emit-c examples/digits/digits.onnx -o digits_model.h --name digits --input examples/digits/digit_7.png",
     CLI_EMIT, cli_emit_c},
    {"emit-wasm", "MODEL", "Writes a model as a WebAssembly module that imports nothing.", cli_wasm_text,
     "nnrt emit-wasm examples/digits/digits_int8.onnx -o digits.wasm", CLI_WASM, cli_emit_wasm},
    {"emit-frontend", "DESCRIPTION", "Writes a front end for sound or sensors as C: spectrum, mel, MFCC.",
     cli_frontend_text,
     "nnrt emit-frontend rate=16000,window=640,hop=320,fft=1024,mels=40,lower=20,upper=4000,dct=10,output=int8,scale=0.5 "
     "-o kws_frontend.h --name kws",
     CLI_FRONTEND, cli_emit_frontend},
    {"dot", "MODEL", "Writes a model as a Graphviz graph.", "",
     "nnrt dot examples/digits/digits.onnx -o digits.dot && dot -Tsvg digits.dot -o digits.svg", CLI_DOT, cli_dot},
    {"ops", "", "Lists the operators: name, number, element types of input 0; or prints one as C.", cli_ops_text,
     "nnrt ops --copy SOFTMAX > softmax.c", CLI_OPS, cli_ops},
    {"devices", "", "Lists the devices: name, vendor, type, status.", "", "nnrt devices --device fake:name=npu0 --json", CLI_DEVICES,
     cli_devices},
    {"serve", "", "Serves a device to other processes through a socket.", cli_serve_text,
     "nnrt serve --socket /run/npu.sock --device fake: --limits clients=4", CLI_SERVE, cli_serve},
};

#define CLI_COMMANDS (sizeof(cli_commands) / sizeof(cli_commands[0]))

static void cli_help(void)
{
    printf("nnrt %s - runs neural networks\n\nusage: nnrt COMMAND [arguments]\n\ncommands:\n", nnrt_version());
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        printf("  %-8s %-11s %s\n", cli_commands[i].name, cli_commands[i].operands, cli_commands[i].what);
    printf("\n'nnrt COMMAND --help' lists the options of a command. 'nnrt --version' prints the version.\n"
           "MODEL is an ONNX, .tflite, GGUF, safetensors or .nnrt file, - standard input. Results go to standard output, messages to standard "
           "error.\n"
           "Exit status: 0 done, 1 failed, 2 wrong usage.\n\n"
           "example:\n  nnrt run examples/digits/digits.onnx --input examples/digits/digit_7.png\n");
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>main */

/* Runs the command in argv. */
static int cli_main(int argc, char **argv)
{
    cli_args args;
    const char *near = NULL;
    unsigned best = CLI_CLOSE;
    int status;
    if (argc < 2)
        return cli_usage("the command is missing; 'nnrt --help' lists the commands");
    if (strcmp(argv[1], "help") == 0 && argc == 3 && argv[2][0] != '-') /* nnrt help COMMAND: nnrt COMMAND --help */
        return cli_main(3, (char *[]){argv[0], argv[2], "--help", NULL});
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        cli_help();
        return argc == 2 ? CLI_DONE : cli_usage("--help: unexpected argument '%s'", argv[2]);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("nnrt %s\n", nnrt_version());
        return argc == 2 ? CLI_DONE : cli_usage("--version: unexpected argument '%s'", argv[2]);
    }
    for (size_t i = 0; i < CLI_COMMANDS; i++) {
        if (strcmp(argv[1], cli_commands[i].name) != 0)
            continue;
        status = cli_parse(&cli_commands[i], &args, argc - 2, argv + 2);
        args.program = argv[0];
        if (status == CLI_DONE && args.help)
            cli_help_command(&cli_commands[i]);
        else if (status == CLI_DONE)
            status = cli_commands[i].run(&args);
        return status;
    }
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        near = cli_closer(argv[1], cli_commands[i].name, &best) ? cli_commands[i].name : near;
    return near != NULL ? cli_usage("unknown command '%s'; did you mean '%s'? 'nnrt --help' lists the commands", argv[1], near)
                        : cli_usage("unknown command '%s'; 'nnrt --help' lists the commands", argv[1]);
}

/* A failed write to standard output is a failure: a full disk must not look like success. */
int cli_program(int argc, char **argv)
{
    const uint32_t compiledIn = nnrt_device_count();
    int status = cli_main(argc, argv);
    for (uint32_t i = nnrt_device_count(); i-- > compiledIn;)
        (void)nnrt_device_unregister(nnrt_device_unique_name(nnrt_device_at(i))); /* drivers of --load, devices of --device */
    cli_stream_free();
    cli_read_files_free();
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == CLI_DONE)
        status = cli_fail("cannot write to standard output: %s", strerror(errno));
    return status;
}

#ifndef NNRT_TOOL_NO_MAIN /* of programs that include this file: tools/nnrt_mpi.c, tests */
int main(int argc, char **argv)
{
    return cli_program(argc, argv);
}
#endif
