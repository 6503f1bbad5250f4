// A walk over an object of JSON that is written as others before it: between two values the same bytes come.
#pragma once
#include "index.h"

// Some bytes that are the same in each object, and the value behind them.
typedef struct {
    // Up to 16 bytes; longer ones take several steps, of which the last has the value.
    _Alignas(16) uint8_t glue[16];
    // What a comparison of 16 bytes with the glue must say, see `locsearch_bits`: bits behind the glue are set.
    uint64_t ignored;
    ptrdiff_t length;
    // The number of the field that the value is, or one of the two below.
    ptrdiff_t field;
    // The step at which the next member of the object begins, or its end: where to go on when this member is missing.
    // 0: no member begins here.
    ptrdiff_t next_member;
} locsearch_step;

enum {
    // There is a value that is not wanted.
    locsearch_unwanted = -1,
    // There is no value behind the glue.
    locsearch_no_value = -2
};

typedef enum {
    locsearch_missing,
    // A text between its quotes, without escapes.
    locsearch_text,
    // A text between its quotes, with escapes whose shape was checked.
    locsearch_escaped_text,
    // A number, `true`, `false` or `null`.
    locsearch_other
} locsearch_kind;

// Where a value stands, or the text of a string.
typedef struct {
    ptrdiff_t start, end;
    locsearch_kind kind;
} locsearch_field;

// A step without a value, for up to 16 bytes of glue.
locsearch_step locsearch_step_of(const uint8_t *glue, ptrdiff_t length);

// Follows the steps from `start` and notes the values that are wanted. Every byte is compared or checked.
// Answers the place behind the last step; -1 when the object is written in another way, or is at fault.
// Reads bytes[0..<count] alone.
ptrdiff_t locsearch_walk(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t start, ptrdiff_t count, const locsearch_step *steps,
    ptrdiff_t step_count, locsearch_field *fields);
