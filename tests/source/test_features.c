/* features.tsv: it contains every capability of the list, and the tests that it names exist. */
#define _POSIX_C_SOURCE 200809L
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 1000000

static char *text_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = (char *)malloc(MOST);
    size_t length;
    if (f == NULL)
        fail_msg("there is no %s", path);
    assert_non_null(text);
    length = fread(text, 1, MOST - 1, f);
    assert_true(length < MOST - 1);
    text[length] = '\0';
    (void)fclose(f);
    return text;
}

/* Does a test exist? "SUITE:FUNCTION", the path of a file, or "PATH#WORD", a file that has this word. */
static bool exists(const char *test)
{
    const char *colon = strchr(test, ':');
    char path[128], function[128], *source;
    glob_t files;
    const char *word = strchr(test, '#');
    bool found;
    if (word != NULL) {
        (void)snprintf(path, sizeof(path), "%.*s", (int)(word - test), test);
        source = text_of(path);
        found = strstr(source, word + 1) != NULL;
        free(source);
        return found;
    }
    if (colon == NULL) {
        FILE *f = fopen(test, "rb");
        if (f != NULL)
            (void)fclose(f);
        return f != NULL;
    }
    (void)snprintf(path, sizeof(path), "tests/*/test_%.*s.c", (int)(colon - test), test);
    (void)snprintf(function, sizeof(function), "\nstatic void %s(void **", colon + 1);
    if (glob(path, 0, NULL, &files) != 0)
        return false;
    source = text_of(files.gl_pathv[0]);
    found = strstr(source, function) != NULL;
    free(source);
    globfree(&files);
    return found;
}

/* A line: id, state, tests with spaces between, missing parts. */
static void check_row(const char *line, const char *id)
{
    char own[1024], *fields[4] = {NULL, NULL, NULL, NULL}, *at = own;
    uint32_t count = 0, tests = 0;
    bool met, part;
    assert_true(strlen(line) < sizeof(own));
    strcpy(own, line);
    while (at != NULL && count < 4) {
        fields[count++] = at;
        if ((at = strchr(at, '\t')) != NULL)
            *at++ = '\0';
    }
    assert_null(at);
    assert_true(count >= 3);
    if (strcmp(fields[0], id) != 0)
        fail_msg("found %s, expected %s", fields[0], id);
    met = strcmp(fields[1], "met") == 0;
    part = strcmp(fields[1], "part") == 0;
    if (!met && !part && strcmp(fields[1], "open") != 0)
        fail_msg("%s: '%s' is not met, part or open", id, fields[1]);
    for (char *test = strtok(fields[2], " "); test != NULL; test = strtok(NULL, " ")) {
        tests++;
        if (!exists(test))
            fail_msg("%s: there is no test %s", id, test);
    }
    if ((tests > 0) != (met || part))
        fail_msg("%s is %s and names %u tests", id, fields[1], tests);
    if ((count == 4 && *fields[3] != '\0') == met)
        fail_msg("%s is %s: %s", id, fields[1], met ? "nothing is missing" : "what is missing?");
}

static void test_features(void **state)
{
    static const uint32_t counts[14] = {20, 14, 13, 9, 14, 10, 12, 15, 10, 7, 10, 7, 6, 5}; /* A to N */
    char *text = text_of("tests/source/features.tsv"), *line = text;
    (void)state;
    for (uint32_t c = 0; c < 14; c++)
        for (uint32_t n = 1; n <= counts[c]; n++) {
            char id[8], *end;
            while (*line == '#')
                line = strchr(line, '\n') + 1;
            (void)snprintf(id, sizeof(id), "%c%02u", (char)('A' + (int)c), n);
            if ((end = strchr(line, '\n')) == NULL)
                fail_msg("%s is missing", id);
            *end = '\0';
            check_row(line, id);
            line = end + 1;
        }
    assert_string_equal(line, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_features)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
