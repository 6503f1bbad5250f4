// A walk over a JSON object with the same layout as earlier ones: the bytes between two values are the same.
#pragma once
#include "index.h"

// Bytes that are the same in each object, and the value after them.
typedef struct {
    // Up to 16 bytes. Longer glue needs several steps, of which the last one has the value.
    _Alignas(16) uint8_t glue[16];
    // The bits that a comparison of 16 bytes with the glue ignores, see `locsearch_bits`: those after the glue.
    uint64_t ignored;
    ptrdiff_t length;
    // The number of the value's field, or one of the two constants below.
    ptrdiff_t field;
    // The step at which the next member, or the object's end, begins: the walk continues there if this member is
    // missing. 0: no member begins here.
    ptrdiff_t next_member;
} locsearch_step;

enum {
    // There is a value that is not wanted.
    locsearch_unwanted = -1,
    // There is no value after the glue.
    locsearch_no_value = -2
};

typedef enum {
    locsearch_missing,
    // The text of a string without escapes, between its quotes.
    locsearch_text,
    // The text of a string with escapes of checked syntax, between its quotes.
    locsearch_escaped_text,
    // A number, `true`, `false` or `null`.
    locsearch_other
} locsearch_kind;

// The range of a value, or of a string's text.
typedef struct {
    ptrdiff_t start, end;
    locsearch_kind kind;
} locsearch_field;

// Makes a step without a value, for up to 16 bytes of glue.
locsearch_step locsearch_step_of(const uint8_t *glue, ptrdiff_t length);

// Follows the steps from `start` and stores the wanted values. Every byte is compared or checked. Returns the index
// after the last step; -1 if the object has another layout, or is invalid. Reads only bytes[0..<count].
ptrdiff_t locsearch_walk(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t start, ptrdiff_t count, const locsearch_step *steps,
    ptrdiff_t step_count, locsearch_field *fields);
