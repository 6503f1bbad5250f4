/// The table of all metrics that `/metrics` shows, in the order of docs/metrics.md.
extension MetricDescription {
    /// OpenTelemetry's recommended buckets for messaging operations and HTTP calls, in seconds.
    static let shortBounds: [Double] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
    /// Buckets in seconds for times that may be as long as it takes to process a backlog: up to two hours.
    static let longBounds: [Double] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200]

    package static let all: [MetricDescription] =
        described(requests, in: .requests) + described(providers, in: .providers) + described(kafka, in: .kafka)
        + described(process, in: .process) + described(console, in: .console)

    private static func described(
        _ metrics: KeyValuePairs<MetricDescription, String>, in section: Section
    ) -> [MetricDescription] {
        metrics.map { metric, help in
            var metric = metric
            (metric.section, metric.help) = (section, help)
            return metric
        }
    }

    // MARK: - Requests

    private static let requests: KeyValuePairs<MetricDescription, String> = [
        .counter("locsearch_requests_taken_total", convention: "messaging.client.consumed.messages"):
            "Records taken from the requests topic.",
        .counter("locsearch_requests_rejected_total"): "Records that were no requests; each has a dead letter.",
        .counter("locsearch_requests_set_aside_total"):
            "Records that are not run any more because worker processes crashed with them; each has a dead letter.",
        .counter("locsearch_requests_completed_total", labels: ["provider"]):
            "Requests that ended with a result, by provider.",
        .counter("locsearch_requests_failed_total", labels: ["code"]): "Requests that ended with an error, by code.",
        .gauge("locsearch_requests_in_flight"): "The older name of `locsearch_requests_open`.",
        .gauge("locsearch_requests_open"): "Requests in flight, and those whose outcome is unconfirmed.",
        .gauge("locsearch_requests_unconfirmed"):
            "Requests whose outcome is made and not confirmed by the brokers yet.",
        .gauge("locsearch_requests_waiting", labels: ["class"]):
            "Requests that were read and wait for their turn to begin, by class; 0 where requests are not told apart.",
        .gauge("locsearch_requests_waiting_longest_seconds", labels: ["class"]):
            "How long the oldest of them has waited since it was read, by class.",
        .gauge("locsearch_tenant_requests_waiting", labels: ["class", "tenant"]):
            "Requests that wait for their turn to begin, of ten tenants of a worker; all others are the tenant other: see worker.fairBy.",
        .counter("locsearch_requests_done_before_total"):
            "Requests passed over because a former owner of their partition had published their outcomes.",
        .counter("locsearch_requests_deleted_unread_total"):
            "Requests that the brokers deleted before anybody read them, because their topic's retention was over.",
        .gauge("locsearch_requests_retention_seconds"):
            "How long the requests topic keeps records; of several, the shortest time. Absent without a limit, and where this user may not ask.",
        .gauge("locsearch_requests_past_half_retention"):
            "Requests that wait in this worker's partitions and are older than half of that time. Absent as that is.",
        .counter("locsearch_dead_letters_written_total"): "Dead letters that the brokers have confirmed.",
        .histogram("locsearch_request_end_to_end_seconds", bounds: longBounds):
            "From a record's timestamp to its confirmed outcome, whatever that is; a longer time counts as 30 days.",
        .histogram("locsearch_request_topic_wait_seconds", bounds: longBounds):
            "From a record's timestamp until this worker took it.",
        .histogram("locsearch_request_call_wait_seconds", bounds: shortBounds):
            "From taking a request to its first call: what it waited for limits, breakers and dead letters before it.",
        .histogram("locsearch_request_class_wait_seconds", labels: ["class"], bounds: longBounds):
            "From a record's timestamp to its request's first call, by class. Counted where classes or tenants are told apart.",
        .histogram("locsearch_upstream_duration_seconds", labels: ["provider"], bounds: shortBounds):
            "Time spent waiting for a provider, per request, by provider.",
        .histogram(
            "messaging_process_duration_seconds",
            labels: [
                "messaging_system", "messaging_operation_name", "messaging_destination_name",
                "messaging_consumer_group_name",
            ], bounds: shortBounds, convention: "messaging.process.duration"):
            "From taking a record to its confirmed outcome, whatever that is.",
    ]

    // MARK: - Providers

    private static let providers: KeyValuePairs<MetricDescription, String> = [
        .histogram(
            "locsearch_provider_call_duration_seconds", labels: ["provider", "code"], bounds: shortBounds,
            isSparse: true, convention: "http.client.request.duration"):
            "One call to a provider; `code` is `ok`, the error's code, or `cancelled` where nobody waited any more.",
        .gauge("locsearch_provider_breaker_state", labels: ["provider", "state"]):
            "1 for the state that the provider is in: closed, paused, open or half-open.",
        .gauge("locsearch_provider_breaker_reason", labels: ["provider", "reason"]):
            "1 for the reason for which the provider's state is not closed; 0 for all while it is.",
        .counter("locsearch_provider_breaker_openings_total", labels: ["provider"]): "Times the breaker opened.",
        .counter("locsearch_provider_breaker_rejections_total", labels: ["provider"]):
            "Calls that an open breaker did not let through.",
        .counter("locsearch_provider_calls_total", labels: ["provider"]):
            "Calls made, retries included; each may cost money.",
        .counter("locsearch_provider_calls_by_sku_total", labels: ["provider", "sku"]):
            "Calls that have ended, however they did, by the price class that the provider charges them as.",
        .counter("locsearch_provider_calls_failed_total", labels: ["provider"]):
            "Calls that failed, and not by the request's own fault.",
        .counter("locsearch_provider_calls_wasted_total"):
            "Calls whose answer was not delivered: superseded, or the partition left.",
        .counter("locsearch_provider_calls_shared_total", labels: ["provider"]):
            "Requests served by an identical request's call.",
        .gauge("locsearch_provider_requests_held", labels: ["provider"]):
            "Requests that wait until a provider that is open or paused may be asked.",
        .counter("locsearch_provider_retries_total", labels: ["provider"]): "Calls made again after a failure.",
        .counter("locsearch_provider_retries_refused_total", labels: ["provider"]):
            "Retries not made because the budget was used up.",
        .counter("locsearch_provider_rate_waits_total", labels: ["provider"]):
            "Calls that waited for their turn at the key's rate.",
        .counter("locsearch_provider_rate_refusals_total", labels: ["provider"]):
            "Calls not made because their turn would come too late.",
        .gauge("locsearch_provider_rate_waiting", labels: ["provider"]):
            "Calls that wait for their turn at the key's rate.",
        .gauge("locsearch_provider_budget_calls", labels: ["provider"]):
            "Calls of the day's budget, of the whole fleet: each worker shows the same. Absent without a budget.",
        .gauge("locsearch_provider_budget_used_calls", labels: ["provider"]):
            "Calls of the day that workers have told of, of the whole fleet.",
        .gauge("locsearch_provider_budget_reserved_calls", labels: ["provider"]):
            "Calls of the day that workers hold reserved, or held when they crashed, of the whole fleet.",
        .gauge("locsearch_provider_budget_left_calls", labels: ["provider"]):
            "Calls of the day's budget that nobody has reserved, of the whole fleet.",
        .gauge("locsearch_provider_budget_kept_calls", labels: ["provider"]):
            "Calls of the day's budget that are kept for interactive requests, by this worker's settings.",
        .gauge("locsearch_provider_rate_limit", labels: ["provider"]):
            "Calls per second that this worker may make, its share of the key's rate; absent without a limit.",
        .gauge("locsearch_fleet_topic_usable"):
            "1 while workers can share quota by demand; 0: shares follow the partitions. Absent where none is shared.",
        .counter("locsearch_fleet_messages_ignored_total", labels: ["reason"]):
            "Messages in the fleet's topic about another fleet's or another key's quota, or from workers of an older version.",
        .gauge("locsearch_control_active", labels: ["control", "provider", "scope"]):
            "1 for each order of locsearch controls that this worker follows; scope is fleet or worker. Absent without one.",
        .gauge("locsearch_provider_askable", labels: ["provider"]):
            "1 while a further worker could ask for more; 0: breaker, a pause asked for, or the shared rate is reached.",
        .gauge("locsearch_provider_concurrency_limit", labels: ["provider"]): "Calls that may be under way at once.",
        .gauge("locsearch_provider_concurrency_in_flight", labels: ["provider"]): "Calls under way.",
        .counter("locsearch_provider_concurrency_refusals_total", labels: ["provider"]):
            "Calls not made because too many were under way.",
    ]

    // MARK: - Kafka

    private static let kafka: KeyValuePairs<MetricDescription, String> = [
        .gauge("locsearch_partitions_assigned"): "Partitions of the requests topic that this worker owns.",
        .gauge("locsearch_partition_lag", labels: ["topic", "partition"]):
            "Records of a partition that are not committed yet.",
        .gauge("locsearch_partition_blocked", labels: ["topic", "partition"]):
            "1 for a partition of which nothing is read, or committed, until a person acts.",
        .gauge("locsearch_runnable_backlog"):
            "Requests that wait in this worker's partitions and that a further worker could run; 0 while none could.",
        .gauge("locsearch_worker_info", labels: ["group"]): "The group that this worker belongs to; always 1.",
        .gauge("locsearch_commit_overdue_seconds"):
            "For how long no request begins because what is finished cannot be committed; 0: it can.",
        .gauge("locsearch_delivery_blocked"):
            "1 while a topic takes or confirms no outcomes or dead letters, or transactions fail.",
        .gauge("locsearch_topic_blocked", labels: ["topic"]):
            "1 while this topic takes or confirms no outcomes or dead letters although brokers answer.",
        .counter("locsearch_commits_failed_total"):
            "Commits of offsets that the broker refused or did not answer in time.",
        .counter("locsearch_producers_replaced_total"): "Producers that could not go on and were replaced.",
        .counter("locsearch_producers_abandoned_total"):
            "Replaced producers that were held by a call into librdkafka which did not return.",
        .histogram("locsearch_rebalance_duration_seconds", labels: ["kind"], bounds: longBounds):
            "Rebalances that gave or took partitions, and how long this worker needed to answer each.",
        .histogram(
            "messaging_client_operation_duration_seconds",
            labels: ["messaging_system", "messaging_operation_name", "messaging_destination_name"], bounds: shortBounds,
            convention: "messaging.client.operation.duration"):
            "`send`: from handing over a record to the broker's acknowledgement; `commit`: of offsets or a transaction.",
        .gauge("locsearch_producer_queue_records"): "Records that the producer has and the brokers have not confirmed.",
        .gauge("locsearch_producer_queue_bytes"): "The size of their values.",
        .gauge("locsearch_fetch_queue_records"): "Records that were fetched and not taken yet (statistics).",
        .gauge("locsearch_fetch_queue_bytes"): "Their size (statistics).",
        .gauge("locsearch_broker_rtt_seconds", labels: ["broker", "client"]):
            "Average round trip to a broker in the last interval (statistics).",
        .gauge("locsearch_broker_rtt_p99_seconds", labels: ["broker", "client"]):
            "The time that 99 % of those round trips stayed below (statistics).",
        .gauge("locsearch_broker_throttle_seconds", labels: ["broker", "client"]):
            "The longest that the broker had us wait in the last interval (statistics).",
        .gauge("locsearch_broker_outbuf_requests", labels: ["broker", "client"]):
            "Requests that wait to be sent to the broker (statistics).",
        .gauge("locsearch_broker_in_flight_requests", labels: ["broker", "client"]):
            "Requests that the broker has not answered yet (statistics).",
    ]

    // MARK: - The process

    private static let process: KeyValuePairs<MetricDescription, String> = [
        .gauge("locsearch_ready"): "1 while `/readyz` answers 200.",
        .counter("locsearch_loop_busy_seconds_total", labels: ["loop"]):
            "Time in which an event loop ran; its rate is the share of a core, and 1 is the most.",
        .gauge("locsearch_loop_longest_pass_seconds", labels: ["loop"]):
            "Longest time since the start for which an event loop ran without looking at its sockets.",
        .gauge("locsearch_build_info", labels: ["version", "librdkafka"]):
            "Versions of the program and of librdkafka; always 1.",
        .counter("locsearch_log_lines_dropped_total"): "Log lines that were dropped: nobody read them.",
        .counter("locsearch_trace_spans_exported_total"):
            "Spans that the trace collector has taken. There with `tracing.endpoint` only, as are the next two.",
        .counter("locsearch_trace_spans_dropped_total"):
            "Spans that were never sent: `tracing.queueSize` waited already, or the process ended.",
        .counter("locsearch_trace_spans_failed_total"):
            "Spans that the trace collector refused, or that it was away for too long to get.",
        .counter("process_cpu_seconds_total"): "CPU time of all threads.",
        .gauge("process_resident_memory_bytes"): "Memory in use.",
        .gauge("process_start_time_seconds"): "When the process began, in seconds since 1970.",
        .gauge("process_open_fds"): "Open file descriptors.",
        .gauge("process_max_fds"): "The most file descriptors that may be open.",
    ]

    // MARK: - The console

    /// The metrics of the consumer group that only `locsearch console` exports.
    private static let console: KeyValuePairs<MetricDescription, String> = [
        .gauge("locsearch_group_readable"):
            "1 while the brokers tell how far the group is. The metrics below are absent otherwise.",
        .gauge("locsearch_group_waiting", labels: ["group", "topic", "partition"]):
            "Requests of a partition that are not finished: its lag less what is done beyond the committed offset.",
        .gauge("locsearch_group_lag", labels: ["group", "topic", "partition"]):
            "The end of a partition less the committed offset. Absent where nothing is committed.",
        .gauge("locsearch_group_oldest_waiting_seconds", labels: ["group", "topic", "partition"]):
            "The age of the oldest request that waits, by its record's timestamp; 0 where none does.",
        .gauge("locsearch_group_members", labels: ["group"]):
            "Members of the group; each loop of a worker is one. Absent where the brokers do not tell.",
        .gauge("locsearch_group_arrivals_per_second", labels: ["group"]):
            "Requests that arrived, a second, over the last minute.",
        .gauge("locsearch_group_completions_per_second", labels: ["group"]):
            "Requests that were finished, a second, over the last minute.",
        .gauge("locsearch_group_work_off_seconds", labels: ["group"]):
            "How long what waits takes at that rate; infinite where something waits and nothing was finished.",
    ]
}
