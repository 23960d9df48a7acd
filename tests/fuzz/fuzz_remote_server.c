/* Fuzz target: the bytes are a client's messages to a server of devices/nnrt_remote.h: unchanged, or as requests that
   are mostly valid, with memory that is mostly sealed. The server answers or closes the connection, and serves the next
   one. */
#include "remote.h"

typedef struct fuzz_served {
    nnrt_remote_server *server;
    struct sockaddr_un address;
    fuzz_parcel parcels[2];
} fuzz_served;

static void *fuzz_serve(void *arg)
{
    (void)nnrt_remote_serve_run((nnrt_remote_server *)arg, NULL);
    return NULL;
}

static fuzz_served *fuzz_the_server(void);

static void fuzz_unserve(void)
{
    (void)unlink(fuzz_the_server()->address.sun_path);
}

static fuzz_served *fuzz_the_server(void)
{
    static fuzz_served s;
    nnrt_remote_serve_desc desc;
    pthread_t thread;
    if (s.server != NULL)
        return &s;
    s.address = fuzz_address("server");
    memset(&desc, 0, sizeof(desc));
    desc.path = s.address.sun_path;
    desc.device = "reference";
    desc.limits.models = 2;
    desc.limits.buffers = 3;
    desc.limits.message = 4096;
    desc.limits.time = 200;
    desc.limits.bytes = (uint64_t)1 << 20;
    fuzz_expect(nnrt_remote_serve_open(&s.server, &desc, NULL) == NNRT_SUCCESS, "there is a server", desc.path);
    fuzz_expect(pthread_create(&thread, NULL, fuzz_serve, s.server) == 0, "there is a thread", NULL);
    (void)pthread_detach(thread);
    (void)atexit(fuzz_unserve);
    fuzz_parcel_make(&s.parcels[0], 2);
    fuzz_parcel_make(&s.parcels[1], 0);
    return &s;
}

/* A request and its memory. */
static void fuzz_request(fuzz_frame *frame, uint32_t kind, int *fd, fuzz_served *s, fuzz_bytes *f)
{
    static uint8_t data[FUZZ_PARCEL];
    fuzz_parcel *p = &s->parcels[fuzz_byte(f) % 2];
    frame->kind = kind;
    switch (kind) {
    case 3: fuzz_put_u32(frame, fuzz_byte(f)); /* fall through */
    case 4:
    case 5:
    case 6:
        memcpy(data, p->data, sizeof(data));
        for (uint32_t changes = fuzz_byte(f) % 4; changes > 1; changes--)
            data[(fuzz_byte(f) << 8 | fuzz_byte(f)) % (p->first + p->second + 64)] = (uint8_t)fuzz_byte(f);
        *fd = fuzz_memory_of(f, data, sizeof(data), 2 | 8);
        fuzz_put_u64(frame, p->first);
        fuzz_put_u64(frame, p->second);
        break;
    case 7:
    case 10:
    case 12: fuzz_put_u32(frame, fuzz_byte(f) % 4); break;
    case 8:
    case 9:
        fuzz_put_u32(frame, fuzz_byte(f) % 4);
        fuzz_put_u32(frame, fuzz_byte(f) % 2);
        fuzz_put_u32(frame, fuzz_byte(f) % 2);
        break;
    case 11: {
        const uint32_t in = fuzz_byte(f), out = fuzz_byte(f);
        fuzz_put_u32(frame, fuzz_byte(f) % 4);
        fuzz_put_u32(frame, in < 200 ? 1 : in);
        fuzz_put_u32(frame, out < 200 ? 1 : out);
        for (uint32_t i = 0; i < 2 + in / 220; i++) {
            fuzz_put_u32(frame, fuzz_byte(f) % 4);
            fuzz_put_u32(frame, fuzz_byte(f) < 200 ? 24 : fuzz_word(f));
            fuzz_put_u64(frame, fuzz_byte(f) < 200 ? i * 64 : fuzz_word(f));
            fuzz_put_u32(frame, fuzz_byte(f) < 200 ? (uint32_t)NNRT_DATA_TYPE_FLOAT32 : fuzz_byte(f));
            fuzz_put_u32(frame, 0);
            fuzz_put_u32(frame, fuzz_byte(f) < 220 ? 2 : fuzz_word(f));
            fuzz_put_u32(frame, fuzz_byte(f) < 200 ? 2 : fuzz_byte(f));
            fuzz_put_u32(frame, 3);
            fuzz_put_text(frame, "abc");
        }
        break;
    }
    case 13:
        fuzz_put_u32(frame, fuzz_byte(f) % 4);
        fuzz_put_u64(frame, fuzz_byte(f) < 200 ? 4096 : fuzz_word(f));
        *fd = fuzz_memory_of(f, p->data, 4096, 2);
        break;
    case 14: fuzz_put_u32(frame, fuzz_byte(f) % 4); break;
    default: break;
    }
}

static void fuzz_remote_server(const uint8_t *data, size_t size)
{
    static fuzz_frame frame;
    fuzz_served *s = fuzz_the_server();
    fuzz_bytes f = fuzz_bytes_make(data, size);
    uint8_t drain[4096];
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fuzz_expect(fd >= 0 && connect(fd, (struct sockaddr *)&s->address, sizeof(s->address)) == 0,
                "the server takes the next connection", NULL);
    if (fuzz_byte(&f) < 16) {
        (void)send(fd, data, size, MSG_NOSIGNAL);
    } else {
        bool more = true;
        for (uint64_t serial = 1; more && serial < 24 && (f.at < f.size || serial == 1); serial++) {
            int memory = -1;
            memset(&frame, 0, sizeof(frame));
            fuzz_request(&frame, serial == 1 ? 1 : fuzz_byte(&f) % 16, &memory, s, &f);
            frame.serial = serial;
            more = fuzz_send(fd, &frame, memory, &f);
            if (memory >= 0)
                (void)close(memory);
        }
    }
    (void)shutdown(fd, SHUT_WR);
    while (read(fd, drain, sizeof(drain)) > 0)
        continue;
    (void)close(fd);
}

FUZZ_TARGET(fuzz_remote_server)
