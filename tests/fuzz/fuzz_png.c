/* Fuzz target: the bytes are an image, after one byte that selects the input that it is for. If it is a PNG, it is
   decoded and becomes the input. */
#include "tool.h"

static void fuzz_png(const uint8_t *data, size_t size)
{
    static const nnrt_dims shapes[] = {{4, {1, 3, 5, 4}}, {4, {-1, -1, -1, -1}}, {3, {1, 7, 9}}, {4, {1, 6, 3, 4}}};
    static const NNRT_DataType types[] = {NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_UINT8, NNRT_DATA_TYPE_INT8,
                                          NNRT_DATA_TYPE_FLOAT16};
    const uint32_t choice = size > 0 ? data[0] : 0;
    cli_bytes file = fuzz_file(data + (size > 0), size - (size > 0));
    const size_t before = fuzz_messages;
    nnrt_dims shape = shapes[choice % 4];
    cli_image_options options;
    cli_image_axes axes = {0, 0, 0, false};
    cli_tensor t;
    int status;
    memset(&options, 0, sizeof(options));
    options.colour = (int)(choice / 4 % 4);
    options.invert = choice & 64 ? CLI_INVERT_YES : CLI_INVERT_AUTO;
    if (cli_is_image(&file)) {
        status = cli_image_shape(&file, "file", &options, "x", &shape, &axes);
        if (status == CLI_DONE)
            status = cli_image_read(&file, "file", &options, types[choice / 16 % 4], &shape, &axes, &t);
        fuzz_said(status, before, "an image");
        fuzz_expect(cli_image_taken == 0, "decoding gives back what it takes", NULL);
        if (status == CLI_DONE)
            fuzz_converted(&t);
    }
    fuzz_file_end(&file);
}

FUZZ_TARGET(fuzz_png)
