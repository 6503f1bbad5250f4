// Functions that process 16 bytes at a time. In C, because Swift's SIMD types lack the essential instruction: it
// gathers comparison results into a number whose lowest set bit marks the first hit.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

static inline __attribute__((always_inline)) bool locsearch_is_special(uint8_t byte) {
    return byte < 0x20 || byte == '"' || byte == '\\';
}

// Returns which of 16 bytes are a quote, a backslash or a control character: all bits of these bytes are set, all
// others are 0.
#if defined(__SSE2__)
static inline __attribute__((always_inline)) __m128i locsearch_hits(const uint8_t *bytes) {
    // Flipping bit 1 moves the quote (0x22) to 0x20, next to the control characters, and moves 0x20 away.
    const __m128i flip = _mm_set1_epi8(0x02), last = _mm_set1_epi8(0x20), backslash = _mm_set1_epi8('\\');
    const __m128i block = _mm_loadu_si128((const __m128i *)bytes);
    const __m128i flipped = _mm_xor_si128(block, flip);
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(flipped, last), flipped);
    return _mm_or_si128(low, _mm_cmpeq_epi8(block, backslash));
}
#elif defined(__aarch64__)
static inline __attribute__((always_inline)) uint8x16_t locsearch_hits(const uint8_t *bytes) {
    const uint8x16_t block = vld1q_u8(bytes);
    const uint8x16_t low = vcleq_u8(veorq_u8(block, vdupq_n_u8(0x02)), vdupq_n_u8(0x20));
    return vorrq_u8(low, vceqq_u8(block, vdupq_n_u8('\\')));
}
#endif

#if defined(__SSE2__) || defined(__aarch64__)
// Gathers the results of a comparison of 16 bytes in a number, whose lowest bits represent the first byte.
// `locsearch_place` returns the index of the first true result.
#if defined(__SSE2__)
#define LOCSEARCH_ALL_BITS UINT64_C(0xFFFF)
#define LOCSEARCH_BITS_OF_A_BYTE 1
static inline __attribute__((always_inline)) uint64_t locsearch_bits(__m128i hits) {
    return (unsigned)_mm_movemask_epi8(hits);
}
#else
#define LOCSEARCH_ALL_BITS UINT64_MAX
#define LOCSEARCH_BITS_OF_A_BYTE 4
static inline __attribute__((always_inline)) uint64_t locsearch_bits(uint8x16_t hits) {
    // Four bits per byte: replaces x86's movemask.
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hits), 4)), 0);
}
#endif

// Returns which of 16 bytes are a quote, a backslash or a control character, as such a number; 0 if none is.
static inline __attribute__((always_inline)) uint64_t locsearch_specials(const uint8_t *bytes) {
    return locsearch_bits(locsearch_hits(bytes));
}

static inline __attribute__((always_inline)) ptrdiff_t locsearch_place(uint64_t hits) {
#if defined(__SSE2__)
    return __builtin_ctzll(hits);
#else
    return __builtin_ctzll(hits) >> 2;
#endif
}
#endif

// Returns whether one of eight bytes is a quote, a backslash or a control character.
static inline __attribute__((always_inline)) bool locsearch_has_special(uint64_t bytes) {
    // Subtracting a limit from a smaller byte sets its highest bit, and changes only later bytes. As in locsearch_hits,
    // flipping bit 1 moves the quote next to the control characters.
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t flipped = bytes ^ 0x02 * ones, backslash = bytes ^ '\\' * ones;
    const uint64_t hits = ((flipped - 0x21 * ones) & ~flipped) | ((backslash - ones) & ~backslash);
    return (hits & 0x80 * ones) != 0;
}

