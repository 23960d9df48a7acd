/* nnrt_remote.h - a device in another process: the device table over a Unix domain socket. A driver that crashes does
not crash the application, and one device serves several processes. Tensors and constants are in shared memory that both
processes map; the socket carries only control messages.

    #define NNRT_THREADS 1                   the server needs threads
    #define NNRT_IMPLEMENTATION
    #include "devices/nnrt_remote.h"         includes nnrt_hal.h, which suffices to serve a device of your own

A program that opens sessions, or serves `auto` or `cpu`, includes nnrt.h before this header.

    nnrt serve --socket /run/npu.sock --device npu0                               the process of the driver
    nnrt run model.onnx --device remote:/run/npu.sock                             the application
    nnrt_remote_register(&remote, "remote:/run/npu.sock", &error);                the same in C

WHO READS THIS
    Vendors who run a driver in a process of its own; authors of another client or server for the protocol.

SECTIONS (search for the tag)
    >>remote        the client: a proxy for a device in another process
    >>serve         the server
    -- implementation --
    >>remote_wire   frames, their fields, shared memory
    >>remote_client connection, buffers, the tables
    >>remote_server request handlers, limits, threads

THE PROTOCOL
    A Unix domain stream socket (AF_UNIX, SOCK_STREAM). Both ends run on one machine, so numbers have the machine's byte
    order. The client sends requests, one at a time, and the server answers each in order. The first request of a
    connection is HELLO. A frame is a header of 32 bytes and its payload:

    u32 magic      "NNRR"
    u16 version    NNRT_REMOTE_VERSION
    u16 layout     NNRT_LAYOUT
    u32 kind       of the list below; in an answer also the highest bit
    i32 code       of an answer: NNRT_ReturnCode; 0 in a request
    u32 length     bytes of the payload: at most the limit in HELLO's answer, and 4096 before that answer
    u32 fds        number of descriptors (SCM_RIGHTS) sent with the first byte of the header: 0 or 1
    u64 serial     of a request: counted up from 1; of an answer: that of its request

    Payload: TEXT is u32 bytes including the terminating 0, the bytes, zeros up to a multiple of 4; DIMS is i32 rank, 8
    times i32. The size of every other field is a multiple of 4 bytes. An answer whose code is not 0 contains: i32 node,
    i32 tensor, TEXT message; an answer to RUN then also the fields in brackets.

    1  HELLO    -> u32 bytes of a message, u32 models, u32 buffers, u64 bytes, u32 major, u32 minor, i32 type,
                   u32 abilities (bits in the order of nnrt_ability), TEXT name, TEXT vendor
    2  STATUS   -> i32 status
    3  SUPPORT  u32 1: with reasons, PARCEL of a model -> u32 nodes, a byte for each with zeros up to a multiple of 4,
                then, as long as the message has room, the reasons: u32 node, i32 code, i32 tensor, TEXT
    4  PREPARE  PARCEL of a model -> u32 model, u32 slots: bits of the optional slots that the prepared model has:
                1 ExportModelCache, 2 GetInputDimRanges, 4 GetIO, 8 GetMemory, 16 GetOutputDimRanges
    5  CACHE    PARCEL of the buffers that EXPORT returned -> u32 model, u32 slots
    6  OFFLINE  PARCEL of buffers: models in the device's form -> u32 model, u32 slots
    7  EXPORT   u32 model -> PARCEL of buffers
    8  IO       u32 model, u32 output, u32 index -> i32 type, DIMS
    9  RANGES   u32 model, u32 output, u32 index -> DIMS minimum, DIMS maximum
    10 HELD     u32 model -> u64 tables, workspace, arena, bound, constants, u32 steps
    11 RUN      u32 model, u32 inputs, u32 outputs, then for each: u32 buffer (0: no data), u32 bytes, u64 offset,
                i32 type, i32 format, u32 rank, i32 dimensions, TEXT name
                -> [u32 outputs, for each: DIMS, rank -1: not reported; u32 bytes written, UINT32_MAX: unknown]
    12 RELEASE  u32 model ->
    13 MAP      u32 buffer, not 0, u64 bytes, and a descriptor ->
    14 UNMAP    u32 buffer ->

    PARCEL is u64 bytes of the first part, u64 bytes of the second part, and a memory descriptor (memfd_create) with the
    first part, zeros up to a multiple of 64, and the second part. The first part of a model's parcel is a .nnrt file
    (nnrt_model.h, >>format). So models outside a process have one form, and one reader that validates all of it. The
    first part of a parcel of buffers is u32 count, a u32 of bytes for each, and the bytes of each from a multiple of 64
    on. The second part is the configuration: u32 enableFloat16, i32 mode, i32 priority, u32 threads, u32 maxTrips, u32
    count and DIMS of inputDims, u32 count and (TEXT, DIMS) of upper bounds, u32 count and (TEXT, u32 bytes, the bytes,
    zeros up to a multiple of 4) of extensions. EXPORT's answer has no second part.

    The memory of a parcel is sealed against shrinking and writing (F_SEAL_SHRINK, F_SEAL_WRITE): validated data cannot
    change afterwards, and constants are used in place. Memory of MAP is sealed against shrinking, so that reading it
    never raises SIGBUS. The receiver rejects a descriptor without these seals.

    The server answers a malformed request with INVALID_PARAMETER and closes the connection. A client closes the
    connection after a malformed answer, and its call returns SERVICE_ERROR.

DIFFERENCES FROM A LOCAL DEVICE
    Return codes and messages come from the device itself. If the device's tables lack one of these optional slots, the
    slot is NULL in the client's tables, too: GetSupportedOperation and GetSupportedNodes, PrepareOfflineModel,
    PrepareModelFromModelCache (also if the device answers that it has no model cache), and the slots of a prepared
    model that PREPARE lists. The client implements these itself: its status, AllocateBuffer, GetModelMemory, Run and
    RunIn. Not sent to the server: config's profile and log (the server has a log of its own), and parallel,
    arenaAlignment, autoDevices and partition, which the server chooses. For tables and the workspace, GetModelMemory
    and GetMemory report the memory of the client's process only. Big-endian machines do not support .nnrt files, hence
    no models on remote devices: NOT_SUPPORT.

THREADS
    Concurrent calls for one device wait for each other: a device has one connection. A server has a thread for each
    client. Without NNRT_THREADS there is no server, and only one thread at a time may call a device.

MIT license, see LICENSE.
*/
#ifndef NNRT_REMOTE_H
#define NNRT_REMOTE_H

#include "../nnrt_hal.h"

/* NNRT_REMOTE 1/0: default 1 on Linux, whose memfd sharing the protocol needs. 0: all functions return
   NNRT_NOT_SUPPORT. */
#ifndef NNRT_REMOTE
#if defined(__linux__)
#define NNRT_REMOTE 1
#else
#define NNRT_REMOTE 0
#endif
#endif
#ifndef NNRT_THREADS
#define NNRT_THREADS 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define NNRT_REMOTE_VERSION 2

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>remote */

typedef struct nnrt_remote nnrt_remote;

/* Traffic counters of the socket, headers included, and the number of connections made so far. */
typedef struct nnrt_remote_traffic {
    uint64_t sent, received; /* bytes */
    uint32_t calls, descriptors, connections;
} nnrt_remote_traffic;

/* Registers a proxy for the device served at the socket in `text`: "remote:[name=NAME,][time=MILLISECONDS,]PATH". It
   exists until it is unregistered. name: the device's name for nnrt_device_find, default "remote_" and its name in the
   server; vendor, version and type are those of the server's device. time: timeout of an answer in milliseconds; after
   it the call returns TIME_OUT and the connection is closed; default: no limit. remote may be NULL. INVALID_PARAMETER:
   malformed text. SERVICE_ERROR: no server listens at the path.

   If the driver's process ends, even during a run, the call returns SERVICE_ERROR. The next call reconnects and
   prepares the models that it uses again, if the same device is served at the same path. Runs use buffers of the
   device's AllocateBuffer in place (zero-copy); other data is copied through shared memory. */
NNRT_API NNRT_ReturnCode nnrt_remote_register(nnrt_remote **remote, const char *text, nnrt_error *error);
/* The name of a proxy for nnrt_device_find. */
NNRT_API const char *nnrt_remote_name(const nnrt_remote *remote);
/* The traffic of a proxy so far. */
NNRT_API nnrt_remote_traffic nnrt_remote_get_traffic(nnrt_remote *remote);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>serve */

/* Limits of the server for each client. 0 = the default. */
typedef struct nnrt_remote_limits {
    uint32_t clients; /* simultaneous connections; 16 */
    uint32_t models;  /* prepared models of a client; 64 */
    uint32_t buffers; /* shared buffers of a client; 256 */
    uint32_t message; /* bytes of a message, at least 4096; 262144 */
    uint32_t time;    /* milliseconds: timeout for the rest of a message, and for sending an answer; 10000 */
    uint64_t bytes;   /* of a client: memory that it shares, and memory allocated for it; 1 GiB */
} nnrt_remote_limits;

/* Zeroed members other than path have their defaults. */
typedef struct nnrt_remote_serve_desc {
    const char *path;      /* of the socket, at most 107 characters */
    const char *device;    /* "auto:npu0,npu1"; NULL: as nnrt_device_choose, which is "auto" with nnrt.h */
    uint32_t mode;         /* the socket's permissions; 0 = 0600 */
    const uint32_t *users; /* user ids (uid) that may connect; none: only the uid of this process */
    uint32_t userCount;
    nnrt_remote_limits limits;
    const nnrt_log *log; /* NULL: no log. Called from all threads */
} nnrt_remote_serve_desc;

typedef struct nnrt_remote_server nnrt_remote_server;

/* Creates a server: the socket, at which it listens. A stale socket file, to which no process listens, is replaced.
   DEVICE_BUSY: another process listens at the path. INVALID_PATH: the path exists and is not a socket. Runs of clients
   with another uid use copies of their inputs: such a client could otherwise change data after a kernel validated it.
   */
NNRT_API NNRT_ReturnCode nnrt_remote_serve_open(nnrt_remote_server **server, const nnrt_remote_serve_desc *desc,
                                                nnrt_error *error);
/* Serves until nnrt_remote_serve_stop is called. Then it removes the socket's file, waits for the runs in progress, and
   disconnects all clients. */
NNRT_API NNRT_ReturnCode nnrt_remote_serve_run(nnrt_remote_server *server, nnrt_error *error);
/* Ends nnrt_remote_serve_run; callable from any thread and from a signal handler. */
NNRT_API void nnrt_remote_serve_stop(nnrt_remote_server *server);
/* Frees a server that does not run. NULL is fine. */
NNRT_API void nnrt_remote_serve_close(nnrt_remote_server *server);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_REMOTE_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_REMOTE_IMPLEMENTED)
#define NNRT_REMOTE_IMPLEMENTED

#include "../nnrt_hal.h" /* its implementation, if only its declarations were included so far */

#if !NNRT_REMOTE

NNRT_API NNRT_ReturnCode nnrt_remote_register(nnrt_remote **remote, const char *text, nnrt_error *error)
{
    (void)text;
    if (remote != NULL)
        *remote = NULL;
    return nnrt_error_set(error, NNRT_NOT_SUPPORT, "remote devices need Linux");
}

NNRT_API const char *nnrt_remote_name(const nnrt_remote *remote)
{
    (void)remote;
    return "";
}

