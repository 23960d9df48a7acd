/* Fuzz target: the bytes are a server's answers to a client of devices/nnrt_remote.h, which registers the device, sends
   every kind of request, prepares a model and runs it. Answers are mostly valid. Every call must end with a return
   code. */
#include "remote.h"

typedef struct fuzz_answering {
    int listener;
    struct sockaddr_un address;
    fuzz_bytes bytes;
    int over; /* the next connection is no client */
} fuzz_answering;

static fuzz_answering *fuzz_the_listener(void);

static void fuzz_unlisten(void)
{
    (void)unlink(fuzz_the_listener()->address.sun_path);
}

static fuzz_answering *fuzz_the_listener(void)
{
    static fuzz_answering a;
    if (a.address.sun_family != 0)
        return &a;
    a.address = fuzz_address("client");
    a.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fuzz_expect(a.listener >= 0 && bind(a.listener, (struct sockaddr *)&a.address, sizeof(a.address)) == 0 &&
                    listen(a.listener, 4) == 0,
                "there is a socket", a.address.sun_path);
    (void)atexit(fuzz_unlisten);
    return &a;
}

/* The valid answer to a request; sending makes 0 to 2 changes. */
static void fuzz_answer(fuzz_frame *frame, const fuzz_frame *asked, int *fd, fuzz_bytes *f)
{
    const uint32_t odd = fuzz_byte(f);
    frame->kind = asked->kind | 0x80000000u;
    frame->serial = asked->serial;
    if (odd > 250) {
        frame->code = (int32_t)fuzz_word(f) % 40;
        fuzz_put_u32(frame, fuzz_word(f));
        fuzz_put_u32(frame, fuzz_word(f));
        fuzz_put_text(frame, "no!");
        return;
    }
    switch (asked->kind) {
    case 1:
        fuzz_put_u32(frame, odd == 250 ? fuzz_word(f) : 4096);
        fuzz_put_u32(frame, 4);
        fuzz_put_u32(frame, 4);
        fuzz_put_u64(frame, 1 << 20);
        fuzz_put_u32(frame, 1);
        fuzz_put_u32(frame, 0);
        fuzz_put_u32(frame, 2);
        fuzz_put_u32(frame, 0x1F);
        fuzz_put_text(frame, "npu");
        fuzz_put_text(frame, "who");
        break;
    case 2: fuzz_put_u32(frame, fuzz_byte(f) % 5); break;
    case 3:
        fuzz_put_u32(frame, 2);
        fuzz_put_u32(frame, fuzz_word(f));
        for (uint32_t i = fuzz_byte(f) % 4; i > 0; i--) {
            fuzz_put_u32(frame, fuzz_byte(f) % 3);
            fuzz_put_u32(frame, 33);
            fuzz_put_u32(frame, 0xFFFFFFFFu);
            fuzz_put_text(frame, "why");
        }
        break;
    case 4:
    case 5: fuzz_put_u32(frame, 1); break;
    case 7: {
        uint32_t content[64] = {2, 5, 3};
        for (uint32_t changes = fuzz_byte(f) % 4; changes > 1; changes--)
            content[fuzz_byte(f) % 4] = fuzz_word(f);
        *fd = fuzz_memory_of(f, content, sizeof(content), 2 | 8);
        fuzz_put_u64(frame, fuzz_byte(f) < 200 ? 131 : fuzz_word(f)); /* 3 numbers; 5 bytes at 64, 3 at 128 */
        fuzz_put_u64(frame, 0);
        break;
    }
    case 8:
        fuzz_put_u32(frame, fuzz_byte(f) < 200 ? (uint32_t)NNRT_DATA_TYPE_FLOAT32 : fuzz_word(f));
        fuzz_put_dims(frame, fuzz_byte(f) < 200 ? 2 : (int32_t)fuzz_word(f), fuzz_byte(f) < 200 ? 2 : (int32_t)fuzz_word(f), 3);
        break;
    case 9:
        fuzz_put_dims(frame, fuzz_byte(f) < 200 ? 2 : (int32_t)fuzz_word(f), fuzz_byte(f) < 200 ? 2 : (int32_t)fuzz_word(f), 3);
        fuzz_put_dims(frame, 2, fuzz_byte(f) < 200 ? 2 : (int32_t)fuzz_word(f), 3);
        break;
    case 10:
        for (uint32_t i = 0; i < 5; i++)
            fuzz_put_u64(frame, fuzz_byte(f));
        fuzz_put_u32(frame, 2);
        break;
    case 11:
        fuzz_put_u32(frame, 1);
        fuzz_put_dims(frame, fuzz_byte(f) < 200 ? 2 : (int32_t)fuzz_word(f), 2, 3);
        fuzz_put_u32(frame, fuzz_byte(f) < 200 ? 24 : fuzz_word(f));
        break;
    default: break;
    }
}

