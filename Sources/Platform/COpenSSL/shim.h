// OpenSSL's libcrypto, which librdkafka and libcurl link anyway.
#pragma once
#include <openssl/evp.h>
#include <openssl/hmac.h>