NNRT_API nnrt_remote_traffic nnrt_remote_get_traffic(nnrt_remote *remote)
{
    nnrt_remote_traffic none;
    (void)remote;
    memset(&none, 0, sizeof(none));
    return none;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>
#ifndef SO_PEERCRED
#include <asm/socket.h>
#endif

#if NNRT_THREADS
#include <pthread.h>
#define NNRTI_REMOTE_LOCK(m) (void)pthread_mutex_lock(m)
#define NNRTI_REMOTE_UNLOCK(m) (void)pthread_mutex_unlock(m)
#else
#define NNRTI_REMOTE_LOCK(m) ((void)0)
#define NNRTI_REMOTE_UNLOCK(m) ((void)0)
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>remote_wire */

#ifndef __cplusplus
int memfd_create(const char *name, unsigned int flags); /* the system declares it only with _GNU_SOURCE */
#endif

/* Values of Linux constants that strict C99 builds do not declare. */
enum {
    NNRTI_REMOTE_MEMFD = 1 | 2, /* MFD_CLOEXEC, MFD_ALLOW_SEALING */
    NNRTI_REMOTE_ADD_SEALS = 1033,
    NNRTI_REMOTE_GET_SEALS = 1034,
    NNRTI_REMOTE_SEAL_SEAL = 1,
    NNRTI_REMOTE_SEAL_SHRINK = 2,
    NNRTI_REMOTE_SEAL_GROW = 4,
    NNRTI_REMOTE_SEAL_WRITE = 8,
    NNRTI_REMOTE_KIND = 0170000, /* S_IFMT, S_IFSOCK */
    NNRTI_REMOTE_SOCKET = 0140000
};

typedef struct nnrti_remote_user {
    int32_t process;
    uint32_t user, group;
} nnrti_remote_user;

enum {
    NNRTI_REMOTE_HELLO = 1,
    NNRTI_REMOTE_STATUS,
    NNRTI_REMOTE_SUPPORT,
    NNRTI_REMOTE_PREPARE,
    NNRTI_REMOTE_CACHE,
    NNRTI_REMOTE_OFFLINE,
    NNRTI_REMOTE_EXPORT,
    NNRTI_REMOTE_IO,
    NNRTI_REMOTE_RANGES,
    NNRTI_REMOTE_HELD,
    NNRTI_REMOTE_RUN,
    NNRTI_REMOTE_RELEASE,
    NNRTI_REMOTE_MAP,
    NNRTI_REMOTE_UNMAP
};

#define NNRTI_REMOTE_MAGIC 0x52524E4Eu
#define NNRTI_REMOTE_ANSWER 0x80000000u
#define NNRTI_REMOTE_MIN_MESSAGE 4096u               /* bytes: every receiver accepts messages up to this size */
#define NNRTI_REMOTE_MAX_MESSAGE ((uint32_t)1 << 24) /* bytes: largest message that a client accepts */
#define NNRTI_REMOTE_FOREVER INT64_MAX

typedef struct nnrti_remote_head {
    uint32_t magic;
    uint16_t version, layout;
    uint32_t kind;
    int32_t code;
    uint32_t length, fds;
    uint64_t serial;
} nnrti_remote_head;

typedef char nnrti_remote_fits[sizeof(nnrti_remote_head) == 32 && sizeof(nnrt_dims) == 36 ? 1 : -1];

static int64_t nnrti_remote_now(void) /* milliseconds */
{
    struct timeval t;
    (void)gettimeofday(&t, NULL);
    return (int64_t)t.tv_sec * 1000 + (int64_t)t.tv_usec / 1000;
}

static void nnrti_remote_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* Message writer: `full` is sticky. With data NULL it only counts the bytes. */
typedef struct nnrti_remote_writer {
    uint8_t *data;
    size_t room, used;
    bool full;
} nnrti_remote_writer;

/* Reserves `bytes` and returns their address; NULL: no room, or only counting. */
static uint8_t *nnrti_remote_room(nnrti_remote_writer *w, size_t bytes)
{
    uint8_t *at = w->data != NULL ? w->data + w->used : NULL;
    w->full = w->full || bytes > w->room - w->used;
    if (w->full)
        return NULL;
    w->used += bytes;
    return at;
}

/* Appends bytes and zero padding up to a multiple of 4. */
static void nnrti_remote_put(nnrti_remote_writer *w, const void *data, size_t bytes)
{
    const size_t pad = (4 - bytes % 4) % 4;
    uint8_t *at = bytes <= SIZE_MAX - pad ? nnrti_remote_room(w, bytes + pad) : NULL;
    if (at == NULL)
        return;
    if (bytes > 0)
        memcpy(at, data, bytes);
    memset(at + bytes, 0, pad);
}

static void nnrti_remote_put_u32(nnrti_remote_writer *w, uint32_t value)
{
    nnrti_remote_put(w, &value, sizeof(value));
}

static void nnrti_remote_put_i32(nnrti_remote_writer *w, int32_t value)
{
    nnrti_remote_put(w, &value, sizeof(value));
}

static void nnrti_remote_put_u64(nnrti_remote_writer *w, uint64_t value)
{
    nnrti_remote_put(w, &value, sizeof(value));
}

static void nnrti_remote_put_text(nnrti_remote_writer *w, const char *text)
{
    const size_t bytes = text != NULL ? strlen(text) + 1 : 1;
    nnrti_remote_put_u32(w, (uint32_t)bytes);
    nnrti_remote_put(w, text != NULL ? text : "", bytes);
    w->full = w->full || bytes > UINT32_MAX / 2;
}

/* Message reader: `bad` is sticky, and every read after it returns zeros. */
typedef struct nnrti_remote_reader {
    const uint8_t *at;
    size_t left;
    bool bad;
} nnrti_remote_reader;

/* Returns the next bytes in place and skips their padding to a multiple of 4; NULL: too few bytes left. */
static const uint8_t *nnrti_remote_take(nnrti_remote_reader *r, size_t bytes)
{
    const size_t pad = (4 - bytes % 4) % 4;
    const uint8_t *at = r->at;
    r->bad = r->bad || bytes > r->left || pad > r->left - bytes;
    if (r->bad)
        return NULL;
    r->at += bytes + pad;
    r->left -= bytes + pad;
    return at;
}

static void nnrti_remote_get(nnrti_remote_reader *r, void *to, size_t bytes)
{
    const uint8_t *at = nnrti_remote_take(r, bytes);
    if (at != NULL)
        memcpy(to, at, bytes);
    else
        memset(to, 0, bytes);
}

static uint32_t nnrti_remote_get_u32(nnrti_remote_reader *r)
{
    uint32_t value;
    nnrti_remote_get(r, &value, sizeof(value));
    return value;
}

static int32_t nnrti_remote_get_i32(nnrti_remote_reader *r)
{
    int32_t value;
    nnrti_remote_get(r, &value, sizeof(value));
    return value;
}

static uint64_t nnrti_remote_get_u64(nnrti_remote_reader *r)
{
    uint64_t value;
    nnrti_remote_get(r, &value, sizeof(value));
    return value;
}

/* Returns a TEXT in place; "" if it is malformed (too short, or without a terminating 0). */
static const char *nnrti_remote_get_text(nnrti_remote_reader *r)
{
    const uint32_t bytes = nnrti_remote_get_u32(r);
    const uint8_t *at = nnrti_remote_take(r, bytes);
    r->bad = r->bad || bytes == 0 || at[bytes - 1] != 0;
    return r->bad ? "" : (const char *)at;
}

/* Copies the error from the other end into `error`, which may be NULL or hold an earlier error (the first one wins). */
static void nnrti_remote_get_error(nnrti_remote_reader *r, NNRT_ReturnCode code, nnrt_error *error)
{
    const int32_t node = nnrti_remote_get_i32(r), tensor = nnrti_remote_get_i32(r);
    const char *text = nnrti_remote_get_text(r);
    const bool first = error != NULL && error->code == NNRT_SUCCESS;
    if (r->bad || *text == '\0')
        return; /* the runtime then sets its own message for the code */
    (void)nnrt_error_set(error, code, "%s", text);
    if (first) {
        error->node = node;
        error->tensor = tensor;
    }
}

/* One end of a connection. */
typedef struct nnrti_remote_channel {
    int fd; /* -1: not connected */
    nnrti_remote_writer out;
    uint8_t *in;
    uint32_t most; /* maximum bytes of a message: size of in and out */
    nnrt_remote_traffic traffic;
} nnrti_remote_channel;

/* Reallocates the message buffers for messages of up to `most` bytes; their contents are lost. */
static bool nnrti_remote_channel_size(nnrti_remote_channel *l, uint32_t most)
{
    if (l->in != NULL && l->out.data != NULL && most == l->most)
        return true;
    nnrt_free(NULL, l->in, l->most);
    nnrt_free(NULL, l->out.data, l->most);
    memset(&l->out, 0, sizeof(l->out));
    l->most = most;
    l->out.room = most;
    l->in = most > 0 ? (uint8_t *)nnrt_alloc(NULL, most) : NULL;
    l->out.data = most > 0 ? (uint8_t *)nnrt_alloc(NULL, most) : NULL;
    return l->in != NULL && l->out.data != NULL;
}

static void nnrti_remote_channel_end(nnrti_remote_channel *l)
{
    nnrti_remote_close(&l->fd);
    (void)nnrti_remote_channel_size(l, 0);
}

/* Waits until the socket is readable or writable. */
static NNRT_ReturnCode nnrti_remote_wait(int fd, bool write, int64_t until)
{
    for (;;) {
        const int64_t left = until == NNRTI_REMOTE_FOREVER ? 1000 : until - nnrti_remote_now();
        struct pollfd p;
        int ready;
        p.fd = fd;
        p.events = write ? POLLOUT : POLLIN;
        p.revents = 0;
        ready = poll(&p, 1, left < 0 ? 0 : left > 1000 ? 1000 : (int)left);
        if (ready > 0)
            return NNRT_SUCCESS;
        if (ready < 0 && errno != EINTR)
            return NNRT_SERVICE_ERROR;
        if (until != NNRTI_REMOTE_FOREVER && nnrti_remote_now() >= until)
            return NNRT_TIME_OUT;
    }
}

/* Reads exactly `bytes`. fd not NULL: receives a descriptor sent with them; closes all further descriptors. */
static NNRT_ReturnCode nnrti_remote_read(nnrti_remote_channel *l, void *to, size_t bytes, int *fd, int64_t until)
{
    uint8_t *at = (uint8_t *)to;
    while (bytes > 0) {
        union {
            struct cmsghdr head;
            uint8_t room[64];
        } control;
        struct iovec part;
        struct msghdr m;
        struct cmsghdr *c;
        ssize_t got;
        NNRT_ReturnCode code = nnrti_remote_wait(l->fd, false, until);
        if (code != NNRT_SUCCESS)
            return code;
        memset(&m, 0, sizeof(m));
        part.iov_base = at;
        part.iov_len = bytes;
        m.msg_iov = &part;
        m.msg_iovlen = 1;
        if (fd != NULL) { /* otherwise the kernel closes the descriptors */
            m.msg_control = control.room;
            m.msg_controllen = CMSG_LEN(sizeof(int));
        }
        got = recvmsg(l->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
            continue;
        c = got >= 0 && fd != NULL ? CMSG_FIRSTHDR(&m) : NULL;
        if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
            c->cmsg_len >= CMSG_LEN(sizeof(int))) {
            int one;
            memcpy(&one, CMSG_DATA(c), sizeof(one));
            if (*fd < 0)
                *fd = one;
            else
                nnrti_remote_close(&one);
        }
        if (got <= 0)
            return NNRT_SERVICE_ERROR;
        at += got;
        bytes -= (size_t)got;
        l->traffic.received += (uint64_t)got;
    }
    return NNRT_SUCCESS;
}

/* Sends a frame with the contents of `out` as its payload, and fd (-1: none). */
static NNRT_ReturnCode nnrti_remote_send(nnrti_remote_channel *l, nnrti_remote_head *head, int fd, int64_t until)
{
    size_t done = 0;
    head->magic = NNRTI_REMOTE_MAGIC;
    head->version = NNRT_REMOTE_VERSION;
    head->layout = NNRT_LAYOUT;
    head->length = (uint32_t)l->out.used;
    head->fds = fd >= 0;
    while (done < sizeof(*head) + l->out.used) {
        union {
            struct cmsghdr head;
            uint8_t room[CMSG_SPACE(sizeof(int))];
        } control;
        struct iovec parts[2];
        struct msghdr m;
        const size_t first = done < sizeof(*head) ? sizeof(*head) - done : 0;
        const size_t behind = done < sizeof(*head) ? 0 : done - sizeof(*head);
        ssize_t sent;
        NNRT_ReturnCode code = nnrti_remote_wait(l->fd, true, until);
        if (code != NNRT_SUCCESS)
            return code;
        memset(&m, 0, sizeof(m));
        parts[0].iov_base = (uint8_t *)head + (sizeof(*head) - first);
        parts[0].iov_len = first;
        parts[1].iov_base = l->out.data + behind;
        parts[1].iov_len = l->out.used - behind;
        m.msg_iov = first > 0 ? parts : parts + 1;
        m.msg_iovlen = first > 0 ? 2 : 1;
        if (fd >= 0 && done == 0) {
            memset(&control, 0, sizeof(control));
            m.msg_control = control.room;
            m.msg_controllen = sizeof(control.room);
            control.head.cmsg_level = SOL_SOCKET;
            control.head.cmsg_type = SCM_RIGHTS;
            control.head.cmsg_len = CMSG_LEN(sizeof(int));
            memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
        }
        sent = sendmsg(l->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
            continue;
        if (sent <= 0)
            return NNRT_SERVICE_ERROR;
        done += (size_t)sent;
        l->traffic.sent += (uint64_t)sent;
    }
    l->traffic.descriptors += head->fds;
    return NNRT_SUCCESS;
}

/* Receives a frame: its header, the payload in l->in, and a descriptor, which the caller owns whatever the return code
   is. INVALID_PARAMETER: the frame violates the protocol. */
static NNRT_ReturnCode nnrti_remote_receive(nnrti_remote_channel *l, nnrti_remote_head *head, int *fd, int64_t until)
{
    NNRT_ReturnCode code;
    *fd = -1;
    if ((code = nnrti_remote_read(l, head, sizeof(*head), fd, until)) != NNRT_SUCCESS)
        return code;
    l->traffic.descriptors += *fd >= 0;
    if (head->magic != NNRTI_REMOTE_MAGIC || head->version != NNRT_REMOTE_VERSION || head->layout != NNRT_LAYOUT ||
        head->length > l->most || head->fds != (*fd >= 0 ? 1u : 0u))
        return NNRT_INVALID_PARAMETER;
    return nnrti_remote_read(l, l->in, head->length, NULL, until);
}

/* Creates shared memory (memfd), sealed against resizing; -1: failure. */
static int nnrti_remote_memory(uint64_t bytes)
{
    int fd = memfd_create("nnrt", NNRTI_REMOTE_MEMFD);
    if (fd >= 0 && ((off_t)bytes <= 0 || (uint64_t)(off_t)bytes != bytes || lseek(fd, (off_t)bytes - 1, SEEK_SET) < 0 ||
                    write(fd, "", 1) != 1 ||
                    fcntl(fd, NNRTI_REMOTE_ADD_SEALS, NNRTI_REMOTE_SEAL_SHRINK | NNRTI_REMOTE_SEAL_GROW) != 0))
        nnrti_remote_close(&fd);
    return fd;
}

/* Maps memory that has the required seals and at least `bytes` bytes; NULL: seals or bytes are missing, or mmap failed.
   write: mapped shared and writable; otherwise private and read-only. */
static uint8_t *nnrti_remote_map(int fd, uint64_t bytes, bool write)
{
    const int want = write ? NNRTI_REMOTE_SEAL_SHRINK : NNRTI_REMOTE_SEAL_SHRINK | NNRTI_REMOTE_SEAL_WRITE;
    struct stat s;
    void *map;
    const int seals = fd >= 0 ? fcntl(fd, NNRTI_REMOTE_GET_SEALS) : -1;
    if (seals < 0 || (seals & want) != want || fstat(fd, &s) != 0 || bytes == 0 || bytes > (uint64_t)s.st_size ||
        (size_t)bytes != bytes)
        return NULL;
    map =
        mmap(NULL, (size_t)bytes, write ? PROT_READ | PROT_WRITE : PROT_READ, write ? MAP_SHARED : MAP_PRIVATE, fd, 0);
    return map != MAP_FAILED ? (uint8_t *)map : NULL;
}

/* A PARCEL: two parts in one memfd that is sealed against writing. */
typedef struct nnrti_remote_parcel {
    int fd;
    uint64_t first, second; /* bytes */
} nnrti_remote_parcel;

/* Computes the offset of the second part and the total bytes; false: they overflow. */
static bool nnrti_remote_parcel_bytes(const nnrti_remote_parcel *p, size_t *second, size_t *bytes)
{
    size_t at;
    if (p->first > SIZE_MAX / 4 || p->second > SIZE_MAX / 4)
        return false;
    at = ((size_t)p->first + 63) / 64 * 64;
    *second = at;
    *bytes = at + (size_t)p->second;
    return true;
}

/* Creates the memory of a parcel, mapped writable; the caller fills it and then seals it. */
static uint8_t *nnrti_remote_parcel_make(nnrti_remote_parcel *p, size_t *second, size_t *bytes)
{
    uint8_t *map = NULL;
    p->fd = -1;
    if (nnrti_remote_parcel_bytes(p, second, bytes) && (p->fd = nnrti_remote_memory(*bytes)) >= 0)
        map = nnrti_remote_map(p->fd, *bytes, true);
    if (map == NULL)
        nnrti_remote_close(&p->fd);
    return map;
}

static bool nnrti_remote_parcel_seal(nnrti_remote_parcel *p, uint8_t *map, size_t bytes)
{
    (void)munmap(map, bytes);
    if (fcntl(p->fd, NNRTI_REMOTE_ADD_SEALS, NNRTI_REMOTE_SEAL_WRITE | NNRTI_REMOTE_SEAL_SEAL) == 0)
        return true;
    nnrti_remote_close(&p->fd);
    return false;
}

static void nnrti_remote_put_parcel(nnrti_remote_writer *w, const nnrti_remote_parcel *p)
{
    nnrti_remote_put_u64(w, p->first);
    nnrti_remote_put_u64(w, p->second);
}

/* Maps a received parcel; *second: offset of its second part. */
static const uint8_t *nnrti_remote_get_parcel(nnrti_remote_reader *r, nnrti_remote_parcel *p, int fd, size_t *second,
                                              size_t *bytes)
{
    p->fd = fd;
    p->first = nnrti_remote_get_u64(r);
    p->second = nnrti_remote_get_u64(r);
    return !r->bad && nnrti_remote_parcel_bytes(p, second, bytes) ? nnrti_remote_map(fd, *bytes, false) : NULL;
}

/* Writes buffers as the first part of a parcel. to NULL: computes *bytes only. */
static NNRT_ReturnCode nnrti_remote_put_buffers(const NNRT_SharedBuffer *buffers, uint32_t count, uint8_t *to,
                                                size_t *bytes, nnrt_error *error)
{
    size_t at;
    bool fits = nnrt_mul_size((size_t)count + 1, sizeof(uint32_t), bytes);
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (to != NULL)
        memcpy(to, &count, sizeof(count));
    for (uint32_t i = 0; i < count && fits && code == NNRT_SUCCESS; i++) {
        const NNRT_SharedBuffer *b = &buffers[i];
        void *block = NULL;
        fits = nnrt_add_size(*bytes, 63, &at) && nnrt_add_size(at / 64 * 64, b->dataSize, bytes);
        if (!fits || (code = nnrt_buffer_map(b, false, &block, error)) != NNRT_SUCCESS)
            continue;
        if (to != NULL)
            memcpy(to + ((size_t)i + 1) * sizeof(uint32_t), &b->dataSize, sizeof(b->dataSize));
        if (to != NULL && b->dataSize > 0)
            memcpy(to + at / 64 * 64, (const uint8_t *)block + b->offset, b->dataSize);
        nnrt_buffer_unmap(b, block);
    }
    return fits ? code : nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "the size of the buffers overflows");
}

/* Inverse of nnrti_remote_put_buffers: buffers[count] refer to the memory of the parcel. buffers NULL: *count only. */
static bool nnrti_remote_get_buffers(const uint8_t *from, size_t bytes, NNRT_SharedBuffer *buffers, uint32_t *count)
{
    size_t at;
    if (bytes < sizeof(*count))
        return false;
    memcpy(count, from, sizeof(*count));
    if (*count > bytes / sizeof(uint32_t) - 1)
        return false;
    at = ((size_t)*count + 1) * sizeof(uint32_t);
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t size;
        memcpy(&size, from + ((size_t)i + 1) * sizeof(uint32_t), sizeof(size));
        if (!nnrt_add_size(at, 63, &at))
            return false;
        at = at / 64 * 64;
        if (at > bytes || size > bytes - at)
            return false;
        if (buffers != NULL) {
            memset(&buffers[i], 0, sizeof(buffers[i]));
            buffers[i].fd = -1;
            buffers[i].bufferSize = buffers[i].dataSize = size;
            buffers[i].addr = (void *)(uintptr_t)(from + at);
        }
        at += size;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>remote_client */

/* Shared memory: a buffer of AllocateBuffer, which runs use in place, or the staging buffer for copies of other data.
   */
typedef struct nnrti_remote_buffer {
    struct nnrti_remote_buffer *next;
    NNRT_SharedBuffer block;
    uint8_t *map;
    uint32_t id;
    uint32_t connection; /* number of the connection in which the server has mapped it; 0: none */
} nnrti_remote_buffer;

struct nnrt_remote {
    NNRT_DeviceVtbl table;
    NNRT_PreparedModelVtbl model;
    char name[64], there[64], vendor[64]; /* there: the device's name in the server's process */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    uint32_t major, minor, abilities, timeLimit;
    NNRT_DeviceType type;
#if NNRT_THREADS
    pthread_mutex_t mutex; /* of all members below */
#endif
    nnrti_remote_channel line;
    uint64_t serial;
    uint32_t ids; /* last buffer id */
    nnrti_remote_buffer *buffers, *staging;
};

typedef struct nnrti_remote_model {
    NNRT_PreparedModel base; /* first: the handle is the address of this struct */
    NNRT_PreparedModelVtbl table;
    nnrt_remote *remote;
    nnrti_remote_parcel parcel; /* what it was prepared from, to prepare it again after a reconnect */
    uint32_t kind;              /* request that prepares it: PREPARE, CACHE or OFFLINE */
    uint32_t id, connection;    /* its id in the server, valid in this connection */
    uint32_t slots;             /* optional slots of the server's prepared model: bits in the order of
                                   NNRTI_REMOTE_SLOTS */
    nnrt_allocator allocator;
    bool allocated;
    NNRT_SharedBuffer *cache; /* result of ExportModelCache; NULL: not exported */
    uint32_t cacheCount;
    const uint8_t *cacheMap;
    size_t cacheBytes;
} nnrti_remote_model;

/* Closes the connection; the server then releases all that this client holds. */
static void nnrti_remote_hang_up(nnrt_remote *r)
{
    nnrti_remote_close(&r->line.fd);
}

/* Sets the error for a connection that was just lost. */
static NNRT_ReturnCode nnrti_remote_lost(const nnrt_remote *r, NNRT_ReturnCode code, nnrt_error *error)
{
    if (code == NNRT_TIME_OUT)
        return nnrt_error_set(error, code, "the driver at '%s' has not answered for %u milliseconds", r->path,
                              r->timeLimit);
    if (code == NNRT_INVALID_PARAMETER)
        return nnrt_error_set(error, NNRT_SERVICE_ERROR, "the driver at '%s' sent an answer that violates the protocol",
                              r->path);
    return nnrt_error_set(error, NNRT_SERVICE_ERROR, "the driver at '%s' closed the connection", r->path);
}

static nnrti_remote_writer *nnrti_remote_write(nnrt_remote *r)
{
    r->line.out.used = 0;
    r->line.out.full = false;
    return &r->line.out;
}

/* Sends the request in `out`, with fd (-1: none), and waits for the answer. *back: receives the descriptor of the
   answer, owned by the caller; back NULL: an answer with a descriptor is an error. */
static NNRT_ReturnCode nnrti_remote_call(nnrt_remote *r, uint32_t kind, int fd, int *back, nnrti_remote_reader *answer,
                                         nnrt_error *error)
{
    const int64_t until = r->timeLimit > 0 ? nnrti_remote_now() + r->timeLimit : NNRTI_REMOTE_FOREVER;
    nnrti_remote_head head;
    NNRT_ReturnCode code;
    int came = -1;
    if (back != NULL)
        *back = -1;
    memset(answer, 0, sizeof(*answer));
    if (r->line.out.full)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "the request is too large: the driver at '%s' accepts messages of at most %u bytes",
                              r->path, r->line.most);
    memset(&head, 0, sizeof(head));
    head.kind = kind;
    head.serial = ++r->serial;
    r->line.traffic.calls++;
    if ((code = nnrti_remote_send(&r->line, &head, fd, until)) != NNRT_TIME_OUT)
        code = nnrti_remote_receive(&r->line, &head, &came, until); /* after a failed send, too: a server that refuses
                                                                       the client may have sent the reason */
    if (code == NNRT_SUCCESS && (head.kind != (kind | NNRTI_REMOTE_ANSWER) || head.serial != r->serial ||
                                 (came >= 0 && (back == NULL || head.code != NNRT_SUCCESS))))
        code = NNRT_INVALID_PARAMETER;
    if (code != NNRT_SUCCESS) {
        nnrti_remote_close(&came);
        nnrti_remote_hang_up(r);
        if (code == NNRT_INVALID_PARAMETER && head.magic == NNRTI_REMOTE_MAGIC &&
            (head.version != NNRT_REMOTE_VERSION || head.layout != NNRT_LAYOUT))
            return nnrt_error_set(error, NNRT_SERVICE_ERROR,
                                  "the driver at '%s' has version %u and layout %u, expected %u and %u", r->path,
                                  (uint32_t)head.version, (uint32_t)head.layout, NNRT_REMOTE_VERSION, NNRT_LAYOUT);
        return nnrti_remote_lost(r, code, error);
    }
    answer->at = r->line.in;
    answer->left = head.length;
    if (head.code != NNRT_SUCCESS)
        nnrti_remote_get_error(answer, head.code, error);
    else if (back != NULL)
        *back = came;
    return head.code;
}

/* Checks that an answer has been read to its end and not past it; otherwise the call fails with SERVICE_ERROR. */
static NNRT_ReturnCode nnrti_remote_check_answer_end(nnrt_remote *r, NNRT_ReturnCode code,
                                                     const nnrti_remote_reader *answer, nnrt_error *error)
{
    if (r->line.fd < 0 || (!answer->bad && answer->left == 0))
        return code;
    nnrti_remote_hang_up(r);
    return nnrti_remote_lost(r, NNRT_INVALID_PARAMETER, error);
}

static bool nnrti_remote_same_name(char *known, const char *found)
{
    const size_t bytes = strlen(found) + 1;
    if (*known == '\0' && bytes > 1 && bytes <= 64)
        memcpy(known, found, bytes);
    return strcmp(known, found) == 0;
}

/* HELLO: checks that the same device is served and adopts the server's message size. */
static NNRT_ReturnCode nnrti_remote_hello(nnrt_remote *r, nnrt_error *error)
{
    nnrti_remote_reader a;
    uint32_t most, major, minor, abilities;
    NNRT_DeviceType type;
    const char *name, *vendor;
    NNRT_ReturnCode code;
    bool same;
    r->serial = 0;
    (void)nnrti_remote_write(r);
    code = nnrti_remote_call(r, NNRTI_REMOTE_HELLO, -1, NULL, &a, error);
    if (code != NNRT_SUCCESS) {
        nnrti_remote_hang_up(r);
        return code;
    }
    most = nnrti_remote_get_u32(&a);
    (void)nnrti_remote_take(&a, 16); /* models, buffers, bytes: the server enforces them */
    major = nnrti_remote_get_u32(&a);
    minor = nnrti_remote_get_u32(&a);
    type = nnrti_remote_get_i32(&a);
    abilities = nnrti_remote_get_u32(&a);
    name = nnrti_remote_get_text(&a);
    vendor = nnrti_remote_get_text(&a);
    a.bad = a.bad || most < NNRTI_REMOTE_MIN_MESSAGE;
    if ((code = nnrti_remote_check_answer_end(r, code, &a, error)) != NNRT_SUCCESS)
        return code;
    same = nnrti_remote_same_name(r->there, name) && nnrti_remote_same_name(r->vendor, vendor) &&
           (r->line.traffic.connections == 0 || (r->major == major && r->minor == minor));
    if (!same) {
        code =
            nnrt_error_set(error, NNRT_SERVICE_ERROR, "the driver at '%s' serves another device than before", r->path);
        nnrti_remote_hang_up(r);
        return code;
    }
    r->major = major;
    r->minor = minor;
    r->type = type;
    r->abilities = abilities;
    if (!nnrti_remote_channel_size(&r->line, most < NNRTI_REMOTE_MAX_MESSAGE ? most : NNRTI_REMOTE_MAX_MESSAGE)) {
        nnrti_remote_hang_up(r);
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "out of memory for messages of %u bytes", most);
    }
    r->line.traffic.connections++;
    return NNRT_SUCCESS;
}

