// The files of the console's page, as constants of the program. They are in C because the Swift compiler takes half a
// minute for array literals of this size.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct locsearch_page_file {
    const char *name;
    const uint8_t *bytes;
    size_t size;
};

// Returns the file with this number, counted from 0, or one without a name after the last. Safe to call from any
// thread; what it returns is never freed.
struct locsearch_page_file locsearch_page_file(size_t number);