// Copies 4 to 15 bytes, and returns whether none of them is special; false for any other number of bytes. It copies the
// first and the last half, which overlap.
static inline __attribute__((always_inline)) bool locsearch_copy_short(
    uint8_t *to, const uint8_t *from, ptrdiff_t count) {
    if (count >= 8 && count < 16) {
        uint64_t first = 0, last = 0;
        __builtin_memcpy(&first, from, 8);
        __builtin_memcpy(&last, from + count - 8, 8);
        __builtin_memcpy(to, &first, 8);
        __builtin_memcpy(to + count - 8, &last, 8);
        return !locsearch_has_special(first) && !locsearch_has_special(last);
    }
    if (count >= 4 && count < 8) {
        uint32_t start = 0, end = 0;
        __builtin_memcpy(&start, from, 4);
        __builtin_memcpy(&end, from + count - 4, 4);
        __builtin_memcpy(to, &start, 4);
        __builtin_memcpy(to + count - 4, &end, 4);
        return !locsearch_has_special((uint64_t)end << 32 | start);
    }
    return false;
}

// Copies bytes up to the first quote, backslash or control character, and returns its index; `count` if there is none.
// Reads only from[0..<count]. Writes to[0..<count], where the bytes from the returned index on are undefined.
static inline __attribute__((always_inline)) ptrdiff_t locsearch_copy_clean(
    uint8_t *to, const uint8_t *from, ptrdiff_t count) {
    ptrdiff_t index = 0;
#if defined(__SSE2__) || defined(__aarch64__)
    while (index < count && count >= 16) {
        // The last block overlaps the one before it, so that no single bytes are left.
        if (index + 16 > count) index = count - 16;
        const uint64_t hits = locsearch_specials(from + index);
        __builtin_memcpy(to + index, from + index, 16);
        if (hits != 0) return index + locsearch_place(hits);
        index += 16;
    }
#endif
    if (index == 0 && locsearch_copy_short(to, from, count)) return count;
    for (; index < count && !locsearch_is_special(from[index]); index++) to[index] = from[index];
    return index;
}

// Returns the index of the first byte from `index` on that is not a JSON blank; `count` if there is none. Reads only
// bytes[index..<count].
static inline ptrdiff_t locsearch_behind_blanks(const uint8_t *bytes, ptrdiff_t index, ptrdiff_t count) {
#if defined(__SSE2__) || defined(__aarch64__)
    for (; index + 16 <= count; index += 16) {
#if defined(__SSE2__)
        const __m128i block = _mm_loadu_si128((const __m128i *)(bytes + index));
        const __m128i blank = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(block, _mm_set1_epi8('\n'))),
            _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('\r')), _mm_cmpeq_epi8(block, _mm_set1_epi8('\t'))));
        const uint64_t others = ~locsearch_bits(blank) & LOCSEARCH_ALL_BITS;
#else
        const uint8x16_t block = vld1q_u8(bytes + index);
        const uint8x16_t blank = vorrq_u8(
            vorrq_u8(vceqq_u8(block, vdupq_n_u8(' ')), vceqq_u8(block, vdupq_n_u8('\n'))),
            vorrq_u8(vceqq_u8(block, vdupq_n_u8('\r')), vceqq_u8(block, vdupq_n_u8('\t'))));
        const uint64_t others = ~locsearch_bits(blank) & LOCSEARCH_ALL_BITS;
#endif
        if (others != 0) return index + locsearch_place(others);
    }
#endif
    while (index < count
           && (bytes[index] == ' ' || bytes[index] == '\n' || bytes[index] == '\r' || bytes[index] == '\t'))
        index++;
    return index;
}

#if defined(__SSE2__) || defined(__aarch64__)
// Returns how many of 16 bytes are ASCII before the first that is not.
static inline ptrdiff_t locsearch_leading_ascii(const uint8_t *bytes) {
#if defined(__SSE2__)
    const uint64_t high = locsearch_bits(_mm_loadu_si128((const __m128i *)bytes));
#else
    const uint64_t high = locsearch_bits(vcgeq_u8(vld1q_u8(bytes), vdupq_n_u8(0x80)));
#endif
    return high == 0 ? 16 : locsearch_place(high);
}

