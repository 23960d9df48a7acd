/* Prints the output of `nnrt ops --copy NAME --all --example` for many names: nnrt_ops.h, which takes longest, is read once.
   usage: copy_all NNRT_OPS.H NAME...      prints for each a line with a form feed and the name, then the copy
   NAME@TYPE is `nnrt ops --copy NAME --type TYPE`, without an example, NAME@ `nnrt ops --copy NAME`, NAME+ the same with an
   example and all activations. */
#define NNRT_TOOL_NO_MAIN
#include "tools/nnrt.c"

#include <sys/wait.h>
#include <unistd.h>

/* The operator of that name, or the one that has the kernel of that name; *kernel is NULL or that. */
static const nnrt_op *named(const char *name, const char **kernel)
{
    const nnrt_op *op = nnrt_op_named(name);
    *kernel = NULL;
    if (op != NULL)
        return op;
    *kernel = name;
    for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++)
        for (uint32_t k = 0; k < op->kernelCount; k++)
            if (strcmp(op->kernels[k].name, name) == 0)
                return op;
    return NULL;
}

int main(int argc, char **argv)
{
    cli_bytes bytes;
    cli_copy c;
    memset(&c, 0, sizeof(c));
    if (argc < 3 || cli_read_file(argv[1], &bytes) != CLI_DONE)
        return 2;
    cli_copy_read(&c, cli_text_between((const char *)bytes.data, (const char *)bytes.data + bytes.size));
    for (int i = 2; i < argc; i++) {
        const char *kernel;
        char *type = strpbrk(argv[i], "@+");
        const bool example = type == NULL || *type == '+';
        const nnrt_op *op;
        cli_args args;
        int status = 1;
        bool usual;
        pid_t child;
        memset(&args, 0, sizeof(args));
        printf("\f%s\n", argv[i]);
        if (type != NULL)
            *type++ = '\0';
        op = named(argv[i], &kernel);
        if (op == NULL || (type != NULL && *type != '\0' && !cli_take_type(&args, type)))
            return 2;
        usual = type != NULL && *type == '\0';
        c.plain = type != NULL;
        if (usual)
            args.type = cli_copy_default_type(op);
        fflush(stdout);
        child = op != NULL ? fork() : -1; /* a copy marks its needs: each process has an unmarked header */
        if (child == 0) {
            status = cli_copy_op(&c, op, kernel, args.type, usual && !example ? cli_copy_default_activations(op) : NULL,
                                 example, false, argv[1]);
            fflush(stdout);
            _exit(status);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "copy_all: %s cannot be copied\n", argv[i]);
            return 1;
        }
    }
    cli_copy_free(&c, NULL);
    free(bytes.data);
    return 0;
}
