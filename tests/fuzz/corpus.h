/* Reads the corpus of a fuzz target: tests/fuzz/corpus/NAME.tar, a POSIX (ustar) archive of small files. A record is a header
   of 512 bytes, with the size in octal at byte 124 and the type at byte 156, then the bytes, padded to a multiple of 512. */
#ifndef CORPUS_H
#define CORPUS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls visit with each file of the corpus `name`, which may change the bytes; returns the number of files, 0 if the archive
   is missing or damaged. NNRT_TEST_ROOT: the repository, default the current folder. */
static size_t corpus_each(const char *name, void (*visit)(void *user, uint8_t *data, size_t size), void *user)
{
    const char *root = getenv("NNRT_TEST_ROOT");
    static uint8_t data[65536];
    char path[1024], header[512];
    size_t files = 0;
    FILE *f;
    snprintf(path, sizeof(path), "%s%stests/fuzz/corpus/%s.tar", root != NULL ? root : "", root != NULL ? "/" : "", name);
    if ((f = fopen(path, "rb")) == NULL)
        return 0;
    while (fread(header, 1, sizeof(header), f) == sizeof(header) && header[0] != '\0') {
        const unsigned long size = strtoul(header + 124, NULL, 8), padded = (size + 511) / 512 * 512;
        if (padded > sizeof(data) || fread(data, 1, padded, f) != padded) {
            files = 0;
            break;
        }
        if (header[156] != '0')
            continue;
        visit(user, data, size);
        files++;
    }
    fclose(f);
    return files;
}

#endif
