// The files of the console's page, as constants of the program. They are in C because the Swift compiler takes half a
// minute for array literals of this size.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Texts one after another, each ended by a zero byte. Never freed.
struct locsearch_page_texts {
    const uint8_t *bytes;
    size_t size;
};

// Return the names and, in the same order, the contents of all files. Safe to call from any thread.
struct locsearch_page_texts locsearch_page_names(void);
struct locsearch_page_texts locsearch_page_files(void);
