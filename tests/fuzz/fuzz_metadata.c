/* Fuzz target: the bytes are metadata, KEY=VALUE, each with a terminating 0. They are stored like the metadata of a
   model, and determine the conversion of an image to the input x. */
#include "tool.h"

static void fuzz_metadata_texts(const uint8_t *data, size_t size)
{
    size_t before = fuzz_messages;
    cli_image_options options;
    cli_metadata metadata;
    cli_bytes file = fuzz_file(data, size);
    int status = CLI_DONE;
    memset(&metadata, 0, sizeof(metadata));
    memset(&options, 0, sizeof(options));
    for (size_t at = 0; at < size && metadata.count < 64;) {
        const uint8_t *end = (const uint8_t *)memchr(data + at, 0, size - at);
        const size_t length = end != NULL ? (size_t)(end - data) - at : size - at;
        const uint8_t *sign = (const uint8_t *)memchr(data + at, '=', length);
        const size_t key = sign != NULL ? (size_t)(sign - data) - at : length;
        const size_t value = sign != NULL ? length - key - 1 : 0;
        const char *text = (const char *)data + at;
        fuzz_expect(cli_metadata_set(&metadata, text, key, text + key + (value > 0), value) == CLI_DONE,
                    "metadata are kept", NULL);
        at += length + 1;
    }
    for (uint32_t i = 0; i < metadata.count; i++) {
        fuzz_expect(*metadata.data[i].key != '\0' && *metadata.data[i].value != '\0', "no key and no value is empty",
                    NULL);
        for (uint32_t k = 0; k < i; k++)
            fuzz_expect(strcmp(metadata.data[i].key, metadata.data[k].key) != 0, "keys are unique",
                        metadata.data[i].key);
    }
    status = cli_metadata_image(&metadata, "file", "x", &options);
    fuzz_said(status, before, "cli_metadata_image");
    if (status == CLI_DONE) {
        fuzz_expect(options.means <= 4 && options.scales <= 4, "one number or one per channel, at most four", NULL);
        for (uint32_t i = 0; i < options.scales; i++)
            fuzz_expect(isfinite(options.scale[i]), "a factor is a number", NULL);
    }
    cli_metadata_free(&metadata);
    fuzz_file_end(&file);
}

FUZZ_TARGET(fuzz_metadata_texts)
