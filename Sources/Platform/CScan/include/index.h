// An index of the special bytes at which a JSON text may end: quotes, backslashes and control characters. It has one
// bit per byte of a block of 1,024 bytes, and moves with its reader. So it allocates no memory. Indexing a block at
// once takes far fewer instructions than a search at the end of each text.
#pragma once
#include "scan.h"

#define LOCSEARCH_INDEX_WORDS 16

// All zero: no block is indexed yet.
typedef struct {
    // The end of the block, a multiple of 1,024; 0 if there is none yet.
    ptrdiff_t end;
    // The first byte's bit is the lowest of the first word. Bits after the input's end are set, so that a search stops
    // there.
    uint64_t words[LOCSEARCH_INDEX_WORDS];
} locsearch_index;

// Indexes the block that contains `place`. Reads only bytes[0..<count]. Processes 32 bytes at a time if the processor
// supports AVX2, which is checked at run time.
void locsearch_index_load(locsearch_index *index, const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count);

static inline __attribute__((always_inline)) uint64_t *locsearch_index_word(locsearch_index *index, ptrdiff_t place) {
    return &index->words[(place >> 6) & (LOCSEARCH_INDEX_WORDS - 1)];
}

// Moves the index to the block that contains `place`.
static inline __attribute__((always_inline)) void locsearch_index_seek(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    if ((size_t)(index->end - 1 - place) >= 64 * LOCSEARCH_INDEX_WORDS)
        locsearch_index_load(index, bytes, place, count);
}

// Returns the index of the first special byte from `start` on; `count` or more if there is none. The index must be at
// the block that contains `start`.
static inline __attribute__((always_inline)) ptrdiff_t locsearch_special_here(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t start, ptrdiff_t count) {
    // The shift by the position in the word drops the bits before `start`.
    const uint64_t bits = *locsearch_index_word(index, start) >> (start & 63);
    if (bits != 0) return start + __builtin_ctzll(bits);

    ptrdiff_t word = start & ~(ptrdiff_t)63;
    do {
        word += 64;
        if (word >= index->end) locsearch_index_load(index, bytes, word, count);
    } while (*locsearch_index_word(index, word) == 0);
    return word + __builtin_ctzll(*locsearch_index_word(index, word));
}

// The same, for any position of the index.
static inline __attribute__((always_inline)) ptrdiff_t locsearch_special(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t start, ptrdiff_t count) {
    locsearch_index_seek(index, bytes, start, count);
    return locsearch_special_here(index, bytes, start, count);
}

// The same, if the index is at the block of `start` or an earlier one.
static inline __attribute__((always_inline)) ptrdiff_t locsearch_next_special(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t start, ptrdiff_t count) {
    if (start >= index->end) locsearch_index_load(index, bytes, start, count);
    return locsearch_special_here(index, bytes, start, count);
}
