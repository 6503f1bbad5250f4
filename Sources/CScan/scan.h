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

// Where the first quote, backslash or control character from `index` on stands; `count` if there is none.
// Reads bytes[index..<count] alone.
static inline __attribute__((always_inline)) ptrdiff_t locsearch_first_special(
    const uint8_t *bytes, ptrdiff_t index, ptrdiff_t count) {
#if defined(__SSE2__)
    // Flipping bit 1 puts the quote (0x22) at 0x20, next to the control characters, and 0x20 away.
    const __m128i flip = _mm_set1_epi8(0x02), last = _mm_set1_epi8(0x20), backslash = _mm_set1_epi8('\\');
    for (; index + 16 <= count; index += 16) {
        const __m128i block = _mm_loadu_si128((const __m128i *)(bytes + index));
        const __m128i flipped = _mm_xor_si128(block, flip);
        const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(flipped, last), flipped);
        const unsigned hits = (unsigned)_mm_movemask_epi8(_mm_or_si128(low, _mm_cmpeq_epi8(block, backslash)));
        if (hits != 0) return index + __builtin_ctz(hits);
    }
#elif defined(__aarch64__)
    for (; index + 16 <= count; index += 16) {
        const uint8x16_t block = vld1q_u8(bytes + index);
        const uint8x16_t low = vcleq_u8(veorq_u8(block, vdupq_n_u8(0x02)), vdupq_n_u8(0x20));
        const uint8x16_t hits = vorrq_u8(low, vceqq_u8(block, vdupq_n_u8('\\')));
        // Four bits for each byte: what stands in for x86's movemask.
        const uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hits), 4)), 0);
        if (mask != 0) return index + (__builtin_ctzll(mask) >> 2);
    }
#endif
    for (; index < count; index++) {
        const uint8_t byte = bytes[index];
        if (byte < 0x20 || byte == '"' || byte == '\\') return index;
    }
    return count;
}

// Whether `text` stands anywhere in `bytes`. By the C library, which skips most of what it looks through.
// Declared here: all of the libraries have it, but glibc's header hides it unless GNU's extensions are asked for.
extern void *memmem(const void *bytes, size_t count, const void *text, size_t length);
static inline bool locsearch_contains(const void *bytes, size_t count, const void *text, size_t length) {
    return memmem(bytes, count, text, length) != NULL;
}
