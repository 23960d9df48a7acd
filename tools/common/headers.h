/*
headers.h - where the headers of nnrt are, for ops --copy and emit-wasm.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_HEADERS_H
#define NNRT_TOOL_HEADERS_H

#include "../io/files.h"

/* The folder of the program, with its '/'; "" if it is unknown. The caller frees it. */
static char *cli_program_folder(const char *program)
{
    const char *slash = strrchr(program, '/'), *path = getenv("PATH");
    const size_t room = strlen(program) + (path != NULL ? strlen(path) : 0) + 3;
    char *folder = (char *)cli_alloc(room, 1);
    struct stat s;
    if (folder != NULL && slash != NULL)
        memcpy(folder, program, (size_t)(slash + 1 - program));
    while (folder != NULL && slash == NULL && path != NULL && *path != '\0') {
        const size_t n = strcspn(path, ":");
        snprintf(folder, room, "%.*s/%s", (int)n, path, program);
        if (stat(folder, &s) == 0 && S_ISREG(s.st_mode)) {
            folder[n + 1] = '\0';
            break;
        }
        *folder = '\0';
        path += n + (path[n] == ':');
    }
    return folder;
}

/* The default path of nnrt_ops.h: beside the program, in the current folder, in the folder above the program's (for a
   program in build/), or where make install puts it. The caller frees it; NULL: not found. */
static char *cli_header_path(const char *program)
{
    static const char *const places[] = {"nnrt_ops.h", "", "../nnrt_ops.h", "../include/nnrt/nnrt_ops.h"};
    char *folder = cli_program_folder(program);
    const size_t room = folder != NULL ? strlen(folder) + 40 : 0;
    char *path = folder != NULL ? (char *)cli_alloc(room, 1) : NULL;
    char *looked = path != NULL ? (char *)cli_alloc(room, 4) : NULL;
    size_t n = 0;
    struct stat s;
    for (size_t i = 0; looked != NULL && i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, room, "%s%s", i != 1 ? folder : "", i != 1 ? places[i] : places[0]);
        if (stat(path, &s) == 0 && S_ISREG(s.st_mode))
            break;
        n += (size_t)snprintf(looked + n, 4 * room - n, "%s%s", i > 0 ? ", " : "", path);
        *path = '\0';
    }
    if (looked != NULL && *path == '\0')
        cli_fail("nnrt_ops.h is not found at %s; set its path with --header PATH", looked);
    if (looked == NULL || *path == '\0') {
        free(path);
        path = NULL;
    }
    free(looked);
    free(folder);
    return path;
}

#endif /* NNRT_TOOL_HEADERS_H */
