// Looking at 16 bytes at a time. In C because Swift's SIMD types lack the one instruction that makes it worth while:
// comparisons gathered into a number whose lowest set bit tells where the first hit is.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

static inline __attribute__((always_inline)) bool locsearch_is_special(uint8_t byte) {
    return byte < 0x20 || byte == '"' || byte == '\\';
}

// Which of 16 bytes are a quote, a backslash or a control character: all of their bits set, the others' none.
#if defined(__SSE2__)
static inline __attribute__((always_inline)) __m128i locsearch_hits(const uint8_t *bytes) {
    // Flipping bit 1 puts the quote (0x22) at 0x20, next to the control characters, and 0x20 away.
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
// The same as a number; 0: none is. The first one's place is `locsearch_place` of the answer.
static inline __attribute__((always_inline)) uint64_t locsearch_specials(const uint8_t *bytes) {
#if defined(__SSE2__)
    return (unsigned)_mm_movemask_epi8(locsearch_hits(bytes));
#else
    // Four bits for each byte: what stands in for x86's movemask.
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(locsearch_hits(bytes)), 4)), 0);
#endif
}

static inline __attribute__((always_inline)) ptrdiff_t locsearch_place(uint64_t hits) {
#if defined(__SSE2__)
    return __builtin_ctzll(hits);
#else
    return __builtin_ctzll(hits) >> 2;
#endif
}
#endif

// Which of 64 bytes are one of those, the first byte's bit the lowest.
static inline __attribute__((always_inline)) uint64_t locsearch_block(const uint8_t *bytes) {
#if defined(__SSE2__)
    return locsearch_specials(bytes) | locsearch_specials(bytes + 16) << 16 | locsearch_specials(bytes + 32) << 32
        | locsearch_specials(bytes + 48) << 48;
#elif defined(__aarch64__)
    // Each byte keeps the bit of its place among eight; adding neighbours three times makes one byte of eight.
    const uint8x16_t bits = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const uint8x16_t first = vpaddq_u8(
        vandq_u8(locsearch_hits(bytes), bits), vandq_u8(locsearch_hits(bytes + 16), bits));
    const uint8x16_t second = vpaddq_u8(
        vandq_u8(locsearch_hits(bytes + 32), bits), vandq_u8(locsearch_hits(bytes + 48), bits));
    const uint8x16_t pairs = vpaddq_u8(first, second);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)), 0);
#else
    uint64_t block = 0;
    for (int place = 0; place < 64; place++) block |= (uint64_t)locsearch_is_special(bytes[place]) << place;
    return block;
#endif
}

// Where the first quote, backslash or control character from `index` on stands; `count` if there is none.
// Reads bytes[index..<count] alone.
static inline __attribute__((always_inline)) ptrdiff_t locsearch_first_special(
    const uint8_t *bytes, ptrdiff_t index, ptrdiff_t count) {
#if defined(__SSE2__) || defined(__aarch64__)
    for (; index + 16 <= count; index += 16) {
        const uint64_t hits = locsearch_specials(bytes + index);
        if (hits != 0) return index + locsearch_place(hits);
    }
#endif
    while (index < count && !locsearch_is_special(bytes[index])) index++;
    return index;
}

// Copies bytes up to the first quote, backslash or control character, and answers where that stands; `count` if there is
// none. Looks at what it copies anyway. Reads from[0..<count] alone; writes to[0..<count], behind that place anything.
static inline ptrdiff_t locsearch_copy_clean(uint8_t *to, const uint8_t *from, ptrdiff_t count) {
    ptrdiff_t index = 0;
#if defined(__SSE2__) || defined(__aarch64__)
    while (index < count && count >= 16) {
        // The last block overlaps the one before it: no rest of single bytes.
        if (index + 16 > count) index = count - 16;
        const uint64_t hits = locsearch_specials(from + index);
        __builtin_memcpy(to + index, from + index, 16);
        if (hits != 0) return index + locsearch_place(hits);
        index += 16;
    }
#endif
    for (; index < count && !locsearch_is_special(from[index]); index++) to[index] = from[index];
    return index;
}

// Four bytes, the first in the lowest place. Reads bytes[0..<4].
static inline uint32_t locsearch_word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

// Whether the bytes are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. Quick where characters
// of one kind follow each other: 16 bytes of ASCII at a time, or one comparison for each of three bytes, as in Japanese.
// Reads bytes[0..<count] alone.
static inline bool locsearch_is_utf8(const uint8_t *bytes, ptrdiff_t count) {
    ptrdiff_t index = 0;
    while (index < count) {
        if (bytes[index] < 0x80) {
#if defined(__SSE2__)
            while (index + 16 <= count
                   && _mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(bytes + index))) == 0)
                index += 16;
#elif defined(__aarch64__)
            while (index + 16 <= count && vmaxvq_u8(vld1q_u8(bytes + index)) < 0x80) index += 16;
#endif
            while (index < count && bytes[index] < 0x80) index++;
            continue;
        }
        // 1110xxxx 10xxxxxx 10xxxxxx, and what follows it: not below U+0800, not U+D800...U+DFFF.
        while (index + 4 <= count) {
            const uint32_t word = locsearch_word(bytes + index);
            const uint32_t high = word & 0x200F;
            if ((word & 0xC0C0F0) != 0x8080E0 || high == 0 || high == 0x200D) break;
            index += 3;
        }
        if (index == count || bytes[index] < 0x80) continue;
        const uint8_t first = bytes[index];
        const ptrdiff_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
        if (first < 0xC2 || first > 0xF4 || index + length > count) return false;
        // Of the second byte: RFC 3629, section 4.
        const uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        const uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (bytes[index + 1] < least || bytes[index + 1] > most) return false;
        for (ptrdiff_t place = 2; place < length; place++)
            if ((bytes[index + place] & 0xC0) != 0x80) return false;
        index += length;
    }
    return true;
}

// Whether `text` stands anywhere in `bytes`. By the C library, which skips most of what it looks through.
// Declared here: all of the libraries have it, but glibc's header hides it unless GNU's extensions are asked for.
extern void *memmem(const void *bytes, size_t count, const void *text, size_t length);
static inline bool locsearch_contains(const void *bytes, size_t count, const void *text, size_t length) {
    return memmem(bytes, count, text, length) != NULL;
}
