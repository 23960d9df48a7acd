/* Fake devices in cmocka tests. Include after cmocka.h. */
#ifndef FAKES_H
#define FAKES_H

#include "devices/nnrt_fake.h"

static inline nnrt_fake *registered(const char *text)
{
    nnrt_fake *fake = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_fake_register(&fake, text, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", text, e.message);
    return fake;
}

/* Unregisters a device; all that it prepared has been released. */
static inline void unregistered(nnrt_fake *fake)
{
    const nnrt_fake_record r = nnrt_fake_get_record(fake);
    assert_int_equal(r.prepared, r.released);
    assert_int_equal(r.blocks, 0);
    assert_int_equal(nnrt_device_unregister(nnrt_fake_name(fake)), NNRT_SUCCESS);
}

#endif
