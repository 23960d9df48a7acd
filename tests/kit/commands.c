/* commands.c - commands of the command line, one after the other in one process: tests run thousands of them, and a program with
   sanitizers takes longer to start and to end than most commands take.

       commands OUT ERR     runs the commands of standard input; the files OUT and ERR get the output of each

   A command is a line with the number of its words, the program's name included, then the words, each ended by a zero byte. The answer is a
   line on standard output with the exit status; OUT and ERR then contain the command's output and messages. A command must close the
   files that it opens: else the answer is "open". 0 words, or the end of standard input, end the program, which then looks for leaks of all
   commands. commands.py and commands.sh are the other side. */
#define NNRT_TOOL_NO_MAIN
#ifndef COMMANDS_OF /* a file with cli_program */
#define COMMANDS_OF "tools/nnrt.c"
#endif
#include COMMANDS_OF

#include <fcntl.h>
#include <unistd.h>

/* Reads up to the byte `end`; a string, allocated, NULL at the end of the input. */
static char *read_to(int end)
{
    size_t size = 64, n = 0;
    char *text = (char *)malloc(size);
    int c;
    while (text != NULL && (c = getchar()) != end) {
        char *more = c == EOF ? NULL : n + 1 < size ? text : (char *)realloc(text, size *= 2);
        if (more == NULL) {
            free(text);
            return NULL;
        }
        text = more;
        text[n++] = (char)c;
    }
    if (text != NULL)
        text[n] = '\0';
    return text;
}

/* Makes a new, empty file the descriptor `to`. */
static bool redirect(const char *path, int to)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    return file >= 0 && dup2(file, to) == to && close(file) == 0;
}

static int lowest_free_descriptor(void)
{
    const int file = dup(STDIN_FILENO);
    (void)close(file);
    return file;
}

/* Runs one command; false: there is none. */
static bool run_command(FILE *answers, const char *out, const char *err, int words)
{
    char **argv = (char **)calloc((size_t)words + 1, sizeof(*argv));
    bool whole = argv != NULL;
    for (int i = 0; i < words && whole; i++)
        whole = (argv[i] = read_to('\0')) != NULL;
    if (whole && redirect(out, STDOUT_FILENO) && redirect(err, STDERR_FILENO)) {
        const int file = lowest_free_descriptor();
        int status;
        clearerr(stdout);
        status = cli_program(words, argv);
        (void)fflush(stderr);
        if (lowest_free_descriptor() == file)
            (void)fprintf(answers, "%d\n", status);
        else
            (void)fputs("open\n", answers);
        whole = fflush(answers) == 0;
    }
    for (int i = 0; i < words && argv != NULL; i++)
        free(argv[i]);
    free(argv);
    return whole;
}

int main(int argc, char **argv)
{
    FILE *answers = argc == 3 ? fdopen(dup(STDOUT_FILENO), "w") : NULL;
    bool more = answers != NULL;
    while (more) {
        char *line = read_to('\n');
        const int words = line == NULL ? 0 : atoi(line);
        free(line);
        more = words > 0 && run_command(answers, argv[1], argv[2], words);
    }
    return answers != NULL && fclose(answers) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
