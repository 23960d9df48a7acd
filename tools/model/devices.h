/*
devices.h - the commands devices and serve: the devices of this program, and one of them for other processes.
Part of tools/nnrt.c.

    >>list   the command devices
    >>serve  the command serve
*/
#ifndef NNRT_TOOL_DEVICES_H
#define NNRT_TOOL_DEVICES_H

#include "../../devices/nnrt_remote.h"
#include "../common/args.h"

#include <signal.h>

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>list */

/* Name of an enumerator of the library, such as "GPU". */
#define CLI_ENUM_NAME(prefix, name, value)                                                                             \
    case value: return #name;
static const char *cli_device_type(NNRT_DeviceType type)
{
    switch (type) {
        NNRT_ENUM_DeviceType(CLI_ENUM_NAME) default : return "OTHER";
    }
}

static const char *cli_device_status(NNRT_DeviceStatus status)
{
    switch (status) {
        NNRT_ENUM_DeviceStatus(CLI_ENUM_NAME) default : return "UNKNOWN";
    }
}

static int cli_devices(const cli_args *args)
{
    fputs(args->json ? "{\"devices\":[" : "", stdout);
    for (uint32_t i = 0; i < nnrt_device_count(); i++) {
        const nnrt_device *d = nnrt_device_at(i);
        const char *type = cli_device_type(nnrt_device_type(d, NULL)),
                   *status = cli_device_status(nnrt_device_status(d));
        if (args->json) {
            fputs(i > 0 ? ",{\"name\":" : "{\"name\":", stdout);
            cli_json_text(nnrt_device_name(d));
            fputs(",\"unique_name\":", stdout);
            cli_json_text(nnrt_device_unique_name(d));
            fputs(",\"vendor\":", stdout);
            cli_json_text(nnrt_device_vendor(d));
            printf(",\"type\":\"%s\",\"status\":\"%s\"}", type, status);
        } else {
            cli_put_name(stdout, nnrt_device_name(d));
            fputs("  ", stdout);
            cli_put_name(stdout, nnrt_device_vendor(d));
            printf("  %s  %s\n", type, status);
        }
    }
    if (args->json)
        printf("],\"same_bits\":%s}\n", nnrt_same_bits() ? "true" : "false");
    else
        puts(nnrt_same_bits()
                 ? "the reference device gives the same bits here as everywhere"
                 : "the reference device may give other bits here than elsewhere: nnrt was compiled with fast\n"
                   "math or excess precision, or the processor's rounding mode or subnormal numbers are off");
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>serve */

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

#endif /* NNRT_TOOL_DEVICES_H */
