/* Drivers in processes of their own, for tests. The process ends with the one that made it. */
#ifndef REMOTES_H
#define REMOTES_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices/nnrt_fake.h"
#include "devices/nnrt_remote.h"

static void remote_end(void)
{
    _exit(1);
}

/* Starts a process that serves a device at path: the name of one, or "fake:..." for one that it makes. It listens when this
   returns; 0: it does not. */
static pid_t remote_start(const nnrt_remote_serve_desc *desc)
{
    int ready[2];
    char told = 0;
    pid_t process;
    if (pipe(ready) != 0)
        return 0;
    process = fork();
    if (process == 0) {
        nnrt_remote_serve_desc own = *desc;
        nnrt_remote_server *server = NULL;
        nnrt_fake *fake = NULL;
        nnrt_error e;
        bool good = true;
        memset(&e, 0, sizeof(e));
        (void)prctl(PR_SET_PDEATHSIG, 9 /* SIGKILL */);
        (void)close(ready[0]);
        if (strncmp(own.device, "fake:", 5) == 0) {
            nnrt_fake_may_die(remote_end);
            good = nnrt_fake_register(&fake, own.device, &e) == NNRT_SUCCESS;
            own.device = nnrt_fake_name(fake);
        }
        good = good && nnrt_remote_serve_open(&server, &own, &e) == NNRT_SUCCESS;
        if (!good)
            fprintf(stderr, "%s: %s\n", own.path, e.message);
        if (good && write(ready[1], "1", 1) == 1)
            (void)nnrt_remote_serve_run(server, &e);
        _exit(1);
    }
    (void)close(ready[1]);
    if (process < 0 || read(ready[0], &told, 1) != 1)
        process = 0;
    (void)close(ready[0]);
    return process;
}

#endif
