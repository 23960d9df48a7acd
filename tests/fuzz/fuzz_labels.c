/* Fuzz target: the bytes are a file of labels, after one byte that selects the shape of the output that they belong to.
   */
#include "tool.h"

static void fuzz_labels(const uint8_t *data, size_t size)
{
    const int32_t extent = size > 0 ? data[0] : 0;
    cli_bytes file = fuzz_file(data + (size > 0), size - (size > 0));
    const size_t before = fuzz_messages;
    nnrt_dims shape;
    cli_metadata metadata;
    cli_labels labels;
    char *text;
    int status;
    memset(&metadata, 0, sizeof(metadata));
    memset(&shape, 0, sizeof(shape));
    shape.rank = 3;
    shape.dims[0] = 2;
    shape.dims[1] = extent;
    shape.dims[2] = 3;
    status = cli_lines_text(&file, "file", "label", &text);
    fuzz_said(status, before, "cli_lines_text");
    if (status == CLI_DONE) {
        fuzz_expect(cli_metadata_set(&metadata, "labels.y", 8, text, strlen(text)) == CLI_DONE, "a text is kept", NULL);
        fuzz_expect(cli_labels_make(&labels, &metadata, "y", &shape) == CLI_DONE, "labels are made", NULL);
        if (labels.count > 0) {
            size_t seen = 0;
            fuzz_expect(labels.count == cli_lines(text), "a line is a label", NULL);
            for (size_t i = 0; i < (size_t)extent * 6; i++)
                seen += strlen(cli_label_of(&labels, &shape, i)) + 1;
            fuzz_expect(seen >= (size_t)extent * 6, "every element has a label", NULL);
        }
        cli_labels_free(&labels);
    }
    cli_metadata_free(&metadata);
    fuzz_tool_free(text);
    fuzz_file_end(&file);
}

FUZZ_TARGET(fuzz_labels)
