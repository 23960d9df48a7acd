/* Drivers in separate processes, for tests. The process ends together with its parent. It is this program, started
   again: a child of fork() in a program with threads may wait for a lock of the allocator that none of its threads will
   release. */
#ifndef REMOTES_H
#define REMOTES_H

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices/nnrt_fake.h"
#include "devices/nnrt_remote.h"

#define REMOTE_DEVICE "NNRT_TEST_SERVED" /* in the environment of the process: the device that it serves */
#define REMOTE_PATH "NNRT_TEST_SOCKET"
#define REMOTE_READY "NNRT_TEST_READY" /* the pipe that it writes a byte to when it listens */

extern char **environ;

static void remote_end(void)
{
    _exit(1);
}

/* Before main: serves the device that the environment names, and does not return. */
__attribute__((constructor)) static void remote_serve(void)
{
    nnrt_remote_serve_desc desc;
    nnrt_remote_server *server = NULL;
    nnrt_fake *fake = NULL;
    nnrt_error e;
    bool good = true;
    const char *ready = getenv(REMOTE_READY);
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    desc.device = getenv(REMOTE_DEVICE);
    desc.path = getenv(REMOTE_PATH);
    if (desc.device == NULL || desc.path == NULL || ready == NULL)
        return;
    (void)prctl(PR_SET_PDEATHSIG, 9 /* SIGKILL */);
    if (strncmp(desc.device, "fake:", 5) == 0) {
        nnrt_fake_may_die(remote_end);
        good = nnrt_fake_register(&fake, desc.device, &e) == NNRT_SUCCESS;
        desc.device = nnrt_fake_name(fake);
    }
    good = good && nnrt_remote_serve_open(&server, &desc, &e) == NNRT_SUCCESS;
    if (!good)
        fprintf(stderr, "%s: %s\n", desc.path, e.message);
    if (good && write(atoi(ready), "1", 1) == 1)
        (void)nnrt_remote_serve_run(server, &e);
    _exit(1);
}

/* Starts a process that serves a device at path: a registered one by name, or a new fake device for "fake:...". Returns
   when it listens; 0: it failed. */
static pid_t remote_start(const char *path, const char *device)
{
    char texts[3][256], *variables[512];
    int ready[2];
    size_t count = 0;
    char told = 0;
    pid_t process = 0;
    posix_spawn_file_actions_t actions;
    char program[] = "/proc/self/exe", *arguments[] = {program, NULL};
    if (pipe(ready) != 0)
        return 0;
    (void)snprintf(texts[0], sizeof(texts[0]), REMOTE_DEVICE "=%s", device);
    (void)snprintf(texts[1], sizeof(texts[1]), REMOTE_PATH "=%s", path);
    (void)snprintf(texts[2], sizeof(texts[2]), REMOTE_READY "=%d", ready[1]);
    for (; count < 3; count++)
        variables[count] = texts[count];
    for (char **v = environ; *v != NULL && count < 511; v++)
        variables[count++] = *v;
    variables[count] = NULL;
    if (posix_spawn_file_actions_init(&actions) == 0) {
        (void)posix_spawn_file_actions_addclose(&actions, ready[0]);
        if (posix_spawn(&process, program, &actions, NULL, arguments, variables) != 0)
            process = 0;
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ready[1]);
    if (process != 0 && read(ready[0], &told, 1) != 1)
        process = 0;
    (void)close(ready[0]);
    return process;
}

#endif
