/* words.h - the dictionary of a recognizer, and the decoding of its result. For ocr.c. */
#ifndef OCR_WORDS_H
#define OCR_WORDS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 8192, STEPS = 240 }; /* at most: words, steps of a text */

/* The lines of a file. Word 0 is the blank of CTC, the last word a space. */
typedef struct dictionary {
    char bytes[1 << 18];
    const char *words[WORDS];
    int count;
} dictionary;

/* Reads the file; false: it cannot be opened. */
static bool read_dictionary(dictionary *d, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return false;
    d->bytes[fread(d->bytes, 1, sizeof(d->bytes) - 1, f)] = '\0';
    fclose(f);
    d->count = 0;
    d->words[d->count++] = "";
    for (char *word = strtok(d->bytes, "\r\n"); word != NULL && d->count < WORDS - 1; word = strtok(NULL, "\r\n"))
        d->words[d->count++] = word;
    d->words[d->count++] = " ";
    return true;
}

/* Greedy CTC decoding of probabilities [steps,count]: the most probable word of each step, without repetitions and
   blanks. Returns the number of words in `text`. score: the mean of their probabilities; 0 without a word. */
static int decode(const float *probabilities, int steps, int count, int *text, double *score)
{
    int length = 0, last = 0;
    *score = 0;
    for (int i = 0; i < steps; i++) {
        const float *step = probabilities + (size_t)i * (size_t)count;
        int best = 0;
        for (int k = 1; k < count; k++)
            best = step[k] > step[best] ? k : best;
        if (best != 0 && best != last) {
            text[length++] = best;
            *score += (double)step[best];
        }
        last = best;
    }
    *score = length > 0 ? *score / length : 0;
    return length;
}

#endif
