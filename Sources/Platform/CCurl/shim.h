// libcurl with typed functions for its variadic ones, and gzip decoding by zlib.
#pragma once
#include <curl/curl.h>
#include <signal.h>
#include <stddef.h>
#include <zlib.h>

// Newer headers deprecate CURLOPT_PROTOCOLS; its replacement does not exist in Ubuntu 22.04's curl 7.81.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

typedef size_t (*locsearch_write_fn)(char *data, size_t size, size_t count, void *context);
typedef int (*locsearch_close_fn)(void *context, curl_socket_t socket);
typedef int (*locsearch_request_fn)(void *context, char *peer, char *own, int peer_port, int own_port);
typedef int (*locsearch_opened_fn)(void *context, curl_socket_t socket, curlsocktype purpose);
typedef int (*locsearch_socket_fn)(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context);
typedef int (*locsearch_timer_fn)(CURLM *multi, long milliseconds, void *context);

static inline CURLcode locsearch_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode locsearch_set_large(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode locsearch_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode locsearch_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
// Sets a parsed URL, which must outlive every call made with it. NULL: the URL that was set as text is used.
static inline CURLcode locsearch_set_url_parts(CURL *easy, CURLU *parts) {
    return curl_easy_setopt(easy, CURLOPT_CURLU, parts);
}
static inline CURLcode locsearch_set_headers(CURL *easy, struct curl_slist *headers) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}
static inline CURLcode locsearch_set_write(CURL *easy, locsearch_write_fn function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
    return code ? code : curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}
static inline CURLcode locsearch_set_header(CURL *easy, locsearch_write_fn function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, function);
    return code ? code : curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
}
static inline CURLcode locsearch_set_socket_callbacks(
    CURL *easy, locsearch_opened_fn opened, locsearch_close_fn close, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, opened);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, context);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
    return code;
}
static inline CURLcode locsearch_set_before_request(CURL *easy, locsearch_request_fn function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
    return code ? code : curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}
// Otherwise, aborting a call during its host name lookup would block the event loop until the lookup has ended.
static inline void locsearch_set_quick_exit(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
#endif
}
static inline CURLcode locsearch_allow_http_only(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
}
// Decodes gzip data (RFC 1952) into to[0..<size]; returns false if they are damaged or have another size.
static inline int locsearch_gunzip(const unsigned char *from, size_t count, unsigned char *to, size_t size) {
    z_stream stream = {.next_in = (Bytef *)from, .avail_in = (uInt)count, .next_out = to, .avail_out = (uInt)size};
    if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) return 0;
    const int code = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return code == Z_STREAM_END && stream.total_out == size;
}
// Initializes libcurl for the process. Call it once, before the first call.
static inline CURLcode locsearch_prepare_process(void) {
    // If a peer closes during a TLS write, only that call must fail, not the process. A handler set by the program is
    // kept.
    struct sigaction action;
    if (!sigaction(SIGPIPE, NULL, &action) && action.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}
static inline long locsearch_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}
static inline curl_off_t locsearch_get_large(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}
static inline void *locsearch_get_private(CURL *easy) {
    char *value = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
    return value;
}
static inline CURLMcode locsearch_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode locsearch_multi_set_callbacks(
    CURLM *multi, locsearch_socket_fn on_socket, locsearch_timer_fn on_timer, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code;
}
// Returns the next finished transfer and its result; NULL if there is none.
static inline CURL *locsearch_next_finished(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
#pragma clang diagnostic pop