/* Connects if there is no connection, or if the server closed the last one. */
static NNRT_ReturnCode nnrti_remote_connect(nnrt_remote *r, nnrt_error *error)
{
    struct sockaddr_un address;
    if (r->line.fd >= 0 && nnrti_remote_wait(r->line.fd, false, 0) != NNRT_TIME_OUT)
        nnrti_remote_hang_up(r); /* readable while idle: the server closed it, because it never sends unasked */
    if (r->line.fd >= 0)
        return NNRT_SUCCESS;
    if (!nnrti_remote_channel_size(&r->line, NNRTI_REMOTE_MIN_MESSAGE))
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "out of memory for a connection");
    memset(&address, 0, sizeof(address));
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, r->path, sizeof(r->path));
    r->line.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (r->line.fd < 0 || connect(r->line.fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        nnrti_remote_hang_up(r);
        return nnrt_error_set(error, NNRT_SERVICE_ERROR,
                              "no server listens at '%s'; start one: nnrt serve --socket PATH --device NAME", r->path);
    }
    return nnrti_remote_hello(r, error);
}

/* ---- contents of parcels ---- */

/* A bump allocator in config->buffer, or one that counts the bytes such a buffer needs. Memory is reused only after all
   blocks are freed. */
typedef struct nnrti_remote_heap {
    nnrt_allocator allocator;
    const nnrt_allocator *from; /* allocator behind the counting mode */
    uint8_t *base;              /* NULL: counting mode */
    size_t size, used, peak, live;
} nnrti_remote_heap;

static void *nnrti_remote_heap_alloc(void *user, size_t bytes, size_t alignment)
{
    nnrti_remote_heap *h = (nnrti_remote_heap *)user;
    void *block;
    size_t end;
    (void)alignment; /* at most NNRT_ALIGNMENT, the alignment of every block */
    if (!nnrt_add_size(h->used, bytes, &end) || !nnrt_add_size(end, NNRT_ALIGNMENT - 1, &end))
        return NULL;
    end -= end % NNRT_ALIGNMENT;
    if (h->base != NULL && end > h->size)
        return NULL;
    block = h->base != NULL ? h->base + h->used : nnrt_alloc(h->from, bytes);
    if (block == NULL)
        return NULL;
    h->used = end;
    h->peak = end > h->peak ? end : h->peak;
    h->live++;
    return block;
}

static void nnrti_remote_heap_free(void *user, void *block, size_t bytes)
{
    nnrti_remote_heap *h = (nnrti_remote_heap *)user;
    if (h->base == NULL)
        nnrt_free(h->from, block, bytes);
    if (--h->live == 0)
        h->used = 0;
}

/* Returns the allocator that config requests: its own, one in its buffer, or, for counting, its own through the
   counter. */
static const nnrt_allocator *nnrti_remote_heap_of(nnrti_remote_heap *h, const NNRT_ModelConfig *config, bool count)
{
    memset(h, 0, sizeof(*h));
    if (config->buffer == NULL && !count)
        return config->allocator;
    h->allocator.alloc = nnrti_remote_heap_alloc;
    h->allocator.free = nnrti_remote_heap_free;
    h->allocator.user = h;
    h->from = config->allocator;
    h->base = count ? NULL : (uint8_t *)config->buffer;
    h->size = config->bufferBytes;
    return &h->allocator;
}

static void nnrti_remote_put_dims(nnrti_remote_writer *w, const nnrt_dims *dims)
{
    nnrti_remote_put(w, dims, sizeof(*dims));
}

static void nnrti_remote_put_config(nnrti_remote_writer *w, const NNRT_ModelConfig *c)
{
    nnrti_remote_put_u32(w, c->enableFloat16 ? 1 : 0);
    nnrti_remote_put_i32(w, c->mode);
    nnrti_remote_put_i32(w, c->priority);
    nnrti_remote_put_u32(w, c->threads);
    nnrti_remote_put_u32(w, c->maxTrips);
    nnrti_remote_put_u32(w, c->inputDims.count);
    for (uint32_t i = 0; i < c->inputDims.count; i++)
        nnrti_remote_put_dims(w, &c->inputDims.data[i]);
    nnrti_remote_put_u32(w, c->bounds.count);
    for (uint32_t i = 0; i < c->bounds.count; i++) {
        nnrti_remote_put_text(w, c->bounds.data[i].tensor);
        nnrti_remote_put_dims(w, &c->bounds.data[i].most);
    }
    nnrti_remote_put_u32(w, c->extensions.count);
    for (uint32_t i = 0; i < c->extensions.count; i++) {
        const NNRT_Extension *e = &c->extensions.data[i];
        nnrti_remote_put_text(w, e->name);
        nnrti_remote_put_u32(w, e->data != NULL ? e->size : 0);
        nnrti_remote_put(w, e->data, e->data != NULL ? e->size : 0);
    }
}

static NNRT_ReturnCode nnrti_remote_no_memory(nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "out of shared memory for the driver");
}

/* Computes the bytes of a parcel's second part: the configuration. Fails if a list has entries but no data. */
static NNRT_ReturnCode nnrti_remote_config_bytes(const NNRT_ModelConfig *c, nnrti_remote_parcel *p)
{
    nnrti_remote_writer w;
    if ((c->inputDims.count > 0 && c->inputDims.data == NULL) || (c->bounds.count > 0 && c->bounds.data == NULL) ||
        (c->extensions.count > 0 && c->extensions.data == NULL))
        return nnrt_error_set(c->error, NNRT_NULL_PTR, "a list of the configuration has entries, but its data is NULL");
    memset(&w, 0, sizeof(w));
    w.room = SIZE_MAX / 4;
    nnrti_remote_put_config(&w, c);
    p->second = w.used;
    return w.full ? nnrti_remote_no_memory(c->error) : NNRT_SUCCESS;
}

/* Fills a parcel behind its first part, and seals it. */
static NNRT_ReturnCode nnrti_remote_parcel_end(nnrti_remote_parcel *p, uint8_t *map, size_t second, size_t bytes,
                                               const NNRT_ModelConfig *c)
{
    nnrti_remote_writer w;
    memset(&w, 0, sizeof(w));
    w.data = map + second;
    w.room = bytes - second;
    nnrti_remote_put_config(&w, c);
    return nnrti_remote_parcel_seal(p, map, bytes) ? NNRT_SUCCESS : nnrti_remote_no_memory(c->error);
}

static NNRT_ReturnCode nnrti_remote_wrap_model(nnrti_remote_parcel *p, const NNRT_Model *model,
                                               const NNRT_ModelConfig *c, const nnrt_allocator *allocator)
{
    nnrt_save_desc desc;
    size_t first, second, bytes;
    uint8_t *map;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = allocator;
    p->fd = -1;
    if ((uintptr_t)c->buffer % NNRT_ALIGNMENT != 0)
        return nnrt_error_set(c->error, NNRT_INVALID_PARAMETER,
                              "the configuration's buffer must be aligned to %d bytes", NNRT_ALIGNMENT);
    if ((code = nnrti_remote_config_bytes(c, p)) != NNRT_SUCCESS ||
        (code = nnrt_model_save_memory(model, &desc, NULL, 0, &first, c->error)) != NNRT_SUCCESS)
        return code;
    p->first = first;
    if ((map = nnrti_remote_parcel_make(p, &second, &bytes)) == NULL)
        return nnrti_remote_no_memory(c->error);
    code = nnrt_model_save_memory(model, &desc, map, first, &first, c->error);
    if (code == NNRT_SUCCESS)
        return nnrti_remote_parcel_end(p, map, second, bytes, c);
    (void)munmap(map, bytes);
    nnrti_remote_close(&p->fd);
    return code;
}

static NNRT_ReturnCode nnrti_remote_wrap_buffers(nnrti_remote_parcel *p, const NNRT_SharedBuffer *buffers,
                                                 uint32_t count, const NNRT_ModelConfig *c)
{
    size_t first, second, bytes;
    uint8_t *map;
    NNRT_ReturnCode code;
    p->fd = -1;
    if ((code = nnrti_remote_config_bytes(c, p)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_remote_put_buffers(buffers, count, NULL, &first, c->error)) != NNRT_SUCCESS)
        return code;
    p->first = first;
    if ((map = nnrti_remote_parcel_make(p, &second, &bytes)) == NULL)
        return nnrti_remote_no_memory(c->error);
    if ((code = nnrti_remote_put_buffers(buffers, count, map, &first, c->error)) == NNRT_SUCCESS)
        return nnrti_remote_parcel_end(p, map, second, bytes, c);
    (void)munmap(map, bytes);
    nnrti_remote_close(&p->fd);
    return code;
}

/* ---- prepared models ---- */

/* Optional slots of a prepared model, in the order of their bits. A driver's table may lack them. */
#define NNRTI_REMOTE_SLOTS(S) S(ExportModelCache) S(GetInputDimRanges) S(GetIO) S(GetMemory) S(GetOutputDimRanges)

static nnrti_remote_model *nnrti_remote_of(NNRT_PreparedModel *self)
{
    return (nnrti_remote_model *)(void *)self;
}

/* Prepares m in the server for the current connection. */
static NNRT_ReturnCode nnrti_remote_prepare_there(nnrti_remote_model *m, nnrt_error *error)
{
    nnrt_remote *r = m->remote;
    nnrti_remote_reader a;
    NNRT_ReturnCode code;
    nnrti_remote_put_parcel(nnrti_remote_write(r), &m->parcel);
    code = nnrti_remote_call(r, m->kind, m->parcel.fd, NULL, &a, error);
    if (code == NNRT_SUCCESS) {
        m->id = nnrti_remote_get_u32(&a);
        m->slots = nnrti_remote_get_u32(&a);
    }
    code = nnrti_remote_check_answer_end(r, code, &a, error);
    if (code == NNRT_SUCCESS)
        m->connection = r->line.traffic.connections;
    return code;
}

/* Locks the device for a call about m, prepares m again after a reconnect, and begins the message with its id. The
   caller unlocks with nnrti_remote_end, after an error, too. */
static NNRT_ReturnCode nnrti_remote_begin(nnrti_remote_model *m, nnrt_error *error)
{
    nnrt_remote *r = m->remote;
    NNRT_ReturnCode code;
    NNRTI_REMOTE_LOCK(&r->mutex);
    if ((code = nnrti_remote_connect(r, error)) == NNRT_SUCCESS && m->connection != r->line.traffic.connections)
        code = nnrti_remote_prepare_there(m, error);
    nnrti_remote_put_u32(nnrti_remote_write(r), m->id);
    return code;
}

static NNRT_ReturnCode nnrti_remote_end(const nnrti_remote_model *m, NNRT_ReturnCode code)
{
    (void)m;
    NNRTI_REMOTE_UNLOCK(&m->remote->mutex);
    return code;
}

/* nnrti_remote_begin, then the fields `output` and `index` (not for HELD), then the call. */
static NNRT_ReturnCode nnrti_remote_ask(nnrti_remote_model *m, uint32_t kind, bool output, uint32_t index,
                                        nnrti_remote_reader *answer)
{
    const NNRT_ReturnCode code = nnrti_remote_begin(m, NULL);
    memset(answer, 0, sizeof(*answer));
    if (code != NNRT_SUCCESS)
        return code;
    if (kind != NNRTI_REMOTE_HELD) {
        nnrti_remote_put_u32(&m->remote->line.out, output ? 1 : 0);
        nnrti_remote_put_u32(&m->remote->line.out, index);
    }
    return nnrti_remote_call(m->remote, kind, -1, NULL, answer, NULL);
}

static NNRT_ReturnCode nnrti_remote_io(NNRT_PreparedModel *self, bool output, uint32_t index, NNRT_DataType *type,
                                       nnrt_dims *shape)
{
    nnrti_remote_model *m = nnrti_remote_of(self);
    nnrti_remote_reader a;
    NNRT_ReturnCode code = nnrti_remote_ask(m, NNRTI_REMOTE_IO, output, index, &a);
    if (code == NNRT_SUCCESS) {
        *type = nnrti_remote_get_i32(&a);
        nnrti_remote_get(&a, shape, sizeof(*shape));
    }
    return nnrti_remote_end(m, nnrti_remote_check_answer_end(m->remote, code, &a, NULL));
}

static NNRT_ReturnCode nnrti_remote_ranges(NNRT_PreparedModel *self, bool output, uint32_t index, nnrt_dims *least,
                                           nnrt_dims *most)
{
    nnrti_remote_model *m = nnrti_remote_of(self);
    nnrti_remote_reader a;
    NNRT_ReturnCode code = nnrti_remote_ask(m, NNRTI_REMOTE_RANGES, output, index, &a);
    if (code == NNRT_SUCCESS) {
        nnrti_remote_get(&a, least, sizeof(*least));
        nnrti_remote_get(&a, most, sizeof(*most));
    }
    return nnrti_remote_end(m, nnrti_remote_check_answer_end(m->remote, code, &a, NULL));
}

