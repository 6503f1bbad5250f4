#include "index.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Returns which of 64 bytes are special, computed 16 at a time.
static inline uint64_t special_bits(const uint8_t *bytes) {
#if defined(__SSE2__)
    return locsearch_specials(bytes) | locsearch_specials(bytes + 16) << 16 | locsearch_specials(bytes + 32) << 32
        | locsearch_specials(bytes + 48) << 48;
#elif defined(__aarch64__)
    // Each byte keeps one bit for its position among eight. Adding neighbors three times combines eight bytes into one.
    const uint8x16_t bits = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const uint8x16_t first = vpaddq_u8(
        vandq_u8(locsearch_hits(bytes), bits), vandq_u8(locsearch_hits(bytes + 16), bits));
    const uint8x16_t second = vpaddq_u8(
        vandq_u8(locsearch_hits(bytes + 32), bits), vandq_u8(locsearch_hits(bytes + 48), bits));
    const uint8x16_t pairs = vpaddq_u8(first, second);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)), 0);
#else
    uint64_t bits = 0;
    for (int place = 0; place < 64; place++) bits |= (uint64_t)locsearch_is_special(bytes[place]) << place;
    return bits;
#endif
}

static void index_words(const uint8_t *bytes, uint64_t *words, ptrdiff_t count) {
    for (ptrdiff_t word = 0; word < count; word++) words[word] = special_bits(bytes + 64 * word);
}

#if defined(__x86_64__)
// The same comparisons as in locsearch_hits.
__attribute__((target("avx2"))) static inline uint32_t special_bits_avx2(const uint8_t *bytes) {
    const __m256i flip = _mm256_set1_epi8(0x02), last = _mm256_set1_epi8(0x20), backslash = _mm256_set1_epi8('\\');
    const __m256i block = _mm256_loadu_si256((const __m256i *)bytes);
    const __m256i flipped = _mm256_xor_si256(block, flip);
    const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(flipped, last), flipped);
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(low, _mm256_cmpeq_epi8(block, backslash)));
}

__attribute__((target("avx2"))) static void index_words_avx2(const uint8_t *bytes, uint64_t *words, ptrdiff_t count) {
#pragma clang loop unroll_count(4)
    for (ptrdiff_t word = 0; word < count; word++)
        words[word]
            = special_bits_avx2(bytes + 64 * word) | (uint64_t)special_bits_avx2(bytes + 64 * word + 32) << 32;
}
#endif

void locsearch_index_load(locsearch_index *index, const uint8_t *bytes, ptrdiff_t place, ptrdiff_t count) {
    const ptrdiff_t first = place & ~(ptrdiff_t)(64 * LOCSEARCH_INDEX_WORDS - 1);
    index->end = first + 64 * LOCSEARCH_INDEX_WORDS;
    bytes += first;
    count = count > first ? count - first : 0;

    const ptrdiff_t whole = count / 64 < LOCSEARCH_INDEX_WORDS ? count / 64 : LOCSEARCH_INDEX_WORDS;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        index_words_avx2(bytes, index->words, whole);
    } else {
        index_words(bytes, index->words, whole);
    }
#else
    index_words(bytes, index->words, whole);
#endif
    if (whole == LOCSEARCH_INDEX_WORDS) return;

    // The last bytes, followed by zeros, which count as control characters.
    uint8_t rest[64] = {0};
    if (count > 64 * whole) memcpy(rest, bytes + 64 * whole, (size_t)(count - 64 * whole));
    index->words[whole] = special_bits(rest);
    for (ptrdiff_t word = whole + 1; word < LOCSEARCH_INDEX_WORDS; word++) index->words[word] = UINT64_MAX;
}
