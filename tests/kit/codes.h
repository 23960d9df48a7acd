/* Return codes and the order of checks, function by function. A row lists a function's checks in the order of the
   specification's text, and calls the function with any of them violated: the first violated one must determine the
   code. Include after cmocka.h and counted.h. */
#ifndef CODES_H
#define CODES_H

/* A check. "NAME NULL": the parameter of that name is NULL. If its code is the row's good one, it is no fault. */
typedef struct check {
    const char *what;
    int code;
    uint32_t never; /* the checks before it, as bits, that no call can violate together with it */
} check;

typedef struct row {
    const char *function, *section; /* of the specification's text */
    const check *checks;            /* terminated by one without a name */
    int (*call)(uint32_t broken);   /* violates the checks whose bits are set, and nothing else */
    int good;                       /* the result without a violation */
} row;

#define ROW(Function, section, name, good)                                                                             \
    {                                                                                                                  \
#Function, section, name##_checks, name, good                                                                  \
    }
#define A(n) (1u << (n))
#define B(n) ((broken >> (n)&1u) != 0)
#define END                                                                                                            \
    {                                                                                                                  \
        NULL, 0, 0                                                                                                     \
    }

/* Results of functions that return a handle or nothing. DONE: a handle was returned or freed; NOTHING: it was not. */
enum { DONE = 1000, NOTHING };

#define CODES_MOST 32
static bool codesSeen[CODES_MOST];

/* A call returns the expected code and leaks no memory. */
static void expect_code(const row *r, uint32_t broken, int wanted, const char *first, const char *second)
{
    const int64_t before = heap_live;
    const int found = r->call(broken);
    if (found != wanted)
        fail_msg("%s (section %s): %s%s%s: found %d, expected %d", r->function, r->section, first,
                 *second != '\0' ? "; " : "", second, found, wanted);
    if (heap_live != before)
        fail_msg("%s: %s: %d blocks are left", r->function, first, (int)(heap_live - before));
    if (found >= 0 && found < CODES_MOST)
        codesSeen[found] = true;
}

/* Each check alone, and each before every later one. */
static void codes_of(void **state)
{
    const row *r = (const row *)*state;
    const check *c = r->checks;
    expect_code(r, 0, r->good, "no fault", "");
    for (uint32_t i = 0; c[i].what != NULL; i++) {
        expect_code(r, A(i), c[i].code, c[i].what, "");
        for (uint32_t k = i + 1; c[k].what != NULL; k++)
            if ((c[k].never & A(i)) == 0)
                expect_code(r, A(i) | A(k), c[i].code != r->good ? c[i].code : c[k].code, c[i].what, c[k].what);
    }
}

static bool codes_named(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether a row of this function has a check "NAME NULL". */
static bool codes_null(const row *rows, uint32_t count, const char *function, const char *name, size_t length)
{
    for (uint32_t i = 0; i < count; i++)
        for (const check *c = rows[i].checks; strcmp(rows[i].function, function) == 0 && c->what != NULL; c++)
            if (strncmp(c->what, name, length) == 0 && strcmp(c->what + length, " NULL") == 0)
                return true;
    return false;
}

/* A declaration, from its name to its semicolon: it has a row, with a check of each pointer parameter. */
static void codes_declared(const row *rows, uint32_t count, const char *name, const char *open)
{
    const char *at = open + 1, *begin = at;
    char function[80];
    int depth = 1;
    uint32_t i = 0;
    (void)snprintf(function, sizeof(function), "%.*s", (int)(open - name), name);
    while (i < count && strcmp(rows[i].function, function) != 0)
        i++;
    if (i == count)
        fail_msg("%s has no case", function);
    for (; depth > 0; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0 || (depth == 1 && *at == ',')) {
            const char *star = strstr(begin, "(*"), *end = at, *first;
            bool pointer = false;
            for (const char *p = begin; p < at; p++)
                pointer = pointer || *p == '*' || *p == '[' || strncmp(p, "NN_On", 5) == 0;
            if (star != NULL && star < at) { /* a function */
                for (first = star + 2, end = first; codes_named(*end);)
                    end++;
            } else {
                while (end[-1] == ']' || end[-1] == '[')
                    end--;
                for (first = end; codes_named(first[-1]);)
                    first--;
            }
            if (pointer && !codes_null(rows, count, function, first, (size_t)(end - first)))
                fail_msg("%s: no case has %.*s NULL", function, (int)(end - first), first);
            begin = at + 1;
        }
    }
}

/* Every function that a header declares has its row. Returns their number; api: the beginning of a declaration. */
static uint32_t codes_complete(const row *rows, uint32_t count, const char *path, const char *api)
{
    static char text[100000];
    FILE *file = fopen(path, "rb");
    size_t length;
    uint32_t declared = 0;
    assert_non_null(file);
    length = fread(text, 1, sizeof(text) - 1, file);
    assert_true(length < sizeof(text) - 1);
    text[length] = '\0';
    (void)fclose(file);
    for (const char *at = text; (at = strstr(at, api)) != NULL; declared++) {
        const char *open = strchr(at += strlen(api), '('), *name = open;
        while (codes_named(name[-1]))
            name--;
        codes_declared(rows, count, name, open);
    }
    return declared;
}

/* All rows as tests, and then the fixed ones. */
static int codes_run(const row *rows, uint32_t count, const struct CMUnitTest *fixed, uint32_t nFixed)
{
    static struct CMUnitTest tests[128];
    assert(count + nFixed <= 128);
    for (uint32_t i = 0; i < count + nFixed; i++) {
        tests[i] = fixed[i < count ? 0 : i - count];
        if (i >= count)
            continue;
        tests[i].name = rows[i].function;
        tests[i].test_func = codes_of;
        tests[i].initial_state = (void *)(uintptr_t)&rows[i];
    }
    return _cmocka_run_group_tests("codes", tests, count + nFixed, NULL, NULL);
}

#endif