/* Answers the first connection while bytes remain, and closes later connections. */
static void *fuzz_answer_all(void *arg)
{
    static fuzz_frame asked, frame;
    fuzz_answering *a = (fuzz_answering *)arg;
    int fd = accept(a->listener, NULL, NULL);
    while (fuzz_read(fd, &asked, offsetof(fuzz_frame, body)) && asked.length <= sizeof(asked.body) &&
           fuzz_read(fd, asked.body, asked.length)) {
        int memory = -1;
        bool sent;
        if (a->bytes.size > 0 && a->bytes.data[0] < 8 && asked.serial > a->bytes.data[0]) { /* bytes that answer no request */
            (void)send(fd, a->bytes.data, a->bytes.size, MSG_NOSIGNAL);
            break;
        }
        memset(&frame, 0, sizeof(frame));
        fuzz_answer(&frame, &asked, &memory, &a->bytes);
        sent = fuzz_send(fd, &frame, memory, &a->bytes);
        if (memory >= 0)
            (void)close(memory);
        if (!sent)
            break;
    }
    (void)close(fd);
    while (__atomic_load_n(&a->over, __ATOMIC_SEQ_CST) == 0) {
        fd = accept(a->listener, NULL, NULL);
        (void)close(fd);
    }
    return NULL;
}

static void fuzz_reason(void *user, uint32_t node, const nnrt_error *error)
{
    (void)user;
    fuzz_expect(node < 2 && memchr(error->message, 0, sizeof(error->message)) != NULL, "a reason is of a node", NULL);
}

/* All requests of a client. */
static void fuzz_ask(nnrt_remote *r, const NNRT_Model *m)
{
    nnrt_device *d = nnrt_device_find(nnrt_remote_name(r));
    const nnrt_dims extents = {2, {2, 3, 0, 0, 0, 0, 0, 0}};
    const NNRT_SharedBuffer *cache;
    float x[6] = {0}, y[6];
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ModelConfig config;
    bool takes[2];
    uint32_t count;
    (void)nnrt_device_status(d);
    memset(&config, 0, sizeof(config));
    memset(&desc, 0, sizeof(desc));
    (void)nnrt_device_supported(d, m, &config, takes, 2, fuzz_reason, NULL);
    if (nnrt_device_prepare(d, m, &config, &prepared) == NNRT_SUCCESS) {
        if (prepared->vtbl->ExportModelCache(prepared, &cache, &count) == NNRT_SUCCESS)
            for (uint32_t i = 0; i < count; i++)
                (void)memchr(cache[i].addr, 77, cache[i].dataSize); /* all of it can be read */
        nnrt_device_release(d, prepared);
    }
    desc.device = nnrt_remote_name(r);
    desc.inputDims = nnrt_dims_list_make(&extents, 1);
    if (nnrt_session_create(&s, m, &desc, NULL) == NNRT_SUCCESS) {
        nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
        (void)nnrt_run(s, &in, 1, &out, 1);
        (void)nnrt_run(s, &in, 1, &out, 1);
        nnrt_session_destroy(s);
    }
}

static void fuzz_remote_client(const uint8_t *data, size_t size)
{
    static NNRT_Model *m;
    fuzz_answering *a = fuzz_the_listener();
    nnrt_remote *r = NULL;
    pthread_t thread;
    char text[160];
    nnrt_error e;
    int knock;
    if (m == NULL)
        m = fuzz_small_model();
    memset(&e, 0, sizeof(e));
    a->bytes = fuzz_bytes_make(data, size);
    a->over = 0;
    snprintf(text, sizeof(text), "remote:name=fuzzed,time=500,%s", a->address.sun_path);
    fuzz_expect(pthread_create(&thread, NULL, fuzz_answer_all, a) == 0, "there is a thread", NULL);
    if (nnrt_remote_register(&r, text, &e) == NNRT_SUCCESS) {
        fuzz_ask(r, m);
        fuzz_expect(nnrt_device_unregister("fuzzed") == NNRT_SUCCESS, "all that was prepared is given back", NULL);
    } else {
        fuzz_check_error(e.code, &e, "nnrt_remote_register");
    }
    __atomic_store_n(&a->over, 1, __ATOMIC_SEQ_CST);
    knock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)connect(knock, (struct sockaddr *)&a->address, sizeof(a->address));
    (void)pthread_join(thread, NULL);
    (void)close(knock);
}

FUZZ_TARGET(fuzz_remote_client)
