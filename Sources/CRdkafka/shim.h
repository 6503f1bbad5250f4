// librdkafka, and typed functions for what it declares variadic. Nothing newer than 2.0.2 is called.
#pragma once
#include <dlfcn.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// Takes over `headers` when it returns 0, and copies key and value.
static inline rd_kafka_resp_err_t locsearch_produce(
    rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition, const void *key, size_t key_length,
    const void *value, size_t value_length, int64_t timestamp, rd_kafka_headers_t *headers, void *opaque) {
    return rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_KEY(key, key_length),
        RD_KAFKA_V_VALUE((void *)value, value_length), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_TIMESTAMP(timestamp), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
}

// Fails the next `count` requests of one kind with one error.
static inline void locsearch_mock_fail(
    rd_kafka_mock_cluster_t *cluster, int16_t api, int32_t count, rd_kafka_resp_err_t error) {
    for (int32_t i = 0; i < count; i++) rd_kafka_mock_push_request_errors(cluster, api, 1, error);
}

// Makes the next request of one kind to one broker fail, or only answers it late.
static inline rd_kafka_resp_err_t locsearch_mock_fail_at(
    rd_kafka_mock_cluster_t *cluster, int32_t broker, int16_t api, rd_kafka_resp_err_t error, int32_t milliseconds) {
    return rd_kafka_mock_broker_push_request_error_rtts(cluster, broker, api, 1, error, (int)milliseconds);
}

// 0 when done, -1 when the running library is older than the call (2.6.0).
static inline int locsearch_mock_group_delay(rd_kafka_mock_cluster_t *cluster, int32_t milliseconds) {
    void (*set)(rd_kafka_mock_cluster_t *, int32_t) = (void (*)(rd_kafka_mock_cluster_t *, int32_t))dlsym(
        RTLD_DEFAULT, "rd_kafka_mock_group_initial_rebalance_delay_ms");
    if (!set) return -1;
    set(cluster, milliseconds);
    return 0;
}
