// The allocator. Linking it replaces malloc and free in the whole process, including librdkafka and libcurl.
#pragma once
#include <mimalloc.h>
#include <stdbool.h>
#include <stdlib.h>

// Returns whether malloc is mimalloc's. It is not if a sanitizer has replaced it.
static inline bool locsearch_malloc_is_mimalloc(void) {
    void *probe = malloc(64);
    bool is_own = probe && mi_is_in_heap_region(probe);
    free(probe);
    return is_own;
}
