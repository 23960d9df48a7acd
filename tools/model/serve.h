/*
serve.h - a device for other processes. Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_SERVE_H
#define NNRT_TOOL_SERVE_H

#include "../../devices/nnrt_remote.h"
#include "../common/args.h"

#include <signal.h>

static nnrt_remote_server *cli_server;

/* The first signal stops the server after its current runs, the second one terminates the program. */
static void cli_serve_stop(int number)
{
    (void)signal(number, SIG_DFL);
    nnrt_remote_serve_stop(cli_server);
}

static int cli_serve(const cli_args *args)
{
    nnrt_remote_serve_desc desc;
    nnrt_error error;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    if (args->socket == NULL)
        return cli_usage("serve: --socket PATH is missing; see 'nnrt serve --help'");
    desc.path = args->socket;
    desc.device = args->device;
    desc.mode = args->permissions;
    desc.users = args->users;
    desc.userCount = args->userCount;
    desc.limits = args->limits;
    desc.log = args->log.line != NULL ? &args->log : NULL;
    if (nnrt_remote_serve_open(&cli_server, &desc, &error) != NNRT_SUCCESS)
        return cli_fail("%s", error.message);
    (void)signal(SIGTERM, cli_serve_stop);
    (void)signal(SIGINT, cli_serve_stop);
    printf("device %s at %s\n", args->device != NULL ? args->device : "auto", args->socket);
    (void)fflush(stdout);
    code = nnrt_remote_serve_run(cli_server, &error);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    nnrt_remote_serve_close(cli_server);
    return code == NNRT_SUCCESS ? CLI_DONE : cli_fail("%s", error.message);
}

#endif /* NNRT_TOOL_SERVE_H */
