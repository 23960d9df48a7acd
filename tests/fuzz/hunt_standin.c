/* hunt_standin.c - a program in place of the command line, with the faults that hunt.py must find: `nnrt FAULT FILE`. It is
   compiled into tests/kit/commands.c (COMMANDS_OF), and with NNRT_TOOL_MAIN it is a program for one command. */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_file(const char *path, const char *end, const char *text)
{
    char name[4096];
    FILE *f;
    snprintf(name, sizeof(name), "%s%s", path, end);
    f = fopen(name, "wb");
    if (f != NULL) {
        (void)fputs(text, f);
        (void)fclose(f);
    }
}

static int fault(const char *name, const char *path, const char *other)
{
    static char *volatile lost;
    static volatile int number = INT_MAX;
    if (strcmp(name, "abort") == 0)
        abort();
    if (strcmp(name, "overflow") == 0) {
        char *volatile block = (char *)malloc(8);
        block[8] = 1;
        free(block);
    }
    if (strcmp(name, "undefined") == 0)
        number = number + 1;
    if (strcmp(name, "leak") == 0) {
        lost = (char *)malloc(100);
        if (lost != NULL)
            lost = NULL;
    }
    if (strcmp(name, "hang") == 0)
        for (;;)
            (void)sleep(1);
    if (strcmp(name, "memory") == 0 || strcmp(name, "slow-memory") == 0) { /* the second one still has it when it is looked at */
        enum { BLOCKS = 4, BYTES = 100 << 20 };
        char *blocks[BLOCKS];
        for (int i = 0; i < BLOCKS; i++)
            if ((blocks[i] = (char *)malloc(BYTES)) != NULL)
                memset(blocks[i], 1, BYTES);
        if (name[0] == 's')
            (void)sleep(9);
        for (int i = 0; i < BLOCKS; i++)
            free(blocks[i]);
    }
    if (strcmp(name, "open") == 0)
        (void)dup(STDOUT_FILENO);
    if (strcmp(name, "part") == 0)
        write_file(path, ".out", "half");
    if (strcmp(name, "temporary") == 0)
        write_file(path, ".0.tmp", "half");
    if (strcmp(name, "tmpdir") == 0)
        write_file(getenv("TMPDIR") != NULL ? getenv("TMPDIR") : ".", "/left", "");
    if (strcmp(name, "array") == 0)
        write_file(path, "/y.npy", "\x93NUMPY\1");
    if (strcmp(name, "changes") == 0)
        write_file(path, "", "changed");
    if (strcmp(name, "trace") == 0)
        write_file(other, "", "{\"a\":");
    if (strcmp(name, "garbage") == 0)
        write_file(other, "", "garbage");
    if (strcmp(name, "control") == 0)
        (void)fputs("a name: \x1b[2J\n", stderr);
    if (strcmp(name, "json") == 0)
        (void)puts("{\"a\":nan}");
    if (strcmp(name, "silent") == 0)
        return 1;
    if (strcmp(name, "status") == 0)
        return 77;
    if (strcmp(name, "part") == 0 || strcmp(name, "refused") == 0) {
        (void)fputs("nnrt: refused\n", stderr);
        return 1;
    }
    return 0;
}

int cli_program(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return puts("commands:\n  info MODEL  Shows a model.\n  unheard-of  Has no words in hunt_cases.py.\n") < 0;
    if (argc == 3 && strcmp(argv[1], "info") == 0 && strstr(argv[2], "OUT") != NULL)
        return 1; /* it cannot read the file that it wrote */
    if (argc == 3 && strcmp(argv[1], "info") == 0)
        return puts("usage: nnrt info\n\noptions:\n  --json                 print one line of JSON\n"
                    "  --unheard-of N         has no values\n\nexample:") < 0;
    return argc >= 3 ? fault(argv[1], argv[2], argv[argc - 1]) : 2;
}

#ifdef NNRT_TOOL_MAIN
int main(int argc, char **argv)
{
    return cli_program(argc, argv);
}
#endif
