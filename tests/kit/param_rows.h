/* For the tests of compat/: the rows of a table of parameters (compat/nnrt_compat.h) against the descriptions of the
   attribute structs in nnrt_ops.h. Include after cmocka.h and a header of compat/. */
#ifndef PARAM_ROWS_H
#define PARAM_ROWS_H

static void is_enumerator(const nnrt_attr_member *m, int32_t value)
{
    uint32_t i = 0;
    while (i < m->valueCount && m->values[i].value != value)
        i++;
    assert_true(i < m->valueCount);
}

/* Every row of an operation names the first byte of a member, whose type is the kind's; numbers of an enumeration are
   enumerators of the member. Returns the number of rows. */
static uint32_t rows_fit_members(const nnrti_param *rows, int32_t operation, NNRT_NodeType type)
{
    const nnrt_attr_struct *s = nnrt_op_find(type)->attr;
    uint32_t count = 0;
    for (const nnrti_param *p = nnrti_params_of(rows, operation); p->kind != NNRTI_PARAM_OPERATION; p++, count++) {
        const nnrti_param_kind *k = &nnrti_param_kinds[p->kind];
        const nnrt_attr_member *m = s->members;
        if (p->kind == NNRTI_PARAM_OUTPUT_TYPE)
            continue;
        while (m < s->members + s->count && m->offset != p->at)
            m++;
        assert_true(m < s->members + s->count);
        if (k->member == NNRT_ATTR_KIND_INT) /* of 8 bytes; INT64 and TYPE are int64_t with another meaning */
            assert_true(m->bytes == sizeof(int64_t) &&
                        (m->kind == NNRT_ATTR_KIND_INT || m->kind == NNRT_ATTR_KIND_INT64 ||
                         (p->kind == NNRTI_PARAM_TYPE && m->kind == NNRT_ATTR_KIND_TYPE)));
        else
            assert_int_equal(m->kind, k->member);
        if (k->member == NNRT_ATTR_KIND_ENUM && p->key == NNRTI_PARAM_PRESET)
            is_enumerator(m, (int32_t)p->value);
        for (size_t i = 0; k->member == NNRT_ATTR_KIND_ENUM && i < k->nNumbers; i++)
            if (k->numbers[i] >= 0)
                is_enumerator(m, k->numbers[i]);
    }
    return count;
}

#endif
