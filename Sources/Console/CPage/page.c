#include "page.h"

#include <string.h>

// One entry for each file in the folder Console/Page. No file contains a zero byte, so one ends each.
static const struct {
    const char *name;
    const unsigned char *text;
} files[] = {
    {"api.js", (const unsigned char[]){
#embed "../Console/Page/api.js" suffix(, 0)
    }},
    {"banner.js", (const unsigned char[]){
#embed "../Console/Page/banner.js" suffix(, 0)
    }},
    {"base.css", (const unsigned char[]){
#embed "../Console/Page/base.css" suffix(, 0)
    }},
    {"charts.js", (const unsigned char[]){
#embed "../Console/Page/charts.js" suffix(, 0)
    }},
    {"controls.js", (const unsigned char[]){
#embed "../Console/Page/controls.js" suffix(, 0)
    }},
    {"deadletters.css", (const unsigned char[]){
#embed "../Console/Page/deadletters.css" suffix(, 0)
    }},
    {"deadletters.html", (const unsigned char[]){
#embed "../Console/Page/deadletters.html" suffix(, 0)
    }},
    {"deadletters.js", (const unsigned char[]){
#embed "../Console/Page/deadletters.js" suffix(, 0)
    }},
    {"demo.css", (const unsigned char[]){
#embed "../Console/Page/demo.css" suffix(, 0)
    }},
    {"demo.js", (const unsigned char[]){
#embed "../Console/Page/demo.js" suffix(, 0)
    }},
    {"detail.js", (const unsigned char[]){
#embed "../Console/Page/detail.js" suffix(, 0)
    }},
    {"dom.js", (const unsigned char[]){
#embed "../Console/Page/dom.js" suffix(, 0)
    }},
    {"early.js", (const unsigned char[]){
#embed "../Console/Page/early.js" suffix(, 0)
    }},
    {"fleet.js", (const unsigned char[]){
#embed "../Console/Page/fleet.js" suffix(, 0)
    }},
    {"form.js", (const unsigned char[]){
#embed "../Console/Page/form.js" suffix(, 0)
    }},
    {"gestures.js", (const unsigned char[]){
#embed "../Console/Page/gestures.js" suffix(, 0)
    }},
    {"googlemap.js", (const unsigned char[]){
#embed "../Console/Page/googlemap.js" suffix(, 0)
    }},
    {"ground.js", (const unsigned char[]){
#embed "../Console/Page/ground.js" suffix(, 0)
    }},
    {"head.html", (const unsigned char[]){
#embed "../Console/Page/head.html" suffix(, 0)
    }},
    {"header.html", (const unsigned char[]){
#embed "../Console/Page/header.html" suffix(, 0)
    }},
    {"health.js", (const unsigned char[]){
#embed "../Console/Page/health.js" suffix(, 0)
    }},
    {"icon.svg", (const unsigned char[]){
#embed "../Console/Page/icon.svg" suffix(, 0)
    }},
    {"icons.svg", (const unsigned char[]){
#embed "../Console/Page/icons.svg" suffix(, 0)
    }},
    {"index.html", (const unsigned char[]){
#embed "../Console/Page/index.html" suffix(, 0)
    }},
    {"letter.js", (const unsigned char[]){
#embed "../Console/Page/letter.js" suffix(, 0)
    }},
    {"life.js", (const unsigned char[]){
#embed "../Console/Page/life.js" suffix(, 0)
    }},
    {"link.js", (const unsigned char[]){
#embed "../Console/Page/link.js" suffix(, 0)
    }},
    {"list.js", (const unsigned char[]){
#embed "../Console/Page/list.js" suffix(, 0)
    }},
    {"login.html", (const unsigned char[]){
#embed "../Console/Page/login.html" suffix(, 0)
    }},
    {"login.js", (const unsigned char[]){
#embed "../Console/Page/login.js" suffix(, 0)
    }},
    {"map.css", (const unsigned char[]){
#embed "../Console/Page/map.css" suffix(, 0)
    }},
    {"map.js", (const unsigned char[]){
#embed "../Console/Page/map.js" suffix(, 0)
    }},
    {"mapview.js", (const unsigned char[]){
#embed "../Console/Page/mapview.js" suffix(, 0)
    }},
    {"mercator.js", (const unsigned char[]){
#embed "../Console/Page/mercator.js" suffix(, 0)
    }},
    {"outcomes.js", (const unsigned char[]){
#embed "../Console/Page/outcomes.js" suffix(, 0)
    }},
    {"outline.json", (const unsigned char[]){
#embed "../Console/Page/outline.json" suffix(, 0)
    }},
    {"outlinemap.js", (const unsigned char[]){
#embed "../Console/Page/outlinemap.js" suffix(, 0)
    }},
    {"record.css", (const unsigned char[]){
#embed "../Console/Page/record.css" suffix(, 0)
    }},
    {"record.js", (const unsigned char[]){
#embed "../Console/Page/record.js" suffix(, 0)
    }},
    {"redrive.js", (const unsigned char[]){
#embed "../Console/Page/redrive.js" suffix(, 0)
    }},
    {"request.css", (const unsigned char[]){
#embed "../Console/Page/request.css" suffix(, 0)
    }},
    {"request.html", (const unsigned char[]){
#embed "../Console/Page/request.html" suffix(, 0)
    }},
    {"request.js", (const unsigned char[]){
#embed "../Console/Page/request.js" suffix(, 0)
    }},
    {"requests.js", (const unsigned char[]){
#embed "../Console/Page/requests.js" suffix(, 0)
    }},
    {"search.css", (const unsigned char[]){
#embed "../Console/Page/search.css" suffix(, 0)
    }},
    {"search.js", (const unsigned char[]){
#embed "../Console/Page/search.js" suffix(, 0)
    }},
    {"shapes.js", (const unsigned char[]){
#embed "../Console/Page/shapes.js" suffix(, 0)
    }},
    {"store.js", (const unsigned char[]){
#embed "../Console/Page/store.js" suffix(, 0)
    }},
    {"stream.js", (const unsigned char[]){
#embed "../Console/Page/stream.js" suffix(, 0)
    }},
    {"streets.js", (const unsigned char[]){
#embed "../Console/Page/streets.js" suffix(, 0)
    }},
    {"text-en.js", (const unsigned char[]){
#embed "../Console/Page/text-en.js" suffix(, 0)
    }},
    {"text-ja.js", (const unsigned char[]){
#embed "../Console/Page/text-ja.js" suffix(, 0)
    }},
    {"text.js", (const unsigned char[]){
#embed "../Console/Page/text.js" suffix(, 0)
    }},
    {"tiles.js", (const unsigned char[]){
#embed "../Console/Page/tiles.js" suffix(, 0)
    }},
    {"towns.js", (const unsigned char[]){
#embed "../Console/Page/towns.js" suffix(, 0)
    }},
    {"traffic.css", (const unsigned char[]){
#embed "../Console/Page/traffic.css" suffix(, 0)
    }},
    {"traffic.html", (const unsigned char[]){
#embed "../Console/Page/traffic.html" suffix(, 0)
    }},
    {"traffic.js", (const unsigned char[]){
#embed "../Console/Page/traffic.js" suffix(, 0)
    }},
    {"waiting.js", (const unsigned char[]){
#embed "../Console/Page/waiting.js" suffix(, 0)
    }},
};

struct locsearch_page_file locsearch_page_file(size_t number) {
    if (number >= sizeof files / sizeof *files) return (struct locsearch_page_file){0};
    const unsigned char *text = files[number].text;
    return (struct locsearch_page_file){files[number].name, text, strlen((const char *)text)};
}