// Returns how many of 16 bytes are complete three-byte characters, before the first byte that is not, or is E0 or ED: 0
// to 15, a multiple of three. Japanese text consists of these.
static inline ptrdiff_t locsearch_leading_threes(const uint8_t *bytes) {
    // 1110xxxx 10xxxxxx 10xxxxxx, five times. The last byte never matches.
#if defined(__SSE2__)
    const __m128i mask = _mm_setr_epi8(
        -0x10, -0x40, -0x40, -0x10, -0x40, -0x40, -0x10, -0x40, -0x40, -0x10, -0x40, -0x40, -0x10, -0x40, -0x40, 0);
    const __m128i form = _mm_setr_epi8(
        -0x20, -0x80, -0x80, -0x20, -0x80, -0x80, -0x20, -0x80, -0x80, -0x20, -0x80, -0x80, -0x20, -0x80, -0x80, 1);
    const __m128i block = _mm_loadu_si128((const __m128i *)bytes);
    const __m128i like = _mm_cmpeq_epi8(_mm_and_si128(block, mask), form);
    const __m128i apart = _mm_or_si128(
        _mm_cmpeq_epi8(block, _mm_set1_epi8(-0x20)), _mm_cmpeq_epi8(block, _mm_set1_epi8(-0x13)));
    const uint64_t others = ~locsearch_bits(_mm_andnot_si128(apart, like)) & LOCSEARCH_ALL_BITS;
#else
    static const uint8_t masks[16] = {
        0xF0, 0xC0, 0xC0, 0xF0, 0xC0, 0xC0, 0xF0, 0xC0, 0xC0, 0xF0, 0xC0, 0xC0, 0xF0, 0xC0, 0xC0, 0};
    static const uint8_t forms[16] = {
        0xE0, 0x80, 0x80, 0xE0, 0x80, 0x80, 0xE0, 0x80, 0x80, 0xE0, 0x80, 0x80, 0xE0, 0x80, 0x80, 1};
    const uint8x16_t block = vld1q_u8(bytes);
    const uint8x16_t like = vceqq_u8(vandq_u8(block, vld1q_u8(masks)), vld1q_u8(forms));
    const uint8x16_t apart = vorrq_u8(vceqq_u8(block, vdupq_n_u8(0xE0)), vceqq_u8(block, vdupq_n_u8(0xED)));
    const uint64_t others = ~locsearch_bits(vbicq_u8(like, apart)) & LOCSEARCH_ALL_BITS;
#endif
    // 11/32 equals a third for such small numbers.
    return (locsearch_place(others) * 11 >> 5) * 3;
}
#endif

// Returns whether fewer than 16 bytes are ASCII. It checks the first and the last half, which overlap.
static inline __attribute__((always_inline)) bool locsearch_is_short_ascii(const uint8_t *bytes, ptrdiff_t count) {
    const uint64_t highs = UINT64_C(0x8080808080808080);
    if (count >= 8) {
        uint64_t first = 0, last = 0;
        __builtin_memcpy(&first, bytes, 8);
        __builtin_memcpy(&last, bytes + count - 8, 8);
        return ((first | last) & highs) == 0;
    }
    if (count >= 4) {
        uint32_t first = 0, last = 0;
        __builtin_memcpy(&first, bytes, 4);
        __builtin_memcpy(&last, bytes + count - 4, 4);
        return ((first | last) & highs) == 0;
    }
    uint8_t all = 0;
    for (ptrdiff_t index = 0; index < count; index++) all |= bytes[index];
    return all < 0x80;
}

// Returns whether the bytes are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. Fast for
// runs of similar characters: up to 16 ASCII or five Japanese characters at a time. Reads only bytes[0..<readable]. If
// that exceeds `count`, bytes[count] must be ASCII, such as a text's closing quote.
static inline bool locsearch_is_utf8(const uint8_t *bytes, ptrdiff_t count, ptrdiff_t readable) {
    if (count < 16 && locsearch_is_short_ascii(bytes, count)) return true;
    ptrdiff_t index = 0;
    while (index < count) {
#if defined(__SSE2__) || defined(__aarch64__)
        if (index + 16 <= readable) {
            const ptrdiff_t known
                = bytes[index] < 0x80 ? locsearch_leading_ascii(bytes + index) : locsearch_leading_threes(bytes + index);
            index += known;
            if (known != 0) continue;
        } else if (count >= 16 && locsearch_leading_ascii(bytes + count - 16) == 16) {
            return true;
        }
#endif
        const uint8_t first = bytes[index];
        if (first < 0x80) {
            index++;
            continue;
        }
        const ptrdiff_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
        if (first < 0xC2 || first > 0xF4 || index + length > count) return false;
        // The range of the second byte: RFC 3629, section 4.
        const uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        const uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (bytes[index + 1] < least || bytes[index + 1] > most) return false;
        for (ptrdiff_t place = 2; place < length; place++)
            if ((bytes[index + place] & 0xC0) != 0x80) return false;
        index += length;
    }
    return true;
}

