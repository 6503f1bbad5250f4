// An index of special bytes, at which a JSON text may end: quotes, backslashes and control characters. It has a bit for each
// byte of a stretch of 1,024, and moves on with its reader: so no memory is allocated, and many bytes are looked at in one
// go, which takes far fewer instructions than a block each time a text ends.
#pragma once
#include "scan.h"

#define LOCSEARCH_INDEX_WORDS 16

// All zero: an index of nothing yet.
typedef struct {
    // The place behind the stretch, a multiple of 1,024; 0: there is none yet.
    ptrdiff_t end;
    // The first byte's bit is the lowest of the first word. Bits behind the input's end are set, so that a search ends there.
    uint64_t words[LOCSEARCH_INDEX_WORDS];
} locsearch_index;

// Makes the index of the stretch in which `place` is. Reads bytes[0..<count] alone. Takes 32 bytes at a time where the
// processor can (AVX2), which is asked at run time.
void locsearch_index_load(locsearch_index *index, const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count);

static inline __attribute__((always_inline)) uint64_t *locsearch_index_word(locsearch_index *index, ptrdiff_t place) {
    return &index->words[(place >> 6) & (LOCSEARCH_INDEX_WORDS - 1)];
}

// Moves the index to the stretch in which `place` is.
static inline __attribute__((always_inline)) void locsearch_index_seek(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    if ((size_t)(index->end - 1 - place) >= 64 * LOCSEARCH_INDEX_WORDS)
        locsearch_index_load(index, bytes, place, count);
}

// Where the first special byte from `start` on stands: `count` or more if there is none. The index is at the stretch of
// `start`.
static inline __attribute__((always_inline)) ptrdiff_t locsearch_special_here(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t start, ptrdiff_t count) {
    // The shift by the place within the word drops the bits before `start`.
    const uint64_t bits = *locsearch_index_word(index, start) >> (start & 63);
    if (bits != 0) return start + __builtin_ctzll(bits);

    ptrdiff_t word = start & ~(ptrdiff_t)63;
    do {
        word += 64;
        if (word >= index->end) locsearch_index_load(index, bytes, word, count);
    } while (*locsearch_index_word(index, word) == 0);
    return word + __builtin_ctzll(*locsearch_index_word(index, word));
}

// The same, wherever the index is.
static inline __attribute__((always_inline)) ptrdiff_t locsearch_special(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t start, ptrdiff_t count) {
    locsearch_index_seek(index, bytes, start, count);
    return locsearch_special_here(index, bytes, start, count);
}

// The same when the index was moved to the stretch of `start` or to a place before it.
static inline __attribute__((always_inline)) ptrdiff_t locsearch_next_special(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t start, ptrdiff_t count) {
    if (start >= index->end) locsearch_index_load(index, bytes, start, count);
    return locsearch_special_here(index, bytes, start, count);
}
