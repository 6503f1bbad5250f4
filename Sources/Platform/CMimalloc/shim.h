// The allocator. Linking it replaces malloc and free in the whole process, librdkafka's and libcurl's included.
#pragma once
#include <mimalloc.h>
#include <stdbool.h>
#include <stdlib.h>

// Whether malloc is mimalloc's. It is not where a sanitizer has put its own before it.
static inline bool locsearch_malloc_is_mimalloc(void) {
    void *probe = malloc(64);
    bool is_own = probe && mi_is_in_heap_region(probe);
    free(probe);
    return is_own;
}
