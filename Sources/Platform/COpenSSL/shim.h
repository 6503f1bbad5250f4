// OpenSSL's libcrypto, which librdkafka and libcurl bring into the process anyway.
#pragma once
#include <openssl/evp.h>
#include <openssl/hmac.h>
