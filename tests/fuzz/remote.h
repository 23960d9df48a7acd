/* Shared by the two fuzz targets of devices/nnrt_remote.h: the path of a socket, frames, memory with and without seals,
   a model as a parcel. Both ends are in this process, one on a thread. A target includes this first. */
#ifndef NNRT_TESTS_FUZZ_REMOTE_H
#define NNRT_TESTS_FUZZ_REMOTE_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_THREADS 1
#define NNRT_IMPLEMENTATION
#endif
#include "nnrt.h"

#include "devices/nnrt_remote.h"

#include "fuzz.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FUZZ_PARCEL 4096

typedef struct fuzz_frame {
    uint32_t magic;
    uint16_t version, layout;
    uint32_t kind;
    int32_t code;
    uint32_t length, fds;
    uint64_t serial;
    uint8_t body[4096];
} fuzz_frame;

static inline struct sockaddr_un fuzz_address(const char *name)
{
    struct sockaddr_un a;
    memset(&a, 0, sizeof(a));
    a.sun_family = AF_UNIX;
    snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/nnrt-fuzz-%s-%ld", name, (long)getpid());
    return a;
}

static inline void fuzz_put(fuzz_frame *f, const void *data, size_t bytes)
{
    if (bytes <= sizeof(f->body) - f->length) {
        memcpy(f->body + f->length, data, bytes);
        f->length += (uint32_t)bytes;
    }
}

static inline void fuzz_put_u32(fuzz_frame *f, uint32_t value)
{
    fuzz_put(f, &value, sizeof(value));
}

static inline void fuzz_put_u64(fuzz_frame *f, uint64_t value)
{
    fuzz_put(f, &value, sizeof(value));
}

/* 4 bytes with the 0. */
static inline void fuzz_put_text(fuzz_frame *f, const char *text)
{
    fuzz_put_u32(f, 4);
    fuzz_put(f, text, 4);
}

static inline void fuzz_put_dims(fuzz_frame *f, int32_t rank, int32_t first, int32_t second)
{
    const int32_t dims[9] = {rank, first, second, 0, 0, 0, 0, 0, 0};
    fuzz_put(f, dims, sizeof(dims));
}

/* Memory with these bytes and, unless f decides otherwise, seals against shrinking and writing. */
static inline int fuzz_memory_of(fuzz_bytes *f, const void *data, size_t bytes, int seals)
{
    NNRT_SharedBuffer b;
    uint32_t odd = fuzz_byte(f);
    (void)nnrt_buffer_create((uint32_t)bytes, &b);
    if (b.fd < 0) {
        nnrt_buffer_destroy(&b);
        return -1;
    }
    if (lseek(b.fd, 0, SEEK_SET) < 0 || write(b.fd, data, bytes) != (ssize_t)bytes)
        odd = 1;
    if (odd % 16 != 1)
        (void)fcntl(b.fd, 1033 /* F_ADD_SEALS */, seals);
    return b.fd;
}

/* Sends a frame, with a few changes if f decides so; false: the connection is closed. */
static inline bool fuzz_send(int socket, fuzz_frame *frame, int fd, fuzz_bytes *f)
{
    union {
        struct cmsghdr head;
        uint8_t room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part;
    struct msghdr m;
    const size_t bytes = offsetof(fuzz_frame, body) + frame->length;
    frame->magic = 0x52524E4Eu;
    frame->version = NNRT_REMOTE_VERSION;
    frame->layout = NNRT_LAYOUT;
    frame->fds = fd >= 0;
    for (uint32_t changes = fuzz_byte(f) % 8; changes > 5; changes--) {
        const uint32_t at = (fuzz_byte(f) << 8 | fuzz_byte(f)) % (uint32_t)bytes;
        ((uint8_t *)frame)[at] = (uint8_t)fuzz_byte(f);
    }
    memset(&m, 0, sizeof(m));
    part.iov_base = frame;
    part.iov_len = bytes;
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    if (fd >= 0) {
        memset(&control, 0, sizeof(control));
        m.msg_control = control.room;
        m.msg_controllen = sizeof(control.room);
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
    }
    return sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)part.iov_len;
}

/* Reads exactly so many bytes; false: fewer arrive. */
static inline bool fuzz_read(int socket, void *to, size_t bytes)
{
    uint8_t *at = (uint8_t *)to;
    while (bytes > 0) {
        const ssize_t got = read(socket, at, bytes);
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* y = relu(x[2,3] + [1,2,3]) as a parcel: a .nnrt file, then the configuration. */
typedef struct fuzz_parcel {
    uint8_t data[FUZZ_PARCEL];
    uint64_t first, second;
} fuzz_parcel;

static inline NNRT_Model *fuzz_small_model(void)
{
    static const float addend[3] = {1, 2, 3};
    static const int32_t three[1] = {3}, dims[2] = {-1, 3};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t in[2], sum;
    (void)nnrt_builder_create(&b, "small", NULL);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    in[1] = nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_FLOAT32, 1, three, addend, false);
    sum = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ERF, NULL, &sum, 1));
    fuzz_expect(nnrt_builder_finish(b, &m, NULL) == NNRT_SUCCESS, "the small model is one", NULL);
    nnrt_builder_destroy(b);
    return m;
}

/* rows: of x; 0: dynamic, at most 5. */
static inline void fuzz_parcel_make(fuzz_parcel *p, int32_t rows)
{
    static fuzz_frame config; /* as the body of a frame is written */
    NNRT_Model *m = fuzz_small_model();
    size_t bytes = 0;
    memset(p, 0, sizeof(*p));
    memset(&config, 0, sizeof(config));
    fuzz_expect(nnrt_model_save_memory(m, NULL, p->data, sizeof(p->data), &bytes, NULL) == NNRT_SUCCESS, "it is small", NULL);
    nnrt_model_destroy(m);
    p->first = bytes;
    for (uint32_t i = 0; i < 5; i++)
        fuzz_put_u32(&config, 0);
    fuzz_put_u32(&config, rows > 0 ? 1 : 0);
    if (rows > 0)
        fuzz_put_dims(&config, 2, rows, 3);
    fuzz_put_u32(&config, rows > 0 ? 0 : 1);
    if (rows == 0) {
        fuzz_put_text(&config, "x\0\0");
        memcpy(config.body + config.length - 8, "\2\0\0\0x\0\0\0", 8); /* 2 bytes of text */
        fuzz_put_dims(&config, 2, 5, 3);
    }
    fuzz_put_u32(&config, 0);
    p->second = config.length;
    bytes = (bytes + 63) / 64 * 64;
    fuzz_expect(bytes + config.length <= sizeof(p->data), "it is small", NULL);
    memcpy(p->data + bytes, config.body, config.length);
}

#endif /* NNRT_TESTS_FUZZ_REMOTE_H */