static NNRT_ReturnCode nnrti_remote_input_ranges(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least,
                                                 nnrt_dims *most)
{
    return nnrti_remote_ranges(self, false, index, least, most);
}

static NNRT_ReturnCode nnrti_remote_output_ranges(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least,
                                                  nnrt_dims *most)
{
    return nnrti_remote_ranges(self, true, index, least, most);
}

/* Bytes of the handle, rounded as nnrti_remote_heap counts them. */
static size_t nnrti_remote_model_bytes(void)
{
    return (sizeof(nnrti_remote_model) + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
}

static NNRT_ReturnCode nnrti_remote_workspace(NNRT_PreparedModel *self, size_t *bytes)
{
    (void)self;
    *bytes = NNRT_ALIGNMENT; /* not used; but without a workspace the runtime would call Run, which has no error
                                message, instead of RunIn */
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_remote_get_memory(NNRT_PreparedModel *self, nnrt_prepared_memory *memory)
{
    nnrti_remote_model *m = nnrti_remote_of(self);
    nnrti_remote_reader a;
    NNRT_ReturnCode code = nnrti_remote_ask(m, NNRTI_REMOTE_HELD, false, 0, &a);
    if (code == NNRT_SUCCESS) {
        (void)nnrti_remote_take(&a, 16); /* tables and workspace of the server's process; the next lines report this
                                            process */
        memory->tables = nnrti_remote_model_bytes();
        memory->workspace = NNRT_ALIGNMENT;
        memory->arena = (size_t)nnrti_remote_get_u64(&a);
        memory->bound = (size_t)nnrti_remote_get_u64(&a);
        memory->constants = (size_t)nnrti_remote_get_u64(&a);
        memory->steps = nnrti_remote_get_u32(&a);
    }
    return nnrti_remote_end(m, nnrti_remote_check_answer_end(m->remote, code, &a, NULL));
}

static NNRT_ReturnCode nnrti_remote_export(NNRT_PreparedModel *self, const NNRT_SharedBuffer **buffers, uint32_t *count)
{
    nnrti_remote_model *m = nnrti_remote_of(self);
    nnrti_remote_reader a;
    nnrti_remote_parcel p;
    size_t second = 0, bytes = 0;
    int fd = -1;
    NNRT_ReturnCode code = nnrti_remote_begin(m, NULL);
    memset(&a, 0, sizeof(a));
    if (code == NNRT_SUCCESS && m->cache == NULL)
        code = nnrti_remote_call(m->remote, NNRTI_REMOTE_EXPORT, -1, &fd, &a, NULL);
    if (code == NNRT_SUCCESS && m->cache == NULL) {
        const uint8_t *map = nnrti_remote_get_parcel(&a, &p, fd, &second, &bytes);
        a.bad = a.bad || map == NULL || !nnrti_remote_get_buffers(map, (size_t)p.first, NULL, &m->cacheCount);
        if (!a.bad) {
            m->cache = (NNRT_SharedBuffer *)nnrt_alloc(&m->allocator, (m->cacheCount + 1) * sizeof(*m->cache));
            code = m->cache != NULL ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY;
        }
        if (m->cache != NULL) {
            (void)nnrti_remote_get_buffers(map, (size_t)p.first, m->cache, &m->cacheCount);
            m->cacheMap = map;
            m->cacheBytes = bytes;
        } else if (map != NULL) {
            (void)munmap((void *)(uintptr_t)map, bytes);
        }
    }
    nnrti_remote_close(&fd);
    code = nnrti_remote_check_answer_end(m->remote, code, &a, NULL);
    if (code == NNRT_SUCCESS) {
        *buffers = m->cache;
        *count = m->cacheCount;
    }
    return nnrti_remote_end(m, code);
}

static void nnrti_remote_release(NNRT_PreparedModel *self)
{
    nnrti_remote_model *m = nnrti_remote_of(self);
    const nnrt_allocator allocator = m->allocator;
    nnrt_remote *r = m->remote;
    nnrti_remote_reader a;
    NNRTI_REMOTE_LOCK(&r->mutex);
    if (r->line.fd >= 0 && m->connection == r->line.traffic.connections) {
        nnrti_remote_put_u32(nnrti_remote_write(r), m->id);
        (void)nnrti_remote_check_answer_end(r, nnrti_remote_call(r, NNRTI_REMOTE_RELEASE, -1, NULL, &a, NULL), &a,
                                            NULL);
    }
    NNRTI_REMOTE_UNLOCK(&r->mutex);
    nnrti_remote_close(&m->parcel.fd);
    if (m->cache != NULL) {
        (void)munmap((void *)(uintptr_t)m->cacheMap, m->cacheBytes);
        nnrt_free(&allocator, m->cache, (m->cacheCount + 1) * sizeof(*m->cache));
    }
    if (m->allocated)
        nnrt_free(&allocator, m, sizeof(*m));
}

/* Makes the handle of a model that the server prepares from a parcel. The handle takes over the parcel, which is closed
   on failure. */
static NNRT_ReturnCode nnrti_remote_make(nnrt_remote *r, uint32_t kind, nnrti_remote_parcel *parcel,
                                         const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    nnrti_remote_model *m = NULL;
    uint32_t bit = 0;
    NNRT_ReturnCode code;
    if (config->buffer == NULL)
        m = (nnrti_remote_model *)nnrt_alloc(config->allocator, sizeof(*m));
    else if (config->bufferBytes >= nnrti_remote_model_bytes())
        m = (nnrti_remote_model *)config->buffer;
    if (m == NULL) {
        nnrti_remote_close(&parcel->fd);
        return nnrt_error_set(config->error, NNRT_OUT_OF_MEMORY, "out of memory for a prepared model");
    }
    memset(m, 0, sizeof(*m));
    m->table = r->model;
    m->base.vtbl = &m->table;
    m->remote = r;
    m->parcel = *parcel;
    m->kind = kind;
    m->allocated = config->buffer == NULL;
    if (config->allocator != NULL)
        m->allocator = *config->allocator;
    code = nnrti_remote_end(m, nnrti_remote_begin(m, config->error));
    if (code != NNRT_SUCCESS) {
        nnrti_remote_release(&m->base);
        return code;
    }
#define NNRTI_REMOTE_SLOT(slot)                                                                                        \
    if ((m->slots >> bit++ & 1u) == 0)                                                                                 \
        m->table.slot = NULL;
    NNRTI_REMOTE_SLOTS(NNRTI_REMOTE_SLOT)
#undef NNRTI_REMOTE_SLOT
    *prepared = &m->base;
    return code;
}

/* ---- runs ---- */

static nnrti_remote_buffer *nnrti_remote_buffer_make(nnrt_remote *r, uint32_t bytes)
{
    nnrti_remote_buffer *b = (nnrti_remote_buffer *)nnrt_alloc(NULL, sizeof(*b));
    void *map = NULL;
    if (b == NULL)
        return NULL;
    memset(b, 0, sizeof(*b));
    if (nnrt_buffer_create(bytes, &b->block) == NNRT_SUCCESS && b->block.fd >= 0)
        (void)nnrt_buffer_map(&b->block, true, &map, NULL);
    if (map == NULL) {
        nnrt_buffer_destroy(&b->block);
        nnrt_free(NULL, b, sizeof(*b));
        return NULL;
    }
    b->map = (uint8_t *)map;
    b->id = ++r->ids;
    return b;
}

/* Frees a buffer, in the server as well. NULL is fine. */
static void nnrti_remote_buffer_free(nnrt_remote *r, nnrti_remote_buffer *b)
{
    nnrti_remote_reader a;
    if (b == NULL)
        return;
    if (r->line.fd >= 0 && b->connection == r->line.traffic.connections) {
        nnrti_remote_put_u32(nnrti_remote_write(r), b->id);
        (void)nnrti_remote_check_answer_end(r, nnrti_remote_call(r, NNRTI_REMOTE_UNMAP, -1, NULL, &a, NULL), &a, NULL);
    }
    nnrt_buffer_unmap(&b->block, b->map);
    nnrt_buffer_destroy(&b->block);
    nnrt_free(NULL, b, sizeof(*b));
}

/* Makes the server map the buffer, unless it has done so in this connection. */
static NNRT_ReturnCode nnrti_remote_buffer_map(nnrt_remote *r, nnrti_remote_buffer *b, nnrt_error *error)
{
    nnrti_remote_writer *w;
    nnrti_remote_reader a;
    NNRT_ReturnCode code;
    if (b == NULL || b->connection == r->line.traffic.connections)
        return NNRT_SUCCESS;
    w = nnrti_remote_write(r);
    nnrti_remote_put_u32(w, b->id);
    nnrti_remote_put_u64(w, b->block.bufferSize);
    code = nnrti_remote_check_answer_end(r, nnrti_remote_call(r, NNRTI_REMOTE_MAP, b->block.fd, NULL, &a, error), &a,
                                         error);
    if (code == NNRT_SUCCESS)
        b->connection = r->line.traffic.connections;
    return code;
}

/* Location of a tensor's data in shared memory. */
typedef struct nnrti_remote_location {
    nnrti_remote_buffer *buffer; /* of AllocateBuffer; NULL: the data is in none */
    size_t offset;               /* in that buffer, or in the staging buffer */
    bool copied;                 /* to the staging buffer; false without a buffer: no data */
} nnrti_remote_location;

/* Locates data: in a buffer of the device, or else in the staging buffer, of which *staged bytes are in use. The copy
   has the same offset from a multiple of NNRT_ALIGNMENT as the original, so that it is aligned like the original. */
static nnrti_remote_location nnrti_remote_locate(const nnrt_remote *r, const NNRT_SharedBuffer *data, size_t *staged)
{
    const uintptr_t at = (uintptr_t)data->addr + data->offset;
    nnrti_remote_location s;
    memset(&s, 0, sizeof(s));
    for (nnrti_remote_buffer *b = r->buffers; b != NULL; b = b->next) {
        const bool same = data->fd >= 0 && data->fd == b->block.fd;
        const uintptr_t first = (uintptr_t)b->map;
        s.offset = same ? data->offset : at - first;
        if ((same || (data->addr != NULL && at >= first)) && s.offset <= b->block.bufferSize &&
            data->dataSize <= b->block.bufferSize - s.offset) {
            s.buffer = b;
            return s;
        }
    }
    s.offset = 0;
    s.copied = data->addr != NULL || data->fd >= 0;
    if (!s.copied)
        return s;
    s.offset = (*staged + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT + at % NNRT_ALIGNMENT;
    *staged = s.offset + data->dataSize;
    return s;
}

/* Copies bytes from a tensor's data to `copy`, or with `back` from `copy` to the data. */
static NNRT_ReturnCode nnrti_remote_copy(const NNRT_SharedBuffer *data, uint8_t *copy, size_t bytes, bool back,
                                         nnrt_error *error)
{
    void *block;
    NNRT_ReturnCode code = nnrt_buffer_map(data, back, &block, error);
    if (code != NNRT_SUCCESS || block == NULL)
        return code;
    if (back)
        memcpy((uint8_t *)block + data->offset, copy, bytes);
    else
        memcpy(copy, (const uint8_t *)block + data->offset, bytes);
    nnrt_buffer_unmap(data, block);
    return NNRT_SUCCESS;
}

/* Makes all memory of a run available: the staging buffer is large enough, and the server has mapped every buffer. */
static NNRT_ReturnCode nnrti_remote_share(nnrt_remote *r, const NNRT_IOTensor *inputs, uint32_t nIn,
                                          const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_error *error)
{
    size_t staged = 0;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (uint32_t i = 0; i < nIn + nOut && code == NNRT_SUCCESS; i++)
        code = nnrti_remote_buffer_map(
            r, nnrti_remote_locate(r, i < nIn ? &inputs[i].data : &outputs[i - nIn].data, &staged).buffer, error);
    if (code != NNRT_SUCCESS || staged == 0)
        return code;
    if (staged > UINT32_MAX - NNRT_ALIGNMENT)
        return nnrti_remote_no_memory(error);
    if (r->staging == NULL || r->staging->block.bufferSize < staged) {
        nnrti_remote_buffer_free(r, r->staging);
        r->staging = nnrti_remote_buffer_make(r, (uint32_t)staged + NNRT_ALIGNMENT);
        if (r->staging == NULL)
            return nnrti_remote_no_memory(error);
    }
    return nnrti_remote_buffer_map(r, r->staging, error);
}

/* Reads the answer of RUN: stores the reported output shapes, and copies staged outputs to the caller's memory. */
static NNRT_ReturnCode nnrti_remote_results(nnrt_remote *r, nnrti_remote_reader *a, NNRT_ReturnCode code, size_t staged,
                                            const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                            nnrt_error *error)
{
    NNRT_ReturnCode copied = NNRT_SUCCESS;
    if (code != NNRT_SUCCESS && (a->bad || a->left == 0))
        return code;
    a->bad = a->bad || nnrti_remote_get_u32(a) != nOut;
    for (uint32_t i = 0; i < nOut && !a->bad; i++) {
        const NNRT_SharedBuffer *data = &outputs[i].data;
        const nnrti_remote_location spot = nnrti_remote_locate(r, data, &staged);
        nnrt_dims dims;
        uint32_t written;
        nnrti_remote_get(a, &dims, sizeof(dims));
        written = nnrti_remote_get_u32(a);
        if (outputDims != NULL && !a->bad && dims.rank != -1)
            outputDims[i] = dims;
        if (spot.copied && data->dataSize > 0 && code == NNRT_SUCCESS && copied == NNRT_SUCCESS && !a->bad)
            copied = nnrti_remote_copy(data, r->staging->map + spot.offset,
                                       written < data->dataSize ? written : data->dataSize, true, error);
    }
    return code != NNRT_SUCCESS ? code : copied;
}

static void nnrti_remote_put_tensor(nnrti_remote_writer *w, const NNRT_IOTensor *t, uint32_t buffer, size_t offset)
{
    const uint32_t axes = t->dimensions.data != NULL ? t->dimensions.count : 0;
    nnrti_remote_put_u32(w, buffer);
    nnrti_remote_put_u32(w, t->data.dataSize);
    nnrti_remote_put_u64(w, offset);
    nnrti_remote_put_i32(w, t->dataType);
    nnrti_remote_put_i32(w, t->format);
    nnrti_remote_put_u32(w, axes);
    for (uint32_t k = 0; k < axes && !w->full; k++)
        nnrti_remote_put_i32(w, t->dimensions.data[k]);
    nnrti_remote_put_text(w, t->name);
}

static NNRT_ReturnCode nnrti_remote_run_here(nnrti_remote_model *m, const NNRT_IOTensor *inputs, uint32_t nIn,
                                             const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                             nnrt_error *error)
{
    nnrt_remote *r = m->remote;
    nnrti_remote_writer *w;
    nnrti_remote_reader a;
    size_t staged = 0, before = 0;
    NNRT_ReturnCode code = nnrti_remote_share(r, inputs, nIn, outputs, nOut, error);
    w = nnrti_remote_write(r);
    nnrti_remote_put_u32(w, m->id);
    nnrti_remote_put_u32(w, nIn);
    nnrti_remote_put_u32(w, nOut);
    for (uint32_t i = 0; i < nIn + nOut && !w->full && code == NNRT_SUCCESS; i++) {
        const NNRT_IOTensor *t = i < nIn ? &inputs[i] : &outputs[i - nIn];
        nnrti_remote_location spot;
        before = i == nIn ? staged : before;
        spot = nnrti_remote_locate(r, &t->data, &staged);
        if (spot.copied && i < nIn && t->data.dataSize > 0)
            code = nnrti_remote_copy(&t->data, r->staging->map + spot.offset, t->data.dataSize, false, error);
        nnrti_remote_put_tensor(w, t,
                                spot.buffer != NULL                 ? spot.buffer->id
                                : spot.copied && r->staging != NULL ? r->staging->id
                                                                    : 0,
                                spot.offset);
    }
    if (code != NNRT_SUCCESS)
        return code;
    code = nnrti_remote_call(r, NNRTI_REMOTE_RUN, -1, NULL, &a, error);
    if (a.at != NULL)
        code = nnrti_remote_results(r, &a, code, before, outputs, nOut, outputDims, error);
    return nnrti_remote_check_answer_end(r, code, &a, error);
}

static NNRT_ReturnCode nnrti_remote_run_in(NNRT_PreparedModel *self, void *workspace, size_t bytes,
                                           const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                           uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error)
{
    nnrti_remote_model *m = nnrti_remote_of(self);
    NNRT_ReturnCode code;
    (void)workspace;
    (void)bytes;
    if ((inputs == NULL && nIn > 0) || (outputs == NULL && nOut > 0))
        return nnrt_error_set(error, NNRT_NULL_PTR, "the list of %s is NULL", inputs == NULL ? "inputs" : "outputs");
    if (nIn > UINT32_MAX / 2 || nOut > UINT32_MAX / 2)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "got %u inputs and %u outputs, expected fewer than 2^31 of each", nIn, nOut);
    if ((code = nnrti_remote_begin(m, error)) == NNRT_SUCCESS)
        code = nnrti_remote_run_here(m, inputs, nIn, outputs, nOut, outputDims, error);
    return nnrti_remote_end(m, code);
}

static NNRT_ReturnCode nnrti_remote_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                        const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    return nnrti_remote_run_in(self, NULL, 0, inputs, nIn, outputs, nOut, outputDims, NULL);
}

/* ---- the device ---- */

static NNRT_ReturnCode nnrti_remote_get_version(void *self, uint32_t *major, uint32_t *minor)
{
    *major = ((nnrt_remote *)self)->major;
    *minor = ((nnrt_remote *)self)->minor;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_remote_get_name(void *self, const char **name)
{
    *name = ((nnrt_remote *)self)->name;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_remote_get_vendor(void *self, const char **name)
{
    *name = ((nnrt_remote *)self)->vendor;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_remote_get_type(void *self, NNRT_DeviceType *type)
{
    *type = ((nnrt_remote *)self)->type;
    return NNRT_SUCCESS;
}

/* OFFLINE if no server listens. */
static NNRT_ReturnCode nnrti_remote_get_status(void *self, NNRT_DeviceStatus *status)
{
    nnrt_remote *r = (nnrt_remote *)self;
    nnrti_remote_reader a;
    NNRT_ReturnCode code;
    *status = NNRT_DEVICE_STATUS_OFFLINE;
    NNRTI_REMOTE_LOCK(&r->mutex);
    memset(&a, 0, sizeof(a));
    if ((code = nnrti_remote_connect(r, NULL)) == NNRT_SUCCESS) {
        (void)nnrti_remote_write(r);
        code = nnrti_remote_call(r, NNRTI_REMOTE_STATUS, -1, NULL, &a, NULL);
        if (code == NNRT_SUCCESS)
            *status = nnrti_remote_get_i32(&a);
        code = nnrti_remote_check_answer_end(r, code, &a, NULL);
    }
    NNRTI_REMOTE_UNLOCK(&r->mutex);
    return code == NNRT_SERVICE_ERROR ? NNRT_SUCCESS : code;
}

static bool nnrti_remote_has(const nnrt_remote *r, nnrt_ability ability)
{
    return (r->abilities >> ability & 1u) != 0;
}

static NNRT_ReturnCode nnrti_remote_can(void *self, nnrt_ability ability, bool *isSupported)
{
    *isSupported = nnrti_remote_has((nnrt_remote *)self, ability);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_remote_float16(void *self, bool *isSupported)
{
    return nnrti_remote_can(self, NNRT_ABILITY_FLOAT16, isSupported);
}

static NNRT_ReturnCode nnrti_remote_mode(void *self, bool *isSupported)
{
    return nnrti_remote_can(self, NNRT_ABILITY_PERFORMANCE_MODE, isSupported);
}

static NNRT_ReturnCode nnrti_remote_priority(void *self, bool *isSupported)
{
    return nnrti_remote_can(self, NNRT_ABILITY_PRIORITY, isSupported);
}

static NNRT_ReturnCode nnrti_remote_dynamic(void *self, bool *isSupported)
{
    return nnrti_remote_can(self, NNRT_ABILITY_DYNAMIC_INPUT, isSupported);
}

static NNRT_ReturnCode nnrti_remote_cache(void *self, bool *isSupported)
{
    return nnrti_remote_can(self, NNRT_ABILITY_MODEL_CACHE, isSupported);
}

static NNRT_ReturnCode nnrti_remote_ask_nodes(nnrt_remote *r, const nnrti_remote_parcel *p, bool *isSupported,
                                              uint32_t count, nnrt_reason reason, void *user, nnrt_error *error)
{
    nnrti_remote_reader a;
    nnrti_remote_writer *w;
    const uint8_t *said = NULL;
    NNRT_ReturnCode code = nnrti_remote_connect(r, error);
    if (code != NNRT_SUCCESS)
        return code;
    w = nnrti_remote_write(r);
    nnrti_remote_put_u32(w, reason != NULL ? 1 : 0);
    nnrti_remote_put_parcel(w, p);
    if ((code = nnrti_remote_call(r, NNRTI_REMOTE_SUPPORT, p->fd, NULL, &a, error)) == NNRT_SUCCESS) {
        const uint32_t nodes = nnrti_remote_get_u32(&a);
        said = nnrti_remote_take(&a, nodes);
        a.bad = a.bad || nodes != count;
        for (uint32_t i = 0; !a.bad && i < count; i++)
            isSupported[i] = said[i] != 0;
    }
    while (code == NNRT_SUCCESS && !a.bad && a.left > 0) {
        const uint32_t node = nnrti_remote_get_u32(&a);
        const NNRT_ReturnCode why = nnrti_remote_get_i32(&a);
        nnrt_error e;
        memset(&e, 0, sizeof(e));
        e.capacity = (uint32_t)sizeof(e.message);
        e.node = (int32_t)node;
        e.tensor = nnrti_remote_get_i32(&a);
        (void)nnrt_text(e.message, sizeof(e.message), "%s", nnrti_remote_get_text(&a));
        e.code = why;
        if (!a.bad && node < count && reason != NULL)
            reason(user, node, &e);
    }
    return nnrti_remote_check_answer_end(r, code, &a, error);
}

static NNRT_ReturnCode nnrti_remote_nodes(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                          bool *isSupported, uint32_t count, nnrt_reason reason, void *user)
{
    nnrt_remote *r = (nnrt_remote *)self;
    NNRT_ModelConfig own;
    nnrti_remote_heap heap;
    nnrti_remote_parcel p;
    NNRT_ReturnCode code;
    nnrt_config_read(&own, config);
    code = nnrti_remote_wrap_model(&p, model, &own, nnrti_remote_heap_of(&heap, &own, false));
    if (code != NNRT_SUCCESS)
        return code;
    NNRTI_REMOTE_LOCK(&r->mutex);
    code = nnrti_remote_ask_nodes(r, &p, isSupported, count, reason, user, own.error);
    NNRTI_REMOTE_UNLOCK(&r->mutex);
    nnrti_remote_close(&p.fd);
    return code;
}

static NNRT_ReturnCode nnrti_remote_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    return nnrti_remote_nodes(self, model, NULL, isSupported, count, NULL, NULL);
}

static NNRT_ReturnCode nnrti_remote_memory_of(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                              size_t *bytes)
{
    NNRT_ModelConfig own;
    nnrti_remote_heap heap;
    nnrti_remote_parcel p;
    NNRT_ReturnCode code;
    (void)self;
    *bytes = 0;
    nnrt_config_read(&own, config);
    own.buffer = NULL;
    code = nnrti_remote_wrap_model(&p, model, &own, nnrti_remote_heap_of(&heap, &own, true));
    if (code != NNRT_SUCCESS)
        return code;
    nnrti_remote_close(&p.fd);
    *bytes = heap.peak > nnrti_remote_model_bytes() ? heap.peak : nnrti_remote_model_bytes();
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_remote_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                            NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig own;
    nnrti_remote_heap heap;
    nnrti_remote_parcel p;
    NNRT_ReturnCode code;
    *prepared = NULL;
    nnrt_config_read(&own, config);
    code = nnrti_remote_wrap_model(&p, model, &own, nnrti_remote_heap_of(&heap, &own, false));
    return code != NNRT_SUCCESS ? code
                                : nnrti_remote_make((nnrt_remote *)self, NNRTI_REMOTE_PREPARE, &p, &own, prepared);
}

static NNRT_ReturnCode nnrti_remote_prepare_buffers(void *self, uint32_t kind, const NNRT_SharedBuffer *buffers,
                                                    uint32_t count, const NNRT_ModelConfig *config,
                                                    NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig own;
    nnrti_remote_parcel p;
    NNRT_ReturnCode code;
    *prepared = NULL;
    nnrt_config_read(&own, config);
    code = nnrti_remote_wrap_buffers(&p, buffers, count, &own);
    return code != NNRT_SUCCESS ? code : nnrti_remote_make((nnrt_remote *)self, kind, &p, &own, prepared);
}

static NNRT_ReturnCode nnrti_remote_prepare_cache(void *self, const NNRT_SharedBuffer *cache, uint32_t count,
                                                  const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    return nnrti_remote_prepare_buffers(self, NNRTI_REMOTE_CACHE, cache, count, config, prepared);
}

static NNRT_ReturnCode nnrti_remote_prepare_offline(void *self, const NNRT_SharedBuffer *models, uint32_t count,
                                                    const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    return nnrti_remote_prepare_buffers(self, NNRTI_REMOTE_OFFLINE, models, count, config, prepared);
}

static NNRT_ReturnCode nnrti_remote_allocate(void *self, uint32_t length, NNRT_SharedBuffer *buffer)
{
    nnrt_remote *r = (nnrt_remote *)self;
    nnrti_remote_buffer *b;
    if (length == 0)
        return NNRT_INVALID_PARAMETER;
    NNRTI_REMOTE_LOCK(&r->mutex);
    if ((b = nnrti_remote_buffer_make(r, length)) != NULL) {
        b->next = r->buffers;
        r->buffers = b;
    }
    NNRTI_REMOTE_UNLOCK(&r->mutex);
    if (b == NULL)
        return NNRT_OUT_OF_MEMORY;
    *buffer = b->block;
    buffer->addr = b->map;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_remote_free_buffer(void *self, const NNRT_SharedBuffer *buffer)
{
    nnrt_remote *r = (nnrt_remote *)self;
    nnrti_remote_buffer **at = &r->buffers, *b;
    NNRT_ReturnCode code = NNRT_INVALID_BUFFER;
    NNRTI_REMOTE_LOCK(&r->mutex);
    while (*at != NULL && (*at)->block.fd != buffer->fd)
        at = &(*at)->next;
    if ((b = *at) != NULL)
        code = b->block.bufferSize == buffer->bufferSize ? NNRT_SUCCESS : NNRT_INVALID_BUFFER_SIZE;
    if (code == NNRT_SUCCESS) {
        *at = b->next;
        nnrti_remote_buffer_free(r, b);
    }
    NNRTI_REMOTE_UNLOCK(&r->mutex);
    return code;
}

static void nnrti_remote_destroy(void *self)
{
    nnrt_remote *r = (nnrt_remote *)self;
    nnrti_remote_channel_end(&r->line); /* first: the server notices, and no UNMAP needs to be sent */
    while (r->buffers != NULL) {
        nnrti_remote_buffer *b = r->buffers;
        r->buffers = b->next;
        nnrti_remote_buffer_free(r, b);
    }
    nnrti_remote_buffer_free(r, r->staging);
#if NNRT_THREADS
    (void)pthread_mutex_destroy(&r->mutex);
#endif
    nnrt_free(NULL, r, sizeof(*r));
}

static void nnrti_remote_tables(nnrt_remote *r)
{
    NNRT_DeviceVtbl *d = &r->table;
    NNRT_PreparedModelVtbl *m = &r->model;
    d->structSize = (uint32_t)sizeof(*d);
    m->structSize = (uint32_t)sizeof(*m);
    d->version = m->version = NNRT_HDI(2, 0);
    d->GetVersion = nnrti_remote_get_version;
    d->GetDeviceName = nnrti_remote_get_name;
    d->GetVendorName = nnrti_remote_get_vendor;
    d->GetDeviceType = nnrti_remote_get_type;
    d->GetDeviceStatus = nnrti_remote_get_status;
    d->GetSupportedOperation = nnrti_remote_supported;
    d->IsFloat16PrecisionSupported = nnrti_remote_float16;
    d->IsPerformanceModeSupported = nnrti_remote_mode;
    d->IsPrioritySupported = nnrti_remote_priority;
    d->IsDynamicInputSupported = nnrti_remote_dynamic;
    d->PrepareModel = nnrti_remote_prepare;
    d->IsModelCacheSupported = nnrti_remote_cache;
    d->PrepareModelFromModelCache = nnrti_remote_prepare_cache;
    d->AllocateBuffer = nnrti_remote_allocate;
    d->ReleaseBuffer = nnrti_remote_free_buffer;
    d->PrepareOfflineModel = nnrti_remote_prepare_offline;
    d->Destroy = nnrti_remote_destroy;
    d->GetModelMemory = nnrti_remote_memory_of;
    d->GetSupportedNodes = nnrti_remote_nodes;
    m->ExportModelCache = nnrti_remote_export;
    m->GetInputDimRanges = nnrti_remote_input_ranges;
    m->Run = nnrti_remote_run;
    m->Destroy = nnrti_remote_release;
    m->GetWorkspaceSize = nnrti_remote_workspace;
    m->RunIn = nnrti_remote_run_in;
    m->GetIO = nnrti_remote_io;
    m->GetMemory = nnrti_remote_get_memory;
    m->GetOutputDimRanges = nnrti_remote_output_ranges;
}

/* Removes slots that the server's device lacks. */
static void nnrti_remote_absent(nnrt_remote *r)
{
    NNRT_DeviceVtbl *d = &r->table;
    if (!nnrti_remote_has(r, NNRT_ABILITY_TELL_NODES)) {
        d->GetSupportedOperation = NULL;
        d->GetSupportedNodes = NULL;
    }
    if (!nnrti_remote_has(r, NNRT_ABILITY_MODEL_CACHE))
        d->PrepareModelFromModelCache = NULL;
    if (!nnrti_remote_has(r, NNRT_ABILITY_OFFLINE_MODEL))
        d->PrepareOfflineModel = NULL;
}

/* Parses "remote:[name=NAME,][time=MILLISECONDS,]PATH". */
static NNRT_ReturnCode nnrti_remote_parse(nnrt_remote *r, const char *text, nnrt_error *error)
{
    const char *at = text != NULL && strncmp(text, "remote:", 7) == 0 ? text + 7 : NULL;
    size_t length;
    if (at == NULL)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "remote device: found '%s', expected remote:PATH",
                              text != NULL ? text : "");
    if (strncmp(at, "name=", 5) == 0 && (length = strcspn(at, ",")) < strlen(at)) {
        if (length <= 5 || length - 5 >= sizeof(r->name))
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "remote device: name= in '%s' must have 1 to 63 characters", text);
        memcpy(r->name, at + 5, length - 5);
        at += length + 1;
    }
    if (strncmp(at, "time=", 5) == 0 && (length = strspn(at + 5, "0123456789")) > 0 && at[5 + length] == ',') {
        if (length > 9)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "remote device: time= in '%s' must be at most 999999999 milliseconds", text);
        for (size_t i = 0; i < length; i++)
            r->timeLimit = r->timeLimit * 10 + (uint32_t)(at[5 + i] - '0');
        at += 5 + length + 1;
    }
    length = strlen(at);
    if (length == 0 || length >= sizeof(r->path))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "remote device: the path '%s' has %z characters, expected 1 to %z", at, length,
                              sizeof(r->path) - 1);
    memcpy(r->path, at, length + 1);
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_remote_register(nnrt_remote **remote, const char *text, nnrt_error *error)
{
    nnrt_remote *r = (nnrt_remote *)nnrt_alloc(NULL, sizeof(*r));
    NNRT_ReturnCode code;
    if (remote != NULL)
        *remote = NULL;
    if (r == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "out of memory for a remote device");
    memset(r, 0, sizeof(*r));
    r->line.fd = -1;
#if NNRT_THREADS
    (void)pthread_mutex_init(&r->mutex, NULL); /* cannot fail without attributes */
#endif
    nnrti_remote_tables(r);
    if ((code = nnrti_remote_parse(r, text, error)) == NNRT_SUCCESS &&
        (code = nnrti_remote_connect(r, error)) == NNRT_SUCCESS) {
        if (r->name[0] == '\0')
            (void)nnrt_text(r->name, sizeof(r->name), "remote_%s", r->there);
        nnrti_remote_absent(r);
        code = nnrt_device_register(&r->table, r, error);
    }
    if (code != NNRT_SUCCESS)
        nnrti_remote_destroy(r);
    else if (remote != NULL)
        *remote = r;
    return code;
}

NNRT_API const char *nnrt_remote_name(const nnrt_remote *remote)
{
    return remote != NULL ? remote->name : "";
}

NNRT_API nnrt_remote_traffic nnrt_remote_get_traffic(nnrt_remote *remote)
{
    nnrt_remote_traffic t;
    memset(&t, 0, sizeof(t));
    if (remote == NULL)
        return t;
    NNRTI_REMOTE_LOCK(&remote->mutex);
    t = remote->line.traffic;
    NNRTI_REMOTE_UNLOCK(&remote->mutex);
    return t;
}

#endif /* NNRT_REMOTE */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>remote_server */

#if !NNRT_REMOTE || !NNRT_THREADS

NNRT_API NNRT_ReturnCode nnrt_remote_serve_open(nnrt_remote_server **server, const nnrt_remote_serve_desc *desc,
                                                nnrt_error *error)
{
    (void)desc;
    if (server != NULL)
        *server = NULL;
    return nnrt_error_set(error, NNRT_NOT_SUPPORT, "serving a device needs Linux and NNRT_THREADS");
}

NNRT_API NNRT_ReturnCode nnrt_remote_serve_run(nnrt_remote_server *server, nnrt_error *error)
{
    (void)server;
    return nnrt_error_set(error, NNRT_NOT_SUPPORT, "serving a device needs Linux and NNRT_THREADS");
}

NNRT_API void nnrt_remote_serve_stop(nnrt_remote_server *server)
{
    (void)server;
}

NNRT_API void nnrt_remote_serve_close(nnrt_remote_server *server)
{
    (void)server;
}

#else

/* A prepared model of a client. */
typedef struct nnrti_remote_prepared {
    NNRT_PreparedModel *prepared; /* NULL: the entry is free */
    NNRT_Model *model;            /* NULL: prepared from a cache, or from an offline model */
    const uint8_t *map;           /* its parcel, which holds its constants */
    size_t bytes;
    void *workspace;
    size_t workspaceBytes;
} nnrti_remote_prepared;

typedef struct nnrti_remote_shared {
    uint8_t *map;
    size_t bytes;
    uint32_t id; /* 0: the entry is free */
} nnrti_remote_shared;

/* A connected client, which has a thread of its own. */
typedef struct nnrti_remote_client {
    nnrt_remote_server *server;
    pthread_t thread;
    bool taken; /* used by the accepting thread only: the entry has a thread */
    bool left;  /* guarded by the server's mutex, as is closing line.fd: the thread is ending, and can be joined */
    nnrti_remote_channel line;
    bool greeted;
    bool copies;              /* the client has another uid: runs use copies of its data */
    nnrt_allocator allocator; /* for memory of this client, within limits.bytes */
    uint64_t used;
    nnrti_remote_prepared *models; /* limits.models */
    nnrti_remote_shared *buffers; /* limits.buffers */
    NNRT_IOTensor *io;            /* tensors of a run, `room` entries; one block with `there` and `told` */
    uint8_t **there;              /* address in the client's memory of each tensor whose copy the run uses */
    nnrt_dims *told;
    uint32_t room, nIn, nOut;
    uint8_t *copy; /* copies of inputs and outputs */
    size_t copyBytes;
    int back; /* descriptor to send with the answer */
} nnrti_remote_client;

struct nnrt_remote_server {
    nnrt_device *device;
    const char *autoDevices; /* in the server's block, like users */
    const uint32_t *users;
    uint32_t userCount;
    nnrt_remote_limits limits;
    nnrt_log log;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    dev_t volume; /* device and inode of the socket's file */
    ino_t file;
    int listener, wake[2];
    size_t bytes; /* of this block */
    pthread_mutex_t mutex;
    nnrti_remote_client *clients; /* limits.clients entries */
};

/* ---- limits of a client ---- */

/* Writes an error into an answer. A build without messages sends empty texts. */
static void nnrti_remote_put_error(nnrti_remote_writer *w, const nnrt_error *error)
{
    nnrti_remote_put_i32(w, error->node);
    nnrti_remote_put_i32(w, error->tensor);
    nnrti_remote_put_text(w, error->message);
}

static bool nnrti_remote_charge(nnrti_remote_client *c, uint64_t bytes)
{
    if (bytes > c->server->limits.bytes - c->used)
        return false;
    c->used += bytes;
    return true;
}

static void *nnrti_remote_client_alloc(void *user, size_t bytes, size_t alignment)
{
    nnrti_remote_client *c = (nnrti_remote_client *)user;
    void *block;
    (void)alignment; /* at most NNRT_ALIGNMENT, the alignment of every block */
    if (!nnrti_remote_charge(c, bytes))
        return NULL;
    block = nnrt_alloc(NULL, bytes);
    if (block == NULL)
        c->used -= bytes;
    return block;
}

static void nnrti_remote_client_free(void *user, void *block, size_t bytes)
{
    if (block != NULL)
        ((nnrti_remote_client *)user)->used -= bytes;
    nnrt_free(NULL, block, bytes);
}

static NNRT_ReturnCode nnrti_remote_limit(const nnrti_remote_client *c, nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "the driver's process allows a client at most %z bytes",
                          (size_t)c->server->limits.bytes);
}

static NNRT_ReturnCode nnrti_remote_no_message(nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                          "the driver's process received a malformed or unknown request");
}

