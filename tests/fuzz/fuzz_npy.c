/* Fuzz target: the bytes are a .npy file. It is read as a tensor and converted. */
#include "tool.h"

static void fuzz_npy(const uint8_t *data, size_t size)
{
    cli_bytes file = fuzz_file(data, size);
    const size_t before = fuzz_messages;
    cli_tensor t;
    int status;
    if (size >= 6) { /* as the command line does */
        status = cli_npy_read(&file, "file", &t);
        fuzz_said(status, before, "cli_npy_read");
        if (status == CLI_DONE)
            fuzz_converted(&t);
    }
    fuzz_file_end(&file);
}

FUZZ_TARGET(fuzz_npy)
