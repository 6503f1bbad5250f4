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
        .counter("locsearch_requests_rejected_total"): "Records that were not valid requests; each has a dead letter.",
        .counter("locsearch_requests_set_aside_total"):
            "Records that are no longer run because workers crashed with them; each has a dead letter.",
        .counter("locsearch_requests_completed_total", labels: ["provider"]):
            "Requests that ended with a result, by provider.",
        .counter("locsearch_requests_failed_total", labels: ["code"]):
            "Requests that ended with an error, by code; also results replaced by an error, as they were too large.",
        .gauge("locsearch_requests_open"): "Requests in flight, and those whose outcome is unconfirmed.",
        .gauge("locsearch_requests_unconfirmed"):
            "Requests whose outcome the brokers have not confirmed yet.",
        .gauge("locsearch_requests_waiting", labels: ["class"]):
            "Requests that were read and wait to begin, by class; 0 if classes and tenants are not distinguished.",
        .gauge("locsearch_tenant_requests_waiting", labels: ["class", "tenant"]):
            "Requests that wait to begin, of ten tenants of a worker; the others count as the tenant other: see worker.fairBy.",
        .counter("locsearch_requests_done_before_total"):
            "Requests skipped because a former owner of their partition had published their outcomes.",
        .counter("locsearch_requests_deleted_unread_total"):
            "Requests that the brokers deleted before they were read, because the topic's retention had passed.",
        .gauge("locsearch_requests_retention_seconds"):
            "Retention of the requests topic; the shortest if there are several. Absent without a limit, or if this user may not read it.",
        .gauge("locsearch_requests_past_half_retention"):
            "Requests that wait in this worker's partitions and are older than half the retention. Absent if the retention is.",
        .counter("locsearch_dead_letters_total"): "Dead letters that the brokers have confirmed.",
        .histogram("locsearch_request_end_to_end_seconds", bounds: longBounds):
            "From a record's timestamp to its confirmed outcome of any kind; longer times count as 30 days.",
        .histogram("locsearch_request_topic_wait_seconds", bounds: longBounds):
            "From a record's timestamp until this worker took it.",
        .histogram("locsearch_request_call_wait_seconds", bounds: shortBounds):
            "From taking a request to its first call: the wait for limits, breakers and dead letters.",
        .histogram("locsearch_request_class_wait_seconds", labels: ["class"], bounds: longBounds):
            "From a record's timestamp to its request's first call, by class. Counted if classes or tenants are distinguished.",
        .histogram("locsearch_upstream_duration_seconds", labels: ["provider"], bounds: shortBounds):
            "Time spent waiting for a provider, per request, by provider.",
        .histogram(
            "messaging_process_duration_seconds",
            labels: [
                "messaging_system", "messaging_operation_name", "messaging_destination_name",
                "messaging_consumer_group_name",
            ], bounds: shortBounds, convention: "messaging.process.duration"):
            "From taking a record to its confirmed outcome of any kind.",
    ]

    // MARK: - Providers

    private static let providers: KeyValuePairs<MetricDescription, String> = [
        .histogram(
            "locsearch_provider_call_duration_seconds", labels: ["provider", "code"], bounds: shortBounds,
            isSparse: true, convention: "http.client.request.duration"):
            "One call to a provider; `code` is `ok`, the error's code, or `cancelled` if no request waited for it any more.",
        .gauge("locsearch_provider_breaker_state", labels: ["provider", "state"]):
            "1 for the current state of the provider: closed, paused, open or half-open.",
        .gauge("locsearch_provider_breaker_reason", labels: ["provider", "reason"]):
            "1 for the reason why the provider's state is not closed; 0 for all reasons while it is closed.",
        .counter("locsearch_provider_calls_total", labels: ["provider"]):
            "Calls made, retries included; each may cost money.",
        .counter("locsearch_provider_calls_by_sku_total", labels: ["provider", "sku"]):
            "Calls that have ended with any result, by the price class that the provider charges.",
        .counter("locsearch_provider_calls_wasted_total"):
            "Calls whose answer was not used: the call was abandoned as too slow, its request superseded, or its partition revoked.",
        .counter("locsearch_provider_unreadable_places_total", labels: ["provider"]):
            "Places that were left out of results, because the provider's response lacked their id or name, or had it in another form.",
        .counter("locsearch_provider_calls_shared_total", labels: ["provider"]):
            "Requests served by an identical request's call.",
        .gauge("locsearch_provider_requests_held", labels: ["provider"]):
            "Requests parked until a provider that is open or paused may be called.",
        .counter("locsearch_provider_retries_total", labels: ["provider"]): "Calls made again after a failure.",
        .counter("locsearch_provider_retries_refused_total", labels: ["provider"]):
            "Retries not made because the retry budget was used up.",
        .counter("locsearch_provider_rate_refusals_total", labels: ["provider"]):
            "Calls not made because their token would come too late.",
        .gauge("locsearch_provider_budget", labels: ["provider", "account", "unit"]):
            "A budget of the whole fleet, in calls or in a currency; each worker shows the same value. Absent without a budget.",
        .gauge("locsearch_provider_budget_used", labels: ["provider", "account", "unit"]):
            "The part of a budget that workers have reported as used, of the whole fleet.",
        .gauge("locsearch_provider_budget_reserved", labels: ["provider", "account", "unit"]):
            "The part of a budget that workers have reserved, or had when they crashed, of the whole fleet.",
        .gauge("locsearch_provider_budget_left", labels: ["provider", "account", "unit"]):
            "The part of a budget that is not reserved, of the whole fleet.",
        .gauge("locsearch_provider_budget_ends_in_seconds", labels: ["provider", "account", "unit"]):
            "The time until a budget's next day or month.",
        .gauge("locsearch_provider_rate_limit", labels: ["provider"]):
            "Calls per second that this worker may make: its share of the key's rate. Absent without a limit.",
        .gauge("locsearch_fleet_topic_usable"):
            "1 while workers share quota by demand; 0 while shares follow the partitions. Absent if no quota is shared.",
        .gauge("locsearch_control_active", labels: ["control", "provider", "scope"]):
            "1 for each order of locsearch controls that this worker follows; scope is fleet or worker. Absent without one.",
        .gauge("locsearch_provider_askable", labels: ["provider"]):
            "1 while another worker could make more calls; 0 if the breaker, a requested pause or the shared rate prevents it.",
        .gauge("locsearch_provider_concurrency_limit", labels: ["provider"]): "Calls that may be in flight at once.",
        .gauge("locsearch_provider_concurrency_in_flight", labels: ["provider"]): "Calls in flight.",
        .counter("locsearch_provider_concurrency_refusals_total", labels: ["provider"]):
            "Calls not made because too many were in flight.",
    ]

    // MARK: - Kafka

    private static let kafka: KeyValuePairs<MetricDescription, String> = [
        .gauge("locsearch_partitions_assigned"): "Partitions of the requests topic that this worker owns.",
        .gauge("locsearch_partition_lag", labels: ["topic", "partition"]):
            "Records of a partition that are not committed yet.",
        .gauge("locsearch_partition_blocked", labels: ["topic", "partition"]):
            "1 for a partition that is not read, or not committed, until an operator acts.",
        .gauge("locsearch_runnable_backlog"):
            "Requests that wait in this worker's partitions and that another worker could run; 0 if none could.",
        .gauge("locsearch_worker_info", labels: ["group"]): "The group that this worker belongs to; always 1.",
        .gauge("locsearch_commit_overdue_seconds"):
            "Seconds for which intake has been paused by overdue commits; 0 if it is not.",
        .gauge("locsearch_delivery_blocked"):
            "1 while a topic does not accept or confirm outcomes or dead letters, or transactions fail.",
        .gauge("locsearch_topic_blocked", labels: ["topic"]):
            "1 while this topic does not accept or confirm outcomes or dead letters although brokers answer.",
        .counter("locsearch_commits_failed_total"):
            "Offset commits that the broker rejected or did not answer in time.",
        .counter("locsearch_producers_replaced_total"): "Producers that failed and were replaced.",
        .histogram("locsearch_rebalance_duration_seconds", labels: ["kind"], bounds: longBounds):
            "Time that this worker needed to handle each assignment or revocation of partitions.",
        .histogram(
            "messaging_client_operation_duration_seconds",
            labels: ["messaging_system", "messaging_operation_name", "messaging_destination_name"], bounds: shortBounds,
            convention: "messaging.client.operation.duration"):
            "`send`: from enqueueing a record to its delivery report; `commit`: a commit of offsets or a transaction.",
        .gauge("locsearch_producer_queue_records"): "Records in the producer that the brokers have not confirmed.",
        .gauge("locsearch_fetch_queue_records"): "Records that were fetched and not read yet (statistics).",
        .gauge("locsearch_broker_rtt_p99_seconds", labels: ["broker", "client"]):
            "99th percentile of the round trips to a broker in the last interval (statistics).",
        .gauge("locsearch_broker_throttle_seconds", labels: ["broker", "client"]):
            "Longest throttling by the broker in the last interval (statistics).",
    ]

    // MARK: - The process

    private static let process: KeyValuePairs<MetricDescription, String> = [
        .gauge("locsearch_ready"): "1 while `/readyz` answers 200.",
        .counter("locsearch_loop_busy_seconds_total", labels: ["loop"]):
            "Time for which an event loop ran; its rate is the used share of a core, at most 1.",
        .gauge("locsearch_loop_longest_pass_seconds", labels: ["loop"]):
            "Longest time since the start for which an event loop ran without polling its sockets.",
        .gauge("locsearch_build_info", labels: ["version", "librdkafka"]):
            "Versions of the program and of librdkafka; always 1.",
        .counter("locsearch_log_lines_dropped_total"): "Log lines that were dropped because their reader was too slow.",
        .counter("locsearch_trace_spans_exported_total"):
            "Spans that the trace collector accepted. Present only with `tracing.endpoint`, like the next two.",
        .counter("locsearch_trace_spans_dropped_total"):
            "Spans that were never sent, because the queue was full or the process ended.",
        .counter("locsearch_trace_spans_failed_total"):
            "Spans that the trace collector rejected, or that expired while it was unavailable.",
        .counter("process_cpu_seconds_total"): "CPU time of all threads.",
        .gauge("process_resident_memory_bytes"): "Memory in use.",
        .gauge("process_start_time_seconds"): "Start of the process, in seconds since 1970.",
        .gauge("process_open_fds"): "Open file descriptors.",
        .gauge("process_max_fds"): "Limit on open file descriptors.",
    ]

    // MARK: - The console

    /// The metrics of the consumer group that only `locsearch console` exports.
    private static let console: KeyValuePairs<MetricDescription, String> = [
        .gauge("locsearch_group_readable"):
            "1 while the brokers report the group's offsets. The metrics below are absent otherwise.",
        .gauge("locsearch_group_waiting", labels: ["group", "topic", "partition"]):
            "Unfinished requests of a partition: its lag less the requests finished beyond the committed offset.",
        .gauge("locsearch_group_lag", labels: ["group", "topic", "partition"]):
            "End offset of a partition less the committed offset. Absent if no offset is committed.",
        .gauge("locsearch_group_oldest_waiting_seconds", labels: ["group", "topic", "partition"]):
            "Age of the oldest waiting request, by its record's timestamp; 0 if none waits.",
        .gauge("locsearch_group_members", labels: ["group"]):
            "Members of the group; each loop of a worker is one. Absent if the brokers do not report them.",
        .gauge("locsearch_group_arrivals_per_second", labels: ["group"]):
            "Requests that arrived per second, over the last minute.",
        .gauge("locsearch_group_completions_per_second", labels: ["group"]):
            "Requests that were finished per second, over the last minute.",
        .gauge("locsearch_group_work_off_seconds", labels: ["group"]):
            "Time to finish the waiting requests at that rate; infinite if requests wait and none was finished.",
    ]
}