/* Checks that the whole request has been read. */
static bool nnrti_remote_read_all(nnrti_remote_reader *r)
{
    r->bad = r->bad || r->left != 0;
    return !r->bad;
}

/* ---- parcels ---- */

/* Contents of a mapped parcel. */
typedef struct nnrti_remote_parcel_contents {
    const uint8_t *map;
    size_t bytes, first;
    NNRT_ModelConfig config;
    nnrt_bound *bounds;
    NNRT_Extension *extensions;
} nnrti_remote_parcel_contents;

/* Allocates `count` entries of `bytes`. Bounds count first: each entry takes at least `least` bytes of the message.
   NULL with r->bad false and count > 0: out of memory. */
static void *nnrti_remote_list(nnrti_remote_client *c, nnrti_remote_reader *r, uint32_t count, size_t bytes,
                               size_t least)
{
    size_t all;
    r->bad = r->bad || count > r->left / least;
    if (r->bad || count == 0 || !nnrt_mul_size(count, bytes, &all))
        return NULL;
    return nnrt_alloc(&c->allocator, all);
}

static NNRT_ReturnCode nnrti_remote_get_config(nnrti_remote_client *c, nnrti_remote_reader *r,
                                               nnrti_remote_parcel_contents *g)
{
    NNRT_ModelConfig *config = &g->config;
    uint32_t count;
    config->enableFloat16 = nnrti_remote_get_u32(r) != 0;
    config->mode = nnrti_remote_get_i32(r);
    config->priority = nnrti_remote_get_i32(r);
    config->threads = nnrti_remote_get_u32(r);
    config->maxTrips = nnrti_remote_get_u32(r);
    count = nnrti_remote_get_u32(r);
    r->bad = r->bad || count > r->left / sizeof(nnrt_dims);
    if (!r->bad) /* aligned: the second part begins at a multiple of 64 in the mapping, and all fields are multiples of
                    4 bytes */
        config->inputDims = nnrt_dims_list_make(
            (const nnrt_dims *)(const void *)nnrti_remote_take(r, count * sizeof(nnrt_dims)), count);
    count = nnrti_remote_get_u32(r);
    g->bounds = (nnrt_bound *)nnrti_remote_list(c, r, count, sizeof(*g->bounds), 8 + sizeof(nnrt_dims));
    if (g->bounds == NULL && count > 0 && !r->bad)
        return NNRT_OUT_OF_MEMORY;
    config->bounds = nnrt_bound_list_make(g->bounds, g->bounds != NULL ? count : 0);
    for (uint32_t i = 0; i < config->bounds.count; i++) {
        g->bounds[i].tensor = nnrti_remote_get_text(r);
        nnrti_remote_get(r, &g->bounds[i].most, sizeof(g->bounds[i].most));
    }
    count = nnrti_remote_get_u32(r);
    g->extensions = (NNRT_Extension *)nnrti_remote_list(c, r, count, sizeof(*g->extensions), 12);
    if (g->extensions == NULL && count > 0 && !r->bad)
        return NNRT_OUT_OF_MEMORY;
    config->extensions = NNRT_ExtensionList_make(g->extensions, g->extensions != NULL ? count : 0);
    for (uint32_t i = 0; i < config->extensions.count; i++) {
        g->extensions[i].name = nnrti_remote_get_text(r);
        g->extensions[i].size = nnrti_remote_get_u32(r);
        g->extensions[i].data = nnrti_remote_take(r, g->extensions[i].size);
    }
    return nnrti_remote_read_all(r) ? NNRT_SUCCESS : NNRT_INVALID_PARAMETER;
}

