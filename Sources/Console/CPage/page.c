#include "page.h"

// SwiftPM compiles C as C17, in which #embed is an extension of clang.
#pragma clang diagnostic ignored "-Wc23-extensions"

// The files in the folder Console/Page, by name. A zero byte ends each name and each file; no file contains one.
static const char names[] =
    "api.js\0banner.js\0base.css\0charts.js\0controls.js\0deadletters.css\0deadletters.html\0deadletters.js\0"
    "demo.css\0demo.js\0detail.js\0dom.js\0early.js\0fleet.js\0form.js\0gestures.js\0googlemap.js\0ground.js\0"
    "head.html\0header.html\0health.js\0icon.svg\0icons.svg\0index.html\0letter.js\0life.js\0link.js\0list.js\0"
    "login.html\0login.js\0map.css\0map.js\0mapview.js\0mercator.js\0outcomes.js\0outline.json\0outlinemap.js\0"
    "record.css\0record.js\0redrive.js\0request.css\0request.html\0request.js\0requests.js\0search.css\0"
    "search.js\0shapes.js\0store.js\0stream.js\0streets.js\0text-en.js\0text-ja.js\0text.js\0tiles.js\0towns.js\0"
    "traffic.css\0traffic.html\0traffic.js\0waiting.js\0";
static const uint8_t texts[] = {
#embed "../Console/Page/api.js" suffix(, 0,)
#embed "../Console/Page/banner.js" suffix(, 0,)
#embed "../Console/Page/base.css" suffix(, 0,)
#embed "../Console/Page/charts.js" suffix(, 0,)
#embed "../Console/Page/controls.js" suffix(, 0,)
#embed "../Console/Page/deadletters.css" suffix(, 0,)
#embed "../Console/Page/deadletters.html" suffix(, 0,)
#embed "../Console/Page/deadletters.js" suffix(, 0,)
#embed "../Console/Page/demo.css" suffix(, 0,)
#embed "../Console/Page/demo.js" suffix(, 0,)
#embed "../Console/Page/detail.js" suffix(, 0,)
#embed "../Console/Page/dom.js" suffix(, 0,)
#embed "../Console/Page/early.js" suffix(, 0,)
#embed "../Console/Page/fleet.js" suffix(, 0,)
#embed "../Console/Page/form.js" suffix(, 0,)
#embed "../Console/Page/gestures.js" suffix(, 0,)
#embed "../Console/Page/googlemap.js" suffix(, 0,)
#embed "../Console/Page/ground.js" suffix(, 0,)
#embed "../Console/Page/head.html" suffix(, 0,)
#embed "../Console/Page/header.html" suffix(, 0,)
#embed "../Console/Page/health.js" suffix(, 0,)
#embed "../Console/Page/icon.svg" suffix(, 0,)
#embed "../Console/Page/icons.svg" suffix(, 0,)
#embed "../Console/Page/index.html" suffix(, 0,)
#embed "../Console/Page/letter.js" suffix(, 0,)
#embed "../Console/Page/life.js" suffix(, 0,)
#embed "../Console/Page/link.js" suffix(, 0,)
#embed "../Console/Page/list.js" suffix(, 0,)
#embed "../Console/Page/login.html" suffix(, 0,)
#embed "../Console/Page/login.js" suffix(, 0,)
#embed "../Console/Page/map.css" suffix(, 0,)
#embed "../Console/Page/map.js" suffix(, 0,)
#embed "../Console/Page/mapview.js" suffix(, 0,)
#embed "../Console/Page/mercator.js" suffix(, 0,)
#embed "../Console/Page/outcomes.js" suffix(, 0,)
#embed "../Console/Page/outline.json" suffix(, 0,)
#embed "../Console/Page/outlinemap.js" suffix(, 0,)
#embed "../Console/Page/record.css" suffix(, 0,)
#embed "../Console/Page/record.js" suffix(, 0,)
#embed "../Console/Page/redrive.js" suffix(, 0,)
#embed "../Console/Page/request.css" suffix(, 0,)
#embed "../Console/Page/request.html" suffix(, 0,)
#embed "../Console/Page/request.js" suffix(, 0,)
#embed "../Console/Page/requests.js" suffix(, 0,)
#embed "../Console/Page/search.css" suffix(, 0,)
#embed "../Console/Page/search.js" suffix(, 0,)
#embed "../Console/Page/shapes.js" suffix(, 0,)
#embed "../Console/Page/store.js" suffix(, 0,)
#embed "../Console/Page/stream.js" suffix(, 0,)
#embed "../Console/Page/streets.js" suffix(, 0,)
#embed "../Console/Page/text-en.js" suffix(, 0,)
#embed "../Console/Page/text-ja.js" suffix(, 0,)
#embed "../Console/Page/text.js" suffix(, 0,)
#embed "../Console/Page/tiles.js" suffix(, 0,)
#embed "../Console/Page/towns.js" suffix(, 0,)
#embed "../Console/Page/traffic.css" suffix(, 0,)
#embed "../Console/Page/traffic.html" suffix(, 0,)
#embed "../Console/Page/traffic.js" suffix(, 0,)
#embed "../Console/Page/waiting.js" suffix(, 0,)
};

struct locsearch_page_texts locsearch_page_names(void) {
    return (struct locsearch_page_texts){(const uint8_t *)names, sizeof names - 1};
}

struct locsearch_page_texts locsearch_page_files(void) {
    return (struct locsearch_page_texts){texts, sizeof texts};
}
