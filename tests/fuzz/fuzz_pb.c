/* Fuzz target: the bytes are a .pb file of ONNX test data. It is read as a tensor and converted. */
#include "tool.h"

static void fuzz_pb(const uint8_t *data, size_t size)
{
    cli_bytes file = fuzz_file(data, size);
    const size_t before = fuzz_messages;
    char name[8];
    cli_tensor t;
    int status = cli_pb_read(&file, "file", &t, name, sizeof(name));
    fuzz_said(status, before, "cli_pb_read");
    if (status == CLI_DONE)
        fuzz_converted(&t);
    fuzz_file_end(&file);
}

FUZZ_TARGET(fuzz_pb)