// Returns the index of the host in a URL with the scheme http or https in lower case; -1 for any other text.
static inline ptrdiff_t locsearch_host_start(const uint8_t *bytes, ptrdiff_t count) {
    if (count < 8) return -1;
    if (__builtin_memcmp(bytes, "https://", 8) == 0) return 8;
    return __builtin_memcmp(bytes, "http://", 7) == 0 ? 7 : -1;
}

// Returns the index of the first byte from `index` on that cannot be part of a host name: not a lower-case letter,
// digit, hyphen or dot. Returns `count` if there is none. Reads only bytes[index..<count].
static inline ptrdiff_t locsearch_behind_host_name(const uint8_t *bytes, ptrdiff_t index, ptrdiff_t count) {
#if defined(__SSE2__) || defined(__aarch64__)
    for (; index + 16 <= count; index += 16) {
#if defined(__SSE2__)
        const __m128i block = _mm_loadu_si128((const __m128i *)(bytes + index));
        const __m128i fromA = _mm_sub_epi8(block, _mm_set1_epi8('a'));
        const __m128i fromHyphen = _mm_sub_epi8(block, _mm_set1_epi8('-'));
        const __m128i letter = _mm_cmpeq_epi8(_mm_min_epu8(fromA, _mm_set1_epi8('z' - 'a')), fromA);
        // The slash lies between the dot and the digits.
        const __m128i other = _mm_cmpeq_epi8(_mm_min_epu8(fromHyphen, _mm_set1_epi8('9' - '-')), fromHyphen);
        const __m128i slash = _mm_cmpeq_epi8(block, _mm_set1_epi8('/'));
        const __m128i name = _mm_or_si128(letter, _mm_andnot_si128(slash, other));
        const uint64_t hits = locsearch_bits(_mm_cmpeq_epi8(name, _mm_setzero_si128()));
#else
        const uint8x16_t block = vld1q_u8(bytes + index);
        const uint8x16_t letter = vcleq_u8(vsubq_u8(block, vdupq_n_u8('a')), vdupq_n_u8('z' - 'a'));
        const uint8x16_t other = vcleq_u8(vsubq_u8(block, vdupq_n_u8('-')), vdupq_n_u8('9' - '-'));
        const uint8x16_t slash = vceqq_u8(block, vdupq_n_u8('/'));
        const uint64_t hits = locsearch_bits(vmvnq_u8(vorrq_u8(letter, vbicq_u8(other, slash))));
#endif
        if (hits != 0) return index + locsearch_place(hits);
    }
#endif
    for (; index < count; index++) {
        const uint8_t byte = bytes[index];
        if (!(byte >= 'a' && byte <= 'z') && !(byte >= '-' && byte <= '9' && byte != '/')) return index;
    }
    return count;
}

// Returns whether `text` occurs in `bytes`. Uses the C library, which skips most of the bytes. Declared here, because
// glibc's header declares it only with GNU extensions, although all C libraries have it.
extern void *memmem(const void *bytes, size_t count, const void *text, size_t length);
static inline bool locsearch_contains(const void *bytes, size_t count, const void *text, size_t length) {
    return memmem(bytes, count, text, length) != NULL;
}

// Returns whether `bytes` contain `first` directly followed by `second`. memmem would check every byte for such a short
// text.
static inline bool locsearch_contains_pair(const uint8_t *bytes, size_t count, uint8_t first, uint8_t second) {
    for (const uint8_t *end = bytes + count, *next = bytes; next < end; next++) {
        next = memchr(next, first, (size_t)(end - next));
        if (!next) return false;
        if (next + 1 < end && next[1] == second) return true;
    }
    return false;
}