/* Frees the lists that only preparation needs. */
static void nnrti_remote_parcel_lists_free(nnrti_remote_client *c, nnrti_remote_parcel_contents *g)
{
    if (g->bounds != NULL)
        nnrt_free(&c->allocator, g->bounds, g->config.bounds.count * sizeof(*g->bounds));
    if (g->extensions != NULL)
        nnrt_free(&c->allocator, g->extensions, g->config.extensions.count * sizeof(*g->extensions));
    g->bounds = NULL;
    g->extensions = NULL;
}

static void nnrti_remote_unmap(nnrti_remote_client *c, const uint8_t *map, size_t bytes)
{
    if (map == NULL)
        return;
    (void)munmap((void *)(uintptr_t)map, bytes);
    c->used -= bytes;
}

static void nnrti_remote_parcel_contents_end(nnrti_remote_client *c, nnrti_remote_parcel_contents *g)
{
    nnrti_remote_parcel_lists_free(c, g);
    nnrti_remote_unmap(c, g->map, g->bytes);
}

/* Maps the parcel at the end of a request and reads its configuration. */
static NNRT_ReturnCode nnrti_remote_open(nnrti_remote_client *c, nnrti_remote_reader *r, int fd,
                                         nnrti_remote_parcel_contents *g, nnrt_error *error)
{
    nnrti_remote_parcel p;
    nnrti_remote_reader second;
    size_t at;
    NNRT_ReturnCode code;
    memset(g, 0, sizeof(*g));
    g->map = nnrti_remote_get_parcel(r, &p, fd, &at, &g->bytes);
    if (!nnrti_remote_read_all(r)) {
        if (g->map != NULL)
            (void)munmap((void *)(uintptr_t)g->map, g->bytes);
        return nnrti_remote_no_message(error);
    }
    if (g->map == NULL)
        return nnrt_error_set(
            error, NNRT_INVALID_BUFFER,
            "the received memory must have the announced size and be sealed against shrinking and writing");
    if (!nnrti_remote_charge(c, g->bytes)) {
        (void)munmap((void *)(uintptr_t)g->map, g->bytes);
        return nnrti_remote_limit(c, error);
    }
    g->first = (size_t)p.first;
    memset(&second, 0, sizeof(second));
    second.at = g->map + at;
    second.left = (size_t)p.second;
    code = nnrti_remote_get_config(c, &second, g);
    g->config.allocator = &c->allocator;
    g->config.callerWorkspace = true;
    g->config.error = error;
    g->config.log = c->server->log.line != NULL ? &c->server->log : NULL;
    g->config.autoDevices = c->server->autoDevices;
    if (code == NNRT_SUCCESS)
        return code;
    nnrti_remote_parcel_contents_end(c, g);
    return code == NNRT_OUT_OF_MEMORY ? nnrti_remote_limit(c, error)
                                      : nnrt_error_set(error, code, "the received configuration is malformed");
}

/* strangers: accept operators of the client's application, which are not registered in this process. */
static NNRT_ReturnCode nnrti_remote_open_model(nnrti_remote_client *c, nnrti_remote_reader *r, int fd,
                                               nnrti_remote_parcel_contents *g, bool strangers, NNRT_Model **model,
                                               nnrt_error *error)
{
    nnrt_load_desc desc;
    NNRT_ReturnCode code = nnrti_remote_open(c, r, fd, g, error);
    *model = NULL;
    if (code != NNRT_SUCCESS)
        return code;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &c->allocator;
    desc.strangers = strangers;
    code = nnrt_model_load_memory(model, g->map, g->first, &desc, error);
    if (code != NNRT_SUCCESS)
        nnrti_remote_parcel_contents_end(c, g);
    return code;
}

/* ---- requests ---- */

static NNRT_ReturnCode nnrti_remote_do_hello(nnrti_remote_client *c, nnrti_remote_reader *r, nnrt_error *error)
{
    const nnrt_device *d = c->server->device;
    const nnrt_remote_limits *l = &c->server->limits;
    const char *at = nnrt_device_unique_name(d) + strlen(nnrt_device_name(d)) + strlen(nnrt_device_vendor(d)) + 2;
    uint32_t numbers[2] = {0, 0}, abilities = 0;
    if (!nnrti_remote_read_all(r))
        return nnrti_remote_no_message(error);
    for (uint32_t i = 0; *at != '\0'; at++) /* NAME_VENDOR_v1_0 */
        if (*at == '_')
            i = 1;
        else if (*at >= '0' && *at <= '9')
            numbers[i] = numbers[i] * 10 + (uint32_t)(*at - '0');
    for (nnrt_ability a = NNRT_ABILITY_FLOAT16; a <= NNRT_ABILITY_TELL_NODES; a++)
        abilities |= (uint32_t)nnrt_device_can(d, a, NULL) << a;
    c->greeted = true;
    nnrti_remote_put_u32(&c->line.out, l->message);
    nnrti_remote_put_u32(&c->line.out, l->models);
    nnrti_remote_put_u32(&c->line.out, l->buffers);
    nnrti_remote_put_u64(&c->line.out, l->bytes);
    nnrti_remote_put_u32(&c->line.out, numbers[0]);
    nnrti_remote_put_u32(&c->line.out, numbers[1]);
    nnrti_remote_put_i32(&c->line.out, nnrt_device_type(d, NULL));
    nnrti_remote_put_u32(&c->line.out, abilities);
    nnrti_remote_put_text(&c->line.out, nnrt_device_name(d));
    nnrti_remote_put_text(&c->line.out, nnrt_device_vendor(d));
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_remote_do_status(nnrti_remote_client *c, nnrti_remote_reader *r, nnrt_error *error)
{
    if (!nnrti_remote_read_all(r))
        return nnrti_remote_no_message(error);
    nnrti_remote_put_i32(&c->line.out, nnrt_device_status(c->server->device));
    return NNRT_SUCCESS;
}

/* Appends the reason why a node is unsupported, if the message has room. */
static void nnrti_remote_reason(void *user, uint32_t node, const nnrt_error *error)
{
    nnrti_remote_writer *w = &((nnrti_remote_client *)user)->line.out;
    if (w->room - w->used < sizeof(error->message) + 64)
        return;
    nnrti_remote_put_u32(w, node);
    nnrti_remote_put_i32(w, error->code);
    nnrti_remote_put_i32(w, error->tensor);
    nnrti_remote_put_text(w, error->message);
}

static NNRT_ReturnCode nnrti_remote_do_support(nnrti_remote_client *c, nnrti_remote_reader *r, int fd,
                                               nnrt_error *error)
{
    nnrti_remote_parcel_contents g;
    NNRT_Model *model;
    bool *takes = NULL;
    uint8_t *said;
    const bool reasons = nnrti_remote_get_u32(r) != 0;
    uint32_t count;
    NNRT_ReturnCode code = nnrti_remote_open_model(c, r, fd, &g, true, &model, error);
    if (code != NNRT_SUCCESS)
        return code;
    count = model->nodes.count;
    nnrti_remote_put_u32(&c->line.out, count);
    said = nnrti_remote_room(&c->line.out, ((size_t)count + 3) / 4 * 4);
    takes = (bool *)nnrt_alloc(&c->allocator, count);
    if (said == NULL)
        code = nnrt_error_set(error, NNRT_INVALID_PARAMETER, "an answer of at most %u bytes has no room for %u nodes",
                              c->line.most, count);
    else if (takes == NULL)
        code = nnrti_remote_limit(c, error);
    else
        code = nnrt_device_supported(c->server->device, model, &g.config, takes, count,
                                     reasons ? nnrti_remote_reason : NULL, c);
    for (uint32_t i = 0; code == NNRT_SUCCESS && i < (count + 3) / 4 * 4; i++)
        said[i] = i < count && takes[i] ? 1 : 0;
    nnrt_free(&c->allocator, takes, count);
    nnrt_model_destroy(model);
    nnrti_remote_parcel_contents_end(c, &g);
    return code;
}

static void nnrti_remote_let_go(nnrti_remote_client *c, nnrti_remote_prepared *h)
{
    if (h->prepared == NULL)
        return;
    nnrt_device_release(c->server->device, h->prepared);
    nnrt_free(&c->allocator, h->workspace, h->workspaceBytes);
    nnrt_model_destroy(h->model);
    nnrti_remote_unmap(c, h->map, h->bytes);
    memset(h, 0, sizeof(*h));
}

/* Allocates the workspace of a prepared model that needs one. */
static NNRT_ReturnCode nnrti_remote_hold(nnrti_remote_client *c, nnrti_remote_prepared *h, nnrt_error *error)
{
    const NNRT_PreparedModelVtbl *t = h->prepared->vtbl;
    NNRT_ReturnCode code;
    if (!NNRT_HAS(t, NNRT_PreparedModelVtbl, RunIn) || !NNRT_HAS(t, NNRT_PreparedModelVtbl, GetWorkspaceSize))
        return NNRT_SUCCESS;
    if ((code = t->GetWorkspaceSize(h->prepared, &h->workspaceBytes)) != NNRT_SUCCESS)
        h->workspaceBytes = 0;
    if (h->workspaceBytes == 0)
        return code;
    h->workspace = nnrt_alloc(&c->allocator, h->workspaceBytes);
    return h->workspace != NULL ? NNRT_SUCCESS : nnrti_remote_limit(c, error);
}

#define NNRTI_REMOTE_HAS(h, slot) NNRT_HAS((h)->prepared->vtbl, NNRT_PreparedModelVtbl, slot)

/* Bits of the optional slots that a prepared model has. */
static uint32_t nnrti_remote_slots(const nnrti_remote_prepared *h)
{
    uint32_t slots = 0, bit = 0;
#define NNRTI_REMOTE_SLOT(slot) slots |= (uint32_t)NNRTI_REMOTE_HAS(h, slot) << bit++;
    NNRTI_REMOTE_SLOTS(NNRTI_REMOTE_SLOT)
#undef NNRTI_REMOTE_SLOT
    return slots;
}

/* Prepares from the buffers of a parcel (CACHE, OFFLINE). */
static NNRT_ReturnCode nnrti_remote_prepare_parcel(nnrti_remote_client *c, uint32_t kind,
                                                   nnrti_remote_parcel_contents *g, NNRT_PreparedModel **prepared,
                                                   nnrt_error *error)
{
    nnrt_device *d = c->server->device;
    NNRT_SharedBuffer *buffers;
    uint32_t count;
    NNRT_ReturnCode code;
    if (!nnrti_remote_get_buffers(g->map, g->first, NULL, &count))
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "the received list of buffers is malformed");
    buffers = (NNRT_SharedBuffer *)nnrt_alloc(&c->allocator, (count + (size_t)1) * sizeof(*buffers));
    if (buffers == NULL)
        return nnrti_remote_limit(c, error);
    (void)nnrti_remote_get_buffers(g->map, g->first, buffers, &count);
    code = kind == NNRTI_REMOTE_CACHE ? nnrt_device_prepare_cache(d, buffers, count, &g->config, prepared)
                                      : nnrt_device_prepare_offline(d, buffers, count, &g->config, prepared);
    nnrt_free(&c->allocator, buffers, (count + (size_t)1) * sizeof(*buffers));
    return code;
}

