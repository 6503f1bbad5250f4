// Tables of powers of ten. In C, because a C table is plain memory, unlike Swift's arrays.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Returns 10 to the power of 0 to 8.
static inline uint64_t locsearch_power_of_ten(ptrdiff_t exponent) {
    static const uint64_t powers[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    return powers[exponent];
}

// Returns 10 to the power of 0 to 22, all of which a double represents exactly.
static inline double locsearch_exact_power_of_ten(ptrdiff_t exponent) {
    static const double powers[23] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return powers[exponent];
}
