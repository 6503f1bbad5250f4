// librdkafka, with typed functions for its variadic ones. Only functions that exist in 2.0.2 are called directly.
#pragma once
#include <dlfcn.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// Takes ownership of `headers` if it returns 0. Copies key and value.
static inline rd_kafka_resp_err_t locsearch_produce(
    rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition, const void *key, size_t key_length,
    const void *value, size_t value_length, int64_t timestamp, rd_kafka_headers_t *headers, void *opaque) {
    return rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_KEY(key, key_length),
        RD_KAFKA_V_VALUE((void *)value, value_length), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_TIMESTAMP(timestamp), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
}

// Makes the next `count` requests of one kind fail with one error.
static inline void locsearch_mock_fail(
    rd_kafka_mock_cluster_t *cluster, int16_t api, int32_t count, rd_kafka_resp_err_t error) {
    for (int32_t i = 0; i < count; i++) rd_kafka_mock_push_request_errors(cluster, api, 1, error);
}

// Makes the next request of one kind to one broker fail, or only delays its answer.
static inline rd_kafka_resp_err_t locsearch_mock_fail_at(
    rd_kafka_mock_cluster_t *cluster, int32_t broker, int16_t api, rd_kafka_resp_err_t error, int32_t milliseconds) {
    return rd_kafka_mock_broker_push_request_error_rtts(cluster, broker, api, 1, error, (int)milliseconds);
}

// Returns 0 on success, -1 if the running library lacks the call (before 2.6.0).
static inline int locsearch_mock_group_delay(rd_kafka_mock_cluster_t *cluster, int32_t milliseconds) {
    void (*set)(rd_kafka_mock_cluster_t *, int32_t) = (void (*)(rd_kafka_mock_cluster_t *, int32_t))dlsym(
        RTLD_DEFAULT, "rd_kafka_mock_group_initial_rebalance_delay_ms");
    if (!set) return -1;
    set(cluster, milliseconds);
    return 0;
}

// Fetches the operations that this user may perform on one topic, with calls that exist since 2.3.0. `operations` gets
// one bit per operation, numbered as rd_kafka_AclOperation_t; 0 if the brokers do not report them. Returns INT32_MIN if the
// running library is older, otherwise 0 or librdkafka's error.
static inline int32_t locsearch_topic_operations(
    rd_kafka_t *client, const char *topic, int32_t milliseconds, uint32_t *operations) {
    typedef void *(*names_t)(const char **, size_t);
    typedef void (*free_t)(void *);
    typedef rd_kafka_error_t *(*include_t)(rd_kafka_AdminOptions_t *, int);
    typedef void (*describe_t)(rd_kafka_t *, const void *, const rd_kafka_AdminOptions_t *, rd_kafka_queue_t *);
    typedef const void *(*result_t)(rd_kafka_event_t *);
    typedef const void **(*topics_t)(const void *, size_t *);
    typedef const rd_kafka_error_t *(*error_t)(const void *);
    typedef const rd_kafka_AclOperation_t *(*operations_t)(const void *, size_t *);
    names_t names = (names_t)dlsym(RTLD_DEFAULT, "rd_kafka_TopicCollection_of_topic_names");
    free_t free_names = (free_t)dlsym(RTLD_DEFAULT, "rd_kafka_TopicCollection_destroy");
    include_t include = (include_t)dlsym(RTLD_DEFAULT, "rd_kafka_AdminOptions_set_include_authorized_operations");
    describe_t describe = (describe_t)dlsym(RTLD_DEFAULT, "rd_kafka_DescribeTopics");
    result_t result_of = (result_t)dlsym(RTLD_DEFAULT, "rd_kafka_event_DescribeTopics_result");
    topics_t topics_of = (topics_t)dlsym(RTLD_DEFAULT, "rd_kafka_DescribeTopics_result_topics");
    error_t error_of = (error_t)dlsym(RTLD_DEFAULT, "rd_kafka_TopicDescription_error");
    operations_t operations_of = (operations_t)dlsym(RTLD_DEFAULT, "rd_kafka_TopicDescription_authorized_operations");
    *operations = 0;
    if (!names || !free_names || !include || !describe || !result_of || !topics_of || !error_of || !operations_of)
        return INT32_MIN;

    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_ANY);
    rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, NULL, 0);
    rd_kafka_error_t *refused = include(options, 1);
    if (refused) rd_kafka_error_destroy(refused);

    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    void *collection = names(&topic, 1);
    describe(client, collection, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, milliseconds + 1000);
    int32_t code = event ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (event && code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        size_t count = 0;
        const void *result = result_of(event);
        const void **topics = result ? topics_of(result, &count) : NULL;
        const rd_kafka_error_t *error = count == 1 ? error_of(topics[0]) : NULL;
        code = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
        size_t many = 0;
        const rd_kafka_AclOperation_t *all = count == 1 && !code ? operations_of(topics[0], &many) : NULL;
        for (size_t i = 0; all && i < many; i++)
            if ((unsigned)all[i] < 32) *operations |= 1u << all[i];
    }
    if (event) rd_kafka_event_destroy(event);
    free_names(collection);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    return code;
}