static NNRT_ReturnCode nnrti_remote_do_prepare(nnrti_remote_client *c, uint32_t kind, nnrti_remote_reader *r, int fd,
                                               nnrt_error *error)
{
    const uint32_t places = c->server->limits.models;
    nnrti_remote_parcel_contents g;
    nnrti_remote_prepared h;
    uint32_t place = 0;
    NNRT_ReturnCode code;
    memset(&h, 0, sizeof(h));
    code = kind == NNRTI_REMOTE_PREPARE ? nnrti_remote_open_model(c, r, fd, &g, false, &h.model, error)
                                        : nnrti_remote_open(c, r, fd, &g, error);
    if (code != NNRT_SUCCESS)
        return code;
    while (place < places && c->models[place].prepared != NULL)
        place++;
    if (place == places)
        code =
            nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "the driver's process allows a client at most %u models", places);
    else if (kind == NNRTI_REMOTE_PREPARE)
        code = nnrt_device_prepare(c->server->device, h.model, &g.config, &h.prepared);
    else
        code = nnrti_remote_prepare_parcel(c, kind, &g, &h.prepared, error);
    nnrti_remote_parcel_lists_free(c, &g);
    h.map = g.map;
    h.bytes = g.bytes;
    if (code == NNRT_SUCCESS && (code = nnrti_remote_hold(c, &h, error)) == NNRT_SUCCESS) {
        c->models[place] = h;
        nnrti_remote_put_u32(&c->line.out, place + 1);
        nnrti_remote_put_u32(&c->line.out, nnrti_remote_slots(&h));
        return code;
    }
    if (h.prepared != NULL) {
        nnrti_remote_let_go(c, &h);
        return code;
    }
    nnrt_model_destroy(h.model);
    nnrti_remote_parcel_contents_end(c, &g);
    return code;
}

/* Reads a model id and returns the entry; NULL: the client has no such model. */
static nnrti_remote_prepared *nnrti_remote_model_of(nnrti_remote_client *c, nnrti_remote_reader *r, nnrt_error *error)
{
    const uint32_t id = nnrti_remote_get_u32(r);
    nnrti_remote_prepared *h = id > 0 && id <= c->server->limits.models ? &c->models[id - 1] : NULL;
    if (h != NULL && h->prepared != NULL)
        return h;
    (void)nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the driver's process has no model %u of this client", id);
    return NULL;
}

static NNRT_ReturnCode nnrti_remote_do_export(nnrti_remote_client *c, nnrti_remote_reader *r, nnrt_error *error)
{
    nnrti_remote_prepared *h = nnrti_remote_model_of(c, r, error);
    const NNRT_SharedBuffer *buffers = NULL;
    nnrti_remote_parcel p;
    uint32_t count = 0;
    size_t first, second, bytes;
    uint8_t *map;
    NNRT_ReturnCode code;
    if (h == NULL || !nnrti_remote_read_all(r))
        return NNRT_INVALID_PARAMETER;
    if (!NNRTI_REMOTE_HAS(h, ExportModelCache))
        return NNRT_NOT_SUPPORT;
    if ((code = h->prepared->vtbl->ExportModelCache(h->prepared, &buffers, &count)) != NNRT_SUCCESS)
        return code;
    memset(&p, 0, sizeof(p));
    if (count > 0 && buffers == NULL)
        return nnrt_error_set(error, NNRT_DEVICE_ERROR, "the device returned a model cache without buffers");
    if ((code = nnrti_remote_put_buffers(buffers, count, NULL, &first, error)) != NNRT_SUCCESS)
        return code;
    p.first = first;
    if ((map = nnrti_remote_parcel_make(&p, &second, &bytes)) == NULL)
        return nnrti_remote_no_memory(error);
    code = nnrti_remote_put_buffers(buffers, count, map, &first, error);
    if (!nnrti_remote_parcel_seal(&p, map, bytes))
        return nnrti_remote_no_memory(error);
    if (code != NNRT_SUCCESS) {
        nnrti_remote_close(&p.fd);
        return code;
    }
    nnrti_remote_put_parcel(&c->line.out, &p);
    c->back = p.fd;
    return NNRT_SUCCESS;
}

/* IO and RANGES: checks the index against the model's inputs or outputs before it reaches the device. */
static NNRT_ReturnCode nnrti_remote_do_shape(nnrti_remote_client *c, uint32_t kind, nnrti_remote_reader *r,
                                             nnrt_error *error)
{
    nnrti_remote_prepared *h = nnrti_remote_model_of(c, r, error);
    const bool output = nnrti_remote_get_u32(r) != 0;
    const uint32_t index = nnrti_remote_get_u32(r);
    NNRT_ReturnCode code = NNRT_NOT_SUPPORT;
    NNRT_DataType type = NNRT_DATA_TYPE_UNKNOWN;
    nnrt_dims dims[2];
    memset(dims, 0, sizeof(dims));
    if (h == NULL || !nnrti_remote_read_all(r))
        return NNRT_INVALID_PARAMETER;
    if (h->model != NULL && index >= (output ? h->model->outputIndex.count : h->model->inputIndex.count))
        return NNRT_INVALID_PARAMETER;
    if (kind == NNRTI_REMOTE_IO) {
        if (NNRTI_REMOTE_HAS(h, GetIO))
            code = h->prepared->vtbl->GetIO(h->prepared, output, index, &type, dims);
        nnrti_remote_put_i32(&c->line.out, type);
    } else if (output && NNRTI_REMOTE_HAS(h, GetOutputDimRanges)) {
        code = h->prepared->vtbl->GetOutputDimRanges(h->prepared, index, &dims[0], &dims[1]);
    } else if (!output && NNRTI_REMOTE_HAS(h, GetInputDimRanges)) {
        code = h->prepared->vtbl->GetInputDimRanges(h->prepared, index, &dims[0], &dims[1]);
    }
    nnrti_remote_put_dims(&c->line.out, &dims[0]);
    if (kind == NNRTI_REMOTE_RANGES)
        nnrti_remote_put_dims(&c->line.out, &dims[1]);
    return code;
}

static NNRT_ReturnCode nnrti_remote_do_held(nnrti_remote_client *c, nnrti_remote_reader *r, nnrt_error *error)
{
    nnrti_remote_prepared *h = nnrti_remote_model_of(c, r, error);
    nnrt_prepared_memory memory;
    NNRT_ReturnCode code;
    memset(&memory, 0, sizeof(memory));
    if (h == NULL || !nnrti_remote_read_all(r))
        return NNRT_INVALID_PARAMETER;
    if (!NNRTI_REMOTE_HAS(h, GetMemory))
        return NNRT_NOT_SUPPORT;
    code = h->prepared->vtbl->GetMemory(h->prepared, &memory);
    nnrti_remote_put_u64(&c->line.out, memory.tables);
    nnrti_remote_put_u64(&c->line.out, memory.workspace);
    nnrti_remote_put_u64(&c->line.out, memory.arena);
    nnrti_remote_put_u64(&c->line.out, memory.bound);
    nnrti_remote_put_u64(&c->line.out, memory.constants);
    nnrti_remote_put_u32(&c->line.out, memory.steps);
    return code;
}

static NNRT_ReturnCode nnrti_remote_do_release(nnrti_remote_client *c, nnrti_remote_reader *r, nnrt_error *error)
{
    nnrti_remote_prepared *h = nnrti_remote_model_of(c, r, error);
    if (h == NULL || !nnrti_remote_read_all(r))
        return NNRT_INVALID_PARAMETER;
    nnrti_remote_let_go(c, h);
    return NNRT_SUCCESS;
}

/* Entry of buffer id; id 0: a free entry; NULL: none. */
static nnrti_remote_shared *nnrti_remote_shared_of(nnrti_remote_client *c, uint32_t id)
{
    for (uint32_t i = 0; i < c->server->limits.buffers; i++)
        if (c->buffers[i].id == id)
            return &c->buffers[i];
    return NULL;
}

static NNRT_ReturnCode nnrti_remote_do_map(nnrti_remote_client *c, nnrti_remote_reader *r, int fd, nnrt_error *error)
{
    const uint32_t id = nnrti_remote_get_u32(r);
    const uint64_t bytes = nnrti_remote_get_u64(r);
    nnrti_remote_shared *s = nnrti_remote_shared_of(c, 0);
    if (!nnrti_remote_read_all(r))
        return nnrti_remote_no_message(error);
    if (id == 0 || nnrti_remote_shared_of(c, id) != NULL)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "buffer id %u must not be 0, and not mapped already", id);
    if (s == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "the driver's process allows a client at most %u buffers",
                              c->server->limits.buffers);
    if (!nnrti_remote_charge(c, bytes))
        return nnrti_remote_limit(c, error);
    if ((s->map = nnrti_remote_map(fd, bytes, true)) == NULL) {
        c->used -= bytes;
        return nnrt_error_set(error, NNRT_INVALID_BUFFER,
                              "the memory of buffer %u must have the announced size and be sealed against shrinking",
                              id);
    }
    s->bytes = (size_t)bytes;
    s->id = id;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_remote_do_unmap(nnrti_remote_client *c, nnrti_remote_reader *r, nnrt_error *error)
{
    const uint32_t id = nnrti_remote_get_u32(r);
    nnrti_remote_shared *s = id != 0 ? nnrti_remote_shared_of(c, id) : NULL;
    if (!nnrti_remote_read_all(r))
        return nnrti_remote_no_message(error);
    if (s == NULL)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "the driver's process has no buffer %u of this client", id);
    nnrti_remote_unmap(c, s->map, s->bytes);
    memset(s, 0, sizeof(*s));
    return NNRT_SUCCESS;
}

/* ---- a run ---- */

/* Reads one tensor of RUN into c->io[number]. */
static NNRT_ReturnCode nnrti_remote_get_tensor(nnrti_remote_client *c, nnrti_remote_reader *r, uint32_t number,
                                               nnrt_error *error)
{
    NNRT_IOTensor *t = &c->io[number];
    const uint32_t id = nnrti_remote_get_u32(r), bytes = nnrti_remote_get_u32(r);
    const uint64_t offset = nnrti_remote_get_u64(r);
    const nnrti_remote_shared *s = id != 0 ? nnrti_remote_shared_of(c, id) : NULL;
    uint32_t axes;
    memset(t, 0, sizeof(*t));
    t->dataType = nnrti_remote_get_i32(r);
    t->format = nnrti_remote_get_i32(r);
    axes = nnrti_remote_get_u32(r);
    r->bad = r->bad || axes > r->left / sizeof(int32_t);
    if (!r->bad)
        t->dimensions =
            NNRT_Int32List_make((const int32_t *)(const void *)nnrti_remote_take(r, axes * sizeof(int32_t)), axes);
    t->name = nnrti_remote_get_text(r);
    t->data.fd = -1;
    t->data.bufferSize = t->data.dataSize = bytes;
    if (id == 0 || r->bad)
        return NNRT_SUCCESS;
    if (s == NULL || offset > s->bytes || bytes > s->bytes - offset)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "tensor %u of the run is outside the buffers of this client",
                              number);
    t->data.addr = s->map + offset;
    return NNRT_SUCCESS;
}

/* Checks that no output overlaps an input or another output. Otherwise a kernel could overwrite input data after it was
   validated. */
static bool nnrti_remote_outputs_disjoint(const nnrti_remote_client *c)
{
    for (uint32_t i = c->nIn; i < c->nIn + c->nOut; i++)
        for (uint32_t k = 0; k < i; k++) {
            const NNRT_SharedBuffer *a = &c->io[i].data, *b = &c->io[k].data;
            const uint8_t *x = (const uint8_t *)a->addr, *y = (const uint8_t *)b->addr;
            if (x != NULL && y != NULL && x < y + b->dataSize && y < x + a->dataSize)
                return false;
        }
    return true;
}

/* Makes room for `count` tensors of a run; 0: frees it. */
static bool nnrti_remote_tensors(nnrti_remote_client *c, uint32_t count)
{
    const size_t each = sizeof(*c->io) + sizeof(*c->there) + sizeof(*c->told);
    if (count > 0 && count <= c->room)
        return true;
    nnrt_free(&c->allocator, c->io, c->room * each);
    c->io = count > 0 ? (NNRT_IOTensor *)nnrt_alloc(&c->allocator, count * each) : NULL;
    c->room = c->io != NULL ? count : 0;
    c->there = c->io != NULL ? (uint8_t **)(c->io + count) : NULL;
    c->told = c->io != NULL ? (nnrt_dims *)(void *)(c->there + count) : NULL;
    return c->io != NULL || count == 0;
}

/* Reads the tensors of RUN into c->io. */
static NNRT_ReturnCode nnrti_remote_get_run(nnrti_remote_client *c, nnrti_remote_reader *r, nnrt_error *error)
{
    const uint32_t nIn = nnrti_remote_get_u32(r), nOut = nnrti_remote_get_u32(r);
    const size_t most = r->left / 36; /* at least 36 bytes for each tensor */
    NNRT_ReturnCode code = NNRT_SUCCESS;
    c->nIn = c->nOut = 0;
    if (nIn > most || nOut > most - nIn || (size_t)nOut * 40 + 1024 > c->line.most)
        r->bad = true;
    if (r->bad)
        return nnrti_remote_no_message(error);
    if (!nnrti_remote_tensors(c, nIn + nOut))
        return nnrti_remote_limit(c, error);
    for (uint32_t i = 0; i < nIn + nOut && !r->bad; i++) {
        const NNRT_ReturnCode one = nnrti_remote_get_tensor(c, r, i, error);
        code = code == NNRT_SUCCESS ? one : code;
    }
    if (!nnrti_remote_read_all(r))
        return nnrti_remote_no_message(error);
    c->nIn = nIn;
    c->nOut = nOut;
    if (code == NNRT_SUCCESS && !nnrti_remote_outputs_disjoint(c))
        code = nnrt_error_set(error, NNRT_INVALID_BUFFER, "an output of the run overlaps another tensor of it");
    return code;
}

/* Makes room for the copies of a run; 0: frees it. */
static bool nnrti_remote_copy_room(nnrti_remote_client *c, size_t bytes)
{
    if (bytes > 0 && bytes <= c->copyBytes)
        return true;
    nnrt_free(&c->allocator, c->copy, c->copyBytes);
    c->copy = bytes > 0 ? (uint8_t *)nnrt_alloc(&c->allocator, bytes) : NULL;
    c->copyBytes = c->copy != NULL ? bytes : 0;
    return c->copy != NULL || bytes == 0;
}

/* Replaces the tensors' addresses, which the client can write to during the run, by copies of the inputs and room for
   the outputs. */
static NNRT_ReturnCode nnrti_remote_copies(nnrti_remote_client *c, nnrt_error *error)
{
    size_t bytes = 0, at = 0;
    for (uint32_t i = 0; i < c->nIn + c->nOut; i++)
        bytes += (c->io[i].data.dataSize + (size_t)2 * NNRT_ALIGNMENT) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
    if (!nnrti_remote_copy_room(c, bytes))
        return nnrti_remote_limit(c, error);
    for (uint32_t i = 0; i < c->nIn + c->nOut; i++) {
        NNRT_SharedBuffer *b = &c->io[i].data;
        if (b->addr == NULL)
            continue;
        c->there[i] = (uint8_t *)b->addr;
        b->addr = c->copy + at + (uintptr_t)b->addr % NNRT_ALIGNMENT;
        at += (b->dataSize + (size_t)2 * NNRT_ALIGNMENT) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
        if (i < c->nIn)
            memcpy(b->addr, c->there[i], b->dataSize);
    }
    return NNRT_SUCCESS;
}

/* Bytes of an output that the run wrote; UINT32_MAX: unknown, because its shape was not reported. */
static uint32_t nnrti_remote_written(const nnrti_remote_client *c, uint32_t output)
{
    const nnrt_dims *told = &c->told[output];
    const NNRT_IOTensor *t = &c->io[c->nIn + output];
    size_t bytes;
    if (told->rank < 0 || told->rank > 8)
        return UINT32_MAX;
    for (int32_t k = 0; k < told->rank; k++)
        if (told->dims[k] < 0)
            return UINT32_MAX;
    if (!nnrt_dims_bytes(told->dims, told->rank, t->dataType, &bytes))
        return UINT32_MAX;
    return bytes < t->data.dataSize ? (uint32_t)bytes : t->data.dataSize;
}

static NNRT_ReturnCode nnrti_remote_do_run(nnrti_remote_client *c, nnrti_remote_reader *r, nnrt_error *error)
{
    nnrti_remote_prepared *h = nnrti_remote_model_of(c, r, error);
    NNRT_ReturnCode code = nnrti_remote_get_run(c, r, error);
    if (h == NULL || r->bad) {
        c->nOut = 0;
        return NNRT_INVALID_PARAMETER;
    }
    for (uint32_t i = 0; i < c->nOut; i++)
        c->told[i].rank = -1;
    if (code == NNRT_SUCCESS && c->copies)
        code = nnrti_remote_copies(c, error);
    if (code != NNRT_SUCCESS)
        return code;
    code = nnrt_prepared_run(h->prepared, h->workspace, h->workspaceBytes, c->io, c->nIn, c->io + c->nIn, c->nOut,
                             c->told, NULL, error);
    for (uint32_t i = 0; code == NNRT_SUCCESS && c->copies && i < c->nOut; i++) {
        const NNRT_SharedBuffer *b = &c->io[c->nIn + i].data;
        const uint32_t written = nnrti_remote_written(c, i);
        if (b->addr != NULL)
            memcpy(c->there[c->nIn + i], b->addr, written < b->dataSize ? written : b->dataSize);
    }
    return code;
}

/* Appends the reported output shapes and sizes of RUN, for every return code. */
static void nnrti_remote_put_outputs(nnrti_remote_client *c)
{
    nnrti_remote_put_u32(&c->line.out, c->nOut);
    for (uint32_t i = 0; i < c->nOut; i++) {
        nnrti_remote_put_dims(&c->line.out, &c->told[i]);
        nnrti_remote_put_u32(&c->line.out, nnrti_remote_written(c, i));
    }
}

/* ---- a connection ---- */

