#include "walk.h"

#include <string.h>

// For functions that the walk calls rarely. They save the registers that they use, so that the walk keeps its state in
// registers.
#if (defined(__x86_64__) || defined(__aarch64__)) && __has_attribute(preserve_most)
#define SELDOM __attribute__((noinline, preserve_most))
#else
#define SELDOM __attribute__((noinline))
#endif

locsearch_step locsearch_step_of(const uint8_t *glue, ptrdiff_t length) {
    locsearch_step step = {.length = length, .field = locsearch_no_value};
    memcpy(step.glue, glue, (size_t)length);
#if defined(LOCSEARCH_ALL_BITS)
    if (length < 16) step.ignored = LOCSEARCH_ALL_BITS & LOCSEARCH_ALL_BITS << length * LOCSEARCH_BITS_OF_A_BYTE;
#endif
    return step;
}

static SELDOM bool is_at_end(const locsearch_step *step, const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    return place + step->length + (step->field != locsearch_no_value) <= count
        && memcmp(bytes + place, step->glue, (size_t)step->length) == 0;
}

// Returns whether a step's glue is at `place`, followed by at least one byte if the step has a value.
static inline bool is_at(const locsearch_step *step, const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
#if defined(__SSE2__)
    if (place < count - 16) {
        const __m128i block = _mm_loadu_si128((const __m128i *)(bytes + place));
        const __m128i glue = _mm_load_si128((const __m128i *)step->glue);
        return (locsearch_bits(_mm_cmpeq_epi8(block, glue)) | step->ignored) == LOCSEARCH_ALL_BITS;
    }
#elif defined(__aarch64__)
    if (place < count - 16) {
        const uint8x16_t equal = vceqq_u8(vld1q_u8(bytes + place), vld1q_u8(step->glue));
        return (locsearch_bits(equal) | step->ignored) == LOCSEARCH_ALL_BITS;
    }
#endif
    return is_at_end(step, bytes, place, count);
}

static inline bool is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

// Returns how many of eight bytes are digits before the first other byte. Digits become 0 to 9. Adding 0x76 sets the
// highest bit of all greater bytes. A carry changes only bytes after the first of these.
static inline ptrdiff_t leading_digits(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int place = 0; place < 8; place++) word |= (uint64_t)bytes[place] << 8 * place;
    word ^= UINT64_C(0x3030303030303030);
    const uint64_t others = (word | (word + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
    return others == 0 ? 8 : __builtin_ctzll(others) >> 3;
}

// The functions below return the index after the token in their name, or -1 if it is invalid.

static ptrdiff_t digits_end(const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    const ptrdiff_t start = place;
    while (place + 8 <= count) {
        const ptrdiff_t digits = leading_digits(bytes + place);
        place += digits;
        if (digits < 8) return place == start ? -1 : place;
    }
    while (place < count && is_digit(bytes[place])) place++;
    return place == start ? -1 : place;
}

static ptrdiff_t number_end(const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    if (place < count && bytes[place] == '-') place++;
    if (place < count && bytes[place] == '0') {
        place++;
    } else {
        place = digits_end(bytes, place, count);
    }
    if (place >= 0 && place < count && bytes[place] == '.') place = digits_end(bytes, place + 1, count);
    if (place >= 0 && place < count && (bytes[place] | 0x20) == 'e') {
        place++;
        if (place < count && (bytes[place] == '+' || bytes[place] == '-')) place++;
        place = digits_end(bytes, place, count);
    }
    return place;
}

static ptrdiff_t word_end(const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count, const char *word) {
    const ptrdiff_t length = (ptrdiff_t)strlen(word);
    return place + length <= count && memcmp(bytes + place, word, (size_t)length) == 0 ? place + length : -1;
}

static SELDOM ptrdiff_t other_end(const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    switch (bytes[place]) {
    case 't': return word_end(bytes, place, count, "true");
    case 'f': return word_end(bytes, place, count, "false");
    case 'n': return word_end(bytes, place, count, "null");
    default: return number_end(bytes, place, count);
    }
}

static bool is_hexadecimal(uint8_t byte) {
    const uint8_t letter = byte | 0x20;
    return is_digit(byte) || (letter >= 'a' && letter <= 'f');
}

static ptrdiff_t escape_end(const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    if (place + 1 >= count) return -1;
    switch (bytes[place + 1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': return place + 2;
    case 'u':
        for (ptrdiff_t digit = place + 2; digit < place + 6; digit++)
            if (digit >= count || !is_hexadecimal(bytes[digit])) return -1;
        return place + 6;
    default: return -1;
    }
}

// Returns the index of a text's closing quote, skipping escapes from its first special byte on.
static SELDOM ptrdiff_t escaped_text_end(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t special, ptrdiff_t count) {
    ptrdiff_t place = special;
    while (place < count && bytes[place] == '\\') {
        place = escape_end(bytes, place, count);
        if (place < 0) return -1;
        place = locsearch_next_special(index, bytes, place, count);
    }
    return place < count && bytes[place] == '"' ? place : -1;
}

static SELDOM void load(locsearch_index *index, const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    locsearch_index_load(index, bytes, place, count);
}

// Returns the step of a later member if the member beginning with `step` is missing; NULL if the bytes do not match.
static SELDOM const locsearch_step *later_member(
    const locsearch_step *steps, const locsearch_step *step, const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    do {
        if (step->next_member == 0) return NULL;
        step = steps + step->next_member;
    } while (!is_at(step, bytes, place, count));
    return step;
}

ptrdiff_t locsearch_walk(
    locsearch_index *index, const uint8_t *bytes, ptrdiff_t start, ptrdiff_t count, const locsearch_step *steps,
    ptrdiff_t step_count, locsearch_field *fields) {
    ptrdiff_t place = start;
    locsearch_index_seek(index, bytes, start, count);

    for (const locsearch_step *step = steps; step < steps + step_count; step++) {
        if (!is_at(step, bytes, place, count)) {
            step = later_member(steps, step, bytes, place, count);
            if (step == NULL) return -1;
        }
        place += step->length;
        const ptrdiff_t field = step->field;
        if (field == locsearch_no_value) continue;

        if (bytes[place] != '"') {
            const ptrdiff_t end = other_end(bytes, place, count);
            if (end < 0) return -1;
            if (field >= 0) fields[field] = (locsearch_field){place, end, locsearch_other};
            place = end;
            continue;
        }

        place++;
        if (place >= index->end) load(index, bytes, place, count);
        ptrdiff_t end = locsearch_special_here(index, bytes, place, count);
        locsearch_kind kind = locsearch_text;
        if (end >= count || bytes[end] != '"') {
            kind = locsearch_escaped_text;
            end = escaped_text_end(index, bytes, end, count);
            if (end < 0) return -1;
        }
        if (field >= 0) fields[field] = (locsearch_field){place, end, kind};
        place = end + 1;
    }
    return place;
}