static NNRT_ReturnCode nnrti_remote_do(nnrti_remote_client *c, uint32_t kind, nnrti_remote_reader *r, int fd,
                                       nnrt_error *error)
{
    if (!c->greeted && kind != NNRTI_REMOTE_HELLO) {
        r->bad = true;
        return nnrti_remote_no_message(error);
    }
    switch (kind) {
    case NNRTI_REMOTE_HELLO: return nnrti_remote_do_hello(c, r, error);
    case NNRTI_REMOTE_STATUS: return nnrti_remote_do_status(c, r, error);
    case NNRTI_REMOTE_SUPPORT: return nnrti_remote_do_support(c, r, fd, error);
    case NNRTI_REMOTE_PREPARE:
    case NNRTI_REMOTE_CACHE:
    case NNRTI_REMOTE_OFFLINE: return nnrti_remote_do_prepare(c, kind, r, fd, error);
    case NNRTI_REMOTE_EXPORT: return nnrti_remote_do_export(c, r, error);
    case NNRTI_REMOTE_IO:
    case NNRTI_REMOTE_RANGES: return nnrti_remote_do_shape(c, kind, r, error);
    case NNRTI_REMOTE_HELD: return nnrti_remote_do_held(c, r, error);
    case NNRTI_REMOTE_RUN: return nnrti_remote_do_run(c, r, error);
    case NNRTI_REMOTE_RELEASE: return nnrti_remote_do_release(c, r, error);
    case NNRTI_REMOTE_MAP: return nnrti_remote_do_map(c, r, fd, error);
    case NNRTI_REMOTE_UNMAP: return nnrti_remote_do_unmap(c, r, error);
    default: r->bad = true; return nnrti_remote_no_message(error);
    }
}

/* Answers one request; false: the connection must be closed. */
static bool nnrti_remote_answer(nnrti_remote_client *c)
{
    const uint32_t time = c->server->limits.time;
    nnrti_remote_head head;
    nnrti_remote_reader r;
    nnrt_error error;
    int fd = -1;
    NNRT_ReturnCode code = nnrti_remote_wait(c->line.fd, false, NNRTI_REMOTE_FOREVER);
    memset(&head, 0, sizeof(head));
    memset(&error, 0, sizeof(error));
    memset(&r, 0, sizeof(r));
    error.capacity = (uint32_t)sizeof(error.message);
    error.node = error.tensor = -1;
    if (code == NNRT_SUCCESS)
        code = nnrti_remote_receive(&c->line, &head, &fd, nnrti_remote_now() + time);
    if (code != NNRT_SUCCESS && code != NNRT_INVALID_PARAMETER) {
        nnrti_remote_close(&fd);
        return false;
    }
    c->back = -1;
    c->line.out.used = 0;
    c->line.out.full = false;
    r.at = c->line.in;
    r.left = head.length;
    r.bad = code != NNRT_SUCCESS;
    if (code == NNRT_SUCCESS)
        code = nnrti_remote_do(c, head.kind, &r, fd, &error);
    else
        (void)nnrti_remote_no_message(&error);
    nnrti_remote_close(&fd);
    if (code != NNRT_SUCCESS || c->line.out.full) {
        c->line.out.used = 0;
        if (c->line.out.full) {
            c->line.out.full = false;
            code =
                nnrt_error_set(&error, NNRT_FAILED, "the answer does not fit into a message of %u bytes", c->line.most);
        }
        nnrti_remote_put_error(&c->line.out, &error);
    }
    if (head.kind == NNRTI_REMOTE_RUN && !r.bad)
        nnrti_remote_put_outputs(c);
    head.kind |= NNRTI_REMOTE_ANSWER;
    head.code = code;
    code = nnrti_remote_send(&c->line, &head, c->back, nnrti_remote_now() + time);
    nnrti_remote_close(&c->back);
    return code == NNRT_SUCCESS && !r.bad;
}

/* Serves a connection until it ends, then releases all that the client holds. */
static void nnrti_remote_serve_client(nnrti_remote_client *c)
{
    nnrt_remote_server *s = c->server;
    while (nnrti_remote_answer(c))
        continue;
    for (uint32_t i = 0; i < s->limits.models; i++)
        nnrti_remote_let_go(c, &c->models[i]);
    for (uint32_t i = 0; i < s->limits.buffers; i++)
        nnrti_remote_unmap(c, c->buffers[i].map, c->buffers[i].bytes);
    (void)nnrti_remote_tensors(c, 0);
    (void)nnrti_remote_copy_room(c, 0);
}

/* Allocates a client's message buffers and its tables of models and buffers. */
static bool nnrti_remote_client_make(nnrti_remote_client *c, nnrt_remote_server *s, int fd, bool copies)
{
    const size_t models = s->limits.models * sizeof(*c->models), buffers = s->limits.buffers * sizeof(*c->buffers);
    memset(c, 0, sizeof(*c));
    c->server = s;
    c->line.fd = fd;
    c->copies = copies;
    c->back = -1;
    c->allocator.alloc = nnrti_remote_client_alloc;
    c->allocator.free = nnrti_remote_client_free;
    c->allocator.user = c;
    c->models = (nnrti_remote_prepared *)nnrt_alloc(NULL, models);
    c->buffers = (nnrti_remote_shared *)nnrt_alloc(NULL, buffers);
    if (c->models != NULL)
        memset(c->models, 0, models);
    if (c->buffers != NULL)
        memset(c->buffers, 0, buffers);
    return c->models != NULL && c->buffers != NULL && nnrti_remote_channel_size(&c->line, s->limits.message);
}

static void nnrti_remote_client_end(nnrti_remote_client *c)
{
    nnrti_remote_channel_end(&c->line);
    nnrt_free(NULL, c->models, c->server->limits.models * sizeof(*c->models));
    nnrt_free(NULL, c->buffers, c->server->limits.buffers * sizeof(*c->buffers));
    c->models = NULL;
    c->buffers = NULL;
}

static void *nnrti_remote_thread(void *arg)
{
    nnrti_remote_client *c = (nnrti_remote_client *)arg;
    nnrt_remote_server *s = c->server;
    nnrti_remote_serve_client(c);
    (void)pthread_mutex_lock(&s->mutex);
    nnrti_remote_client_end(c);
    c->left = true;
    (void)pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* ---- the server ---- */

/* Sends the reason for a refused connection before the socket is closed. */
static void nnrti_remote_refuse(int fd, NNRT_ReturnCode code, const char *why)
{
    nnrti_remote_channel l;
    nnrti_remote_head head;
    nnrt_error error;
    memset(&l, 0, sizeof(l));
    memset(&head, 0, sizeof(head));
    memset(&error, 0, sizeof(error));
    l.fd = fd;
    error.node = error.tensor = -1;
    (void)nnrt_error_set(&error, code, "%s", why);
    head.kind = NNRTI_REMOTE_HELLO | NNRTI_REMOTE_ANSWER;
    head.serial = 1;
    head.code = code;
    if (nnrti_remote_channel_size(&l, NNRTI_REMOTE_MIN_MESSAGE)) {
        nnrti_remote_put_error(&l.out, &error);
        (void)nnrti_remote_send(&l, &head, -1, nnrti_remote_now() + 100);
    }
    nnrti_remote_channel_end(&l);
}

static bool nnrti_remote_may(const nnrt_remote_server *s, uint32_t user)
{
    for (uint32_t i = 0; i < s->userCount; i++)
        if (s->users[i] == user)
            return true;
    return s->userCount == 0 && user == (uint32_t)geteuid();
}

/* Joins the threads of clients that have left. Returns a free entry; NULL: none. */
static nnrti_remote_client *nnrti_remote_place_for(nnrt_remote_server *s)
{
    nnrti_remote_client *place = NULL;
    for (uint32_t i = 0; i < s->limits.clients; i++) {
        nnrti_remote_client *c = &s->clients[i];
        bool left;
        (void)pthread_mutex_lock(&s->mutex);
        left = c->taken && c->left;
        (void)pthread_mutex_unlock(&s->mutex);
        if (left) {
            (void)pthread_join(c->thread, NULL);
            c->taken = false;
        }
        if (!c->taken && place == NULL)
            place = c;
    }
    return place;
}

/* Accepts a connection. */
static void nnrti_remote_accept(nnrt_remote_server *s)
{
    int fd = accept(s->listener, NULL, NULL);
    nnrti_remote_user user;
    socklen_t bytes = sizeof(user);
    nnrti_remote_client *c;
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            (void)poll(NULL, 0, 10); /* out of descriptors: wait until other clients release some */
        return;
    }
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    memset(&user, 0xFF, sizeof(user));
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &bytes) != 0 || !nnrti_remote_may(s, user.user)) {
        nnrt_log_line(&s->log, NNRT_LOG_WARNING, "user %u may not connect", user.user);
        nnrti_remote_refuse(fd, NNRT_PERMISSION_DENIED, "the server does not admit this user id");
        return;
    }
    if ((c = nnrti_remote_place_for(s)) == NULL) {
        nnrt_log_line(&s->log, NNRT_LOG_WARNING, "process %d is refused: the server has its limit of %u clients",
                      user.process, s->limits.clients);
        nnrti_remote_refuse(fd, NNRT_DEVICE_BUSY, "the server has reached its limit of clients");
        return;
    }
    if (!nnrti_remote_client_make(c, s, fd, user.user != (uint32_t)geteuid())) {
        nnrti_remote_client_end(c);
        return;
    }
    nnrt_log_line(&s->log, NNRT_LOG_INFO, "process %d of user %u connects", user.process, user.user);
    c->taken = pthread_create(&c->thread, NULL, nnrti_remote_thread, c) == 0;
    if (!c->taken)
        nnrti_remote_client_end(c);
}

/* Removes the socket's file, if it still belongs to this server. */
static void nnrti_remote_remove(nnrt_remote_server *s)
{
    struct stat at;
    if (stat(s->path, &at) == 0 && at.st_dev == s->volume && at.st_ino == s->file)
        (void)unlink(s->path);
    nnrti_remote_close(&s->listener);
}

NNRT_API NNRT_ReturnCode nnrt_remote_serve_run(nnrt_remote_server *server, nnrt_error *error)
{
    struct pollfd p[2];
    if (server == NULL || server->listener < 0)
        return nnrt_error_set(error, server == NULL ? NNRT_NULL_PTR : NNRT_OPERATION_FORBIDDEN,
                              "the server is NULL or does not listen");
    memset(p, 0, sizeof(p));
    p[0].fd = server->wake[0];
    p[1].fd = server->listener;
    p[0].events = p[1].events = POLLIN;
    for (;;) {
        const int ready = poll(p, 2, -1);
        if (ready < 0 && errno != EINTR)
            break;
        if (ready > 0 && p[0].revents != 0)
            break;
        if (ready > 0 && p[1].revents != 0)
            nnrti_remote_accept(server);
    }
    nnrti_remote_remove(server);
    (void)pthread_mutex_lock(&server->mutex);
    for (uint32_t i = 0; i < server->limits.clients; i++)
        if (server->clients[i].taken && !server->clients[i].left)
            (void)shutdown(server->clients[i].line.fd, SHUT_RD); /* requests in progress are still answered */
    (void)pthread_mutex_unlock(&server->mutex);
    for (uint32_t i = 0; i < server->limits.clients; i++) {
        if (server->clients[i].taken)
            (void)pthread_join(server->clients[i].thread, NULL);
        server->clients[i].taken = false;
    }
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_remote_serve_stop(nnrt_remote_server *server)
{
    const int saved = errno;
    if (server != NULL && write(server->wake[1], "", 1) < 0)
        errno = saved; /* a full pipe already wakes the server */
    errno = saved;
}

NNRT_API void nnrt_remote_serve_close(nnrt_remote_server *server)
{
    if (server == NULL)
        return;
    if (server->listener >= 0)
        nnrti_remote_remove(server);
    nnrti_remote_close(&server->wake[0]);
    nnrti_remote_close(&server->wake[1]);
    (void)pthread_mutex_destroy(&server->mutex);
    nnrt_free(NULL, server, server->bytes);
}

/* Creates the socket and replaces a stale one, to which no process listens. */
static NNRT_ReturnCode nnrti_remote_listen(nnrt_remote_server *s, uint32_t mode, nnrt_error *error)
{
    struct sockaddr_un address;
    struct stat at;
    memset(&address, 0, sizeof(address));
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, s->path, sizeof(s->path));
    if (stat(s->path, &at) == 0) {
        int probe;
        bool heard;
        if ((at.st_mode & NNRTI_REMOTE_KIND) != NNRTI_REMOTE_SOCKET)
            return nnrt_error_set(error, NNRT_INVALID_PATH, "'%s' exists and is not a socket", s->path);
        probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        heard = probe < 0 || connect(probe, (struct sockaddr *)&address, sizeof(address)) == 0 || errno != ECONNREFUSED;
        nnrti_remote_close(&probe);
        if (heard)
            return nnrt_error_set(error, NNRT_DEVICE_BUSY, "another process already serves a device at '%s'", s->path);
        (void)unlink(s->path);
    }
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)nnrt_error_set(error, NNRT_INVALID_PATH, "cannot make the socket '%s': %s", s->path, strerror(errno));
        nnrti_remote_close(&s->listener);
        return NNRT_INVALID_PATH;
    }
    if (stat(s->path, &at) == 0) {
        s->volume = at.st_dev;
        s->file = at.st_ino;
    }
    if (chmod(s->path, (mode_t)mode) != 0 || listen(s->listener, 64) != 0) { /* no client can connect before listen */
        (void)nnrt_error_set(error, NNRT_INVALID_PATH, "cannot listen at '%s': %s", s->path, strerror(errno));
        nnrti_remote_remove(s);
        return NNRT_INVALID_PATH;
    }
    return NNRT_SUCCESS;
}

/* *l = the limits of desc, with the default for each limit of 0. */
static NNRT_ReturnCode nnrti_remote_limits_of(const nnrt_remote_serve_desc *desc, nnrt_remote_limits *l,
                                              nnrt_error *error)
{
    *l = desc->limits;
    l->clients = l->clients != 0 ? l->clients : 16;
    l->models = l->models != 0 ? l->models : 64;
    l->buffers = l->buffers != 0 ? l->buffers : 256;
    l->message = l->message != 0 ? l->message : 262144;
    l->time = l->time != 0 ? l->time : 10000;
    l->bytes = l->bytes != 0 ? l->bytes : (uint64_t)1 << 30;
    if (l->clients > 65536 || l->models > 65536 || l->buffers > 65536 || l->message < NNRTI_REMOTE_MIN_MESSAGE ||
        l->message > NNRTI_REMOTE_MAX_MESSAGE || desc->userCount > 65536)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "limits: clients %u, models %u, buffers %u, message %u; expected at most 65536, and a "
                              "message of %u to %u bytes",
                              l->clients, l->models, l->buffers, l->message, NNRTI_REMOTE_MIN_MESSAGE,
                              NNRTI_REMOTE_MAX_MESSAGE);
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_remote_serve_open(nnrt_remote_server **server, const nnrt_remote_serve_desc *desc,
                                                nnrt_error *error)
{
    const char *name;
    nnrt_remote_server *s;
    nnrt_remote_limits l;
    nnrt_device *device;
    size_t text, path, bytes;
    NNRT_ReturnCode code;
    if (server == NULL || desc == NULL || desc->path == NULL || (desc->userCount > 0 && desc->users == NULL))
        return nnrt_error_set(error, NNRT_NULL_PTR, "the pointer to the server, the path or the list of users is NULL");
    *server = NULL;
    if ((code = nnrti_remote_limits_of(desc, &l, error)) != NNRT_SUCCESS)
        return code;
    path = strlen(desc->path);
    if (path == 0 || path >= sizeof(s->path))
        return nnrt_error_set(error, NNRT_INVALID_PATH, "the path '%s' has %z characters, expected 1 to %z", desc->path,
                              path, sizeof(s->path) - 1);
    device = nnrt_device_choose(desc->device, NULL, NULL);
    name = desc->device != NULL || device == NULL ? desc->device : nnrt_device_name(device);
    if (device == NULL)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "there is no device named '%s'", name);
    text = strlen(name) + 1;
    bytes = sizeof(*s) + l.clients * sizeof(*s->clients) + desc->userCount * sizeof(*s->users) + text;
    s = (nnrt_remote_server *)nnrt_alloc(NULL, bytes);
    if (s == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "out of memory for a server");
    memset(s, 0, bytes);
    s->bytes = bytes;
    s->device = device;
    s->limits = l;
    s->listener = s->wake[0] = s->wake[1] = -1;
    if (desc->log != NULL)
        s->log = *desc->log;
    memcpy(s->path, desc->path, path + 1);
    s->clients = (nnrti_remote_client *)(s + 1);
    s->users = (const uint32_t *)(const void *)(s->clients + l.clients);
    s->userCount = desc->userCount;
    memcpy(s->clients + l.clients, desc->users != NULL ? desc->users : &s->userCount,
           desc->userCount * sizeof(*s->users));
    memcpy((uint8_t *)s + bytes - text, name, text);
    s->autoDevices = strncmp(name, "auto:", 5) == 0 ? (const char *)s + bytes - text + 5 : NULL;
    (void)pthread_mutex_init(&s->mutex, NULL); /* cannot fail without attributes */
    if (pipe(s->wake) != 0) {
        s->wake[0] = s->wake[1] = -1;
        code = nnrt_error_set(error, NNRT_FAILED, "pipe failed: %s", strerror(errno));
    } else {
        for (uint32_t i = 0; i < 2; i++) {
            (void)fcntl(s->wake[i], F_SETFD, FD_CLOEXEC);
            (void)fcntl(s->wake[i], F_SETFL, O_NONBLOCK);
        }
        code = nnrti_remote_listen(s, desc->mode != 0 ? desc->mode : 0600, error);
    }
    if (code != NNRT_SUCCESS) {
        nnrt_remote_serve_close(s);
        return code;
    }
    *server = s;
    return NNRT_SUCCESS;
}

#endif /* NNRT_REMOTE && NNRT_THREADS */

#endif /* NNRT_IMPLEMENTATION */
