/// The one table of metrics: each that `/metrics` shows, in the order of docs/metrics.md.
extension MetricDescription {
    /// OpenTelemetry's advice for durations of messaging operations and HTTP calls.
    static let shortBounds: [Double] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
    /// Buckets for times that may be as long as a backlog takes to be worked off: up to two hours.
    static let longBounds: [Double] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200]

    package static let all: [MetricDescription] = requests + providers + kafka + process + console

    // MARK: - Requests

    private static let requests = [
        MetricDescription(
            "locsearch_requests_taken_total", .counter, in: .requests,
            convention: "messaging.client.consumed.messages", "Records taken from the requests topic."),
        MetricDescription(
            "locsearch_requests_rejected_total", .counter, in: .requests,
            "Records that were no requests; each has a dead letter."),
        MetricDescription(
            "locsearch_requests_set_aside_total", .counter, in: .requests,
            "Records that are not run any more because worker processes crashed with them; each has a dead letter."),
        MetricDescription(
            "locsearch_requests_completed_total", .counter, in: .requests, labels: ["provider"],
            "Requests that ended with a result, by provider."),
        MetricDescription(
            "locsearch_requests_failed_total", .counter, in: .requests, labels: ["code"],
            "Requests that ended with an error, by code."),
        MetricDescription(
            "locsearch_requests_in_flight", .gauge, in: .requests,
            "The older name of `locsearch_requests_open`."),
        MetricDescription(
            "locsearch_requests_open", .gauge, in: .requests,
            "Requests in flight, and those whose outcome is unconfirmed."),
        MetricDescription(
            "locsearch_requests_unconfirmed", .gauge, in: .requests,
            "Requests whose outcome is made and not confirmed by the brokers yet."),
        MetricDescription(
            "locsearch_requests_waiting", .gauge, in: .requests, labels: ["class"],
            "Requests that were read and wait for their turn to begin, by class; 0 where requests are not told apart."),
        MetricDescription(
            "locsearch_requests_waiting_longest_seconds", .gauge, in: .requests, labels: ["class"],
            "How long the oldest of them has waited since it was read, by class."),
        MetricDescription(
            "locsearch_tenant_requests_waiting", .gauge, in: .requests, labels: ["class", "tenant"],
            "Requests that wait for their turn to begin, of ten tenants of a worker; all others are the tenant other: see worker.fairBy."
        ),
        MetricDescription(
            "locsearch_requests_done_before_total", .counter, in: .requests,
            "Requests passed over because a former owner of their partition had published their outcomes."),
        MetricDescription(
            "locsearch_requests_deleted_unread_total", .counter, in: .requests,
            "Requests that the brokers deleted before anybody read them, because their topic's retention was over."),
        MetricDescription(
            "locsearch_requests_retention_seconds", .gauge, in: .requests,
            "How long the requests topic keeps records; of several, the shortest time. Absent without a limit, and where this user may not ask."
        ),
        MetricDescription(
            "locsearch_requests_past_half_retention", .gauge, in: .requests,
            "Requests that wait in this worker's partitions and are older than half of that time. Absent as that is."),
        MetricDescription(
            "locsearch_dead_letters_written_total", .counter, in: .requests,
            "Dead letters that the brokers have confirmed."),
        MetricDescription(
            "locsearch_request_end_to_end_seconds", .histogram, in: .requests, bounds: longBounds,
            "From a record's timestamp to its confirmed outcome, whatever that is; a longer time counts as 30 days."),
        MetricDescription(
            "locsearch_request_topic_wait_seconds", .histogram, in: .requests, bounds: longBounds,
            "From a record's timestamp until this worker took it."),
        MetricDescription(
            "locsearch_request_call_wait_seconds", .histogram, in: .requests, bounds: shortBounds,
            "From taking a request to its first call: what it waited for limits, breakers and dead letters before it."),
        MetricDescription(
            "locsearch_request_class_wait_seconds", .histogram, in: .requests, labels: ["class"], bounds: longBounds,
            "From a record's timestamp to its request's first call, by class. Counted where classes or tenants are told apart."
        ),
        MetricDescription(
            "locsearch_upstream_duration_seconds", .histogram, in: .requests, labels: ["provider"],
            bounds: shortBounds, "Time spent waiting for a provider, per request, by provider."),
        MetricDescription(
            "messaging_process_duration_seconds", .histogram, in: .requests,
            labels: [
                "messaging_system", "messaging_operation_name", "messaging_destination_name",
                "messaging_consumer_group_name",
            ], bounds: shortBounds, convention: "messaging.process.duration",
            "From taking a record to its confirmed outcome, whatever that is."),
    ]

    // MARK: - Providers

    private static let providers = [
        MetricDescription(
            "locsearch_provider_call_duration_seconds", .histogram, in: .providers, labels: ["provider", "code"],
            bounds: shortBounds, isSparse: true, convention: "http.client.request.duration",
            "One call to a provider; `code` is `ok`, the error's code, or `cancelled` where nobody waited any more."),
        MetricDescription(
            "locsearch_provider_breaker_state", .gauge, in: .providers, labels: ["provider", "state"],
            "1 for the state that the provider is in: closed, paused, open or half-open."),
        MetricDescription(
            "locsearch_provider_breaker_reason", .gauge, in: .providers, labels: ["provider", "reason"],
            "1 for the reason for which the provider's state is not closed; 0 for all while it is."),
        MetricDescription(
            "locsearch_provider_breaker_openings_total", .counter, in: .providers, labels: ["provider"],
            "Times the breaker opened."),
        MetricDescription(
            "locsearch_provider_breaker_rejections_total", .counter, in: .providers, labels: ["provider"],
            "Calls that an open breaker did not let through."),
        MetricDescription(
            "locsearch_provider_calls_total", .counter, in: .providers, labels: ["provider"],
            "Calls made, retries included; each may cost money."),
        MetricDescription(
            "locsearch_provider_calls_by_sku_total", .counter, in: .providers, labels: ["provider", "sku"],
            "Calls that have ended, however they did, by the price class that the provider charges them as."),
        MetricDescription(
            "locsearch_provider_calls_failed_total", .counter, in: .providers, labels: ["provider"],
            "Calls that failed, and not by the request's own fault."),
        MetricDescription(
            "locsearch_provider_calls_wasted_total", .counter, in: .providers,
            "Calls whose answer was not delivered: superseded, or the partition left."),
        MetricDescription(
            "locsearch_provider_calls_shared_total", .counter, in: .providers, labels: ["provider"],
            "Requests served by an identical request's call."),
        MetricDescription(
            "locsearch_provider_requests_held", .gauge, in: .providers, labels: ["provider"],
            "Requests that wait until a provider that is open or paused may be asked."),
        MetricDescription(
            "locsearch_provider_retries_total", .counter, in: .providers, labels: ["provider"],
            "Calls made again after a failure."),
        MetricDescription(
            "locsearch_provider_retries_refused_total", .counter, in: .providers, labels: ["provider"],
            "Retries not made because the budget was used up."),
        MetricDescription(
            "locsearch_provider_rate_waits_total", .counter, in: .providers, labels: ["provider"],
            "Calls that waited for their turn at the key's rate."),
        MetricDescription(
            "locsearch_provider_rate_refusals_total", .counter, in: .providers, labels: ["provider"],
            "Calls not made because their turn would come too late."),
        MetricDescription(
            "locsearch_provider_rate_waiting", .gauge, in: .providers, labels: ["provider"],
            "Calls that wait for their turn at the key's rate."),
        MetricDescription(
            "locsearch_provider_budget_calls", .gauge, in: .providers, labels: ["provider"],
            "Calls of the day's budget, of the whole fleet: each worker shows the same. Absent without a budget."),
        MetricDescription(
            "locsearch_provider_budget_used_calls", .gauge, in: .providers, labels: ["provider"],
            "Calls of the day that workers have told of, of the whole fleet."),
        MetricDescription(
            "locsearch_provider_budget_reserved_calls", .gauge, in: .providers, labels: ["provider"],
            "Calls of the day that workers hold reserved, or held when they crashed, of the whole fleet."),
        MetricDescription(
            "locsearch_provider_budget_left_calls", .gauge, in: .providers, labels: ["provider"],
            "Calls of the day's budget that nobody has reserved, of the whole fleet."),
        MetricDescription(
            "locsearch_provider_budget_kept_calls", .gauge, in: .providers, labels: ["provider"],
            "Calls of the day's budget that are kept for interactive requests, by this worker's settings."),
        MetricDescription(
            "locsearch_provider_rate_limit", .gauge, in: .providers, labels: ["provider"],
            "Calls per second that this worker may make, its share of the key's rate; absent without a limit."),
        MetricDescription(
            "locsearch_fleet_topic_usable", .gauge, in: .providers,
            "1 while workers can share quota by demand; 0: shares follow the partitions. Absent where none is shared."
        ),
        MetricDescription(
            "locsearch_fleet_messages_ignored_total", .counter, in: .providers, labels: ["reason"],
            "Messages in the fleet's topic about another fleet's or another key's quota, or from workers of an older version."
        ),
        MetricDescription(
            "locsearch_control_active", .gauge, in: .providers, labels: ["control", "provider", "scope"],
            "1 for each order of locsearch controls that this worker follows; scope is fleet or worker. Absent without one."
        ),
        MetricDescription(
            "locsearch_provider_askable", .gauge, in: .providers, labels: ["provider"],
            "1 while a further worker could ask for more; 0: breaker, a pause asked for, or the shared rate is reached."
        ),
        MetricDescription(
            "locsearch_provider_concurrency_limit", .gauge, in: .providers, labels: ["provider"],
            "Calls that may be under way at once."),
        MetricDescription(
            "locsearch_provider_concurrency_in_flight", .gauge, in: .providers, labels: ["provider"],
            "Calls under way."),
        MetricDescription(
            "locsearch_provider_concurrency_refusals_total", .counter, in: .providers, labels: ["provider"],
            "Calls not made because too many were under way."),
    ]

    // MARK: - Kafka

    private static let kafka = [
        MetricDescription(
            "locsearch_partitions_assigned", .gauge, in: .kafka,
            "Partitions of the requests topic that this worker owns."),
        MetricDescription(
            "locsearch_partition_lag", .gauge, in: .kafka, labels: ["topic", "partition"],
            "Records of a partition that are not committed yet."),
        MetricDescription(
            "locsearch_partition_blocked", .gauge, in: .kafka, labels: ["topic", "partition"],
            "1 for a partition of which nothing is read, or committed, until a person acts."),
        MetricDescription(
            "locsearch_runnable_backlog", .gauge, in: .kafka,
            "Requests that wait in this worker's partitions and that a further worker could run; 0 while none could."),
        MetricDescription(
            "locsearch_worker_info", .gauge, in: .kafka, labels: ["group"],
            "The group that this worker belongs to; always 1."),
        MetricDescription(
            "locsearch_commit_overdue_seconds", .gauge, in: .kafka,
            "For how long no request begins because what is finished cannot be committed; 0: it can."),
        MetricDescription(
            "locsearch_delivery_blocked", .gauge, in: .kafka,
            "1 while a topic takes or confirms no outcomes or dead letters, or transactions fail."),
        MetricDescription(
            "locsearch_topic_blocked", .gauge, in: .kafka, labels: ["topic"],
            "1 while this topic takes or confirms no outcomes or dead letters although brokers answer."),
        MetricDescription(
            "locsearch_commits_failed_total", .counter, in: .kafka,
            "Commits of offsets that the broker refused or did not answer in time."),
        MetricDescription(
            "locsearch_producers_replaced_total", .counter, in: .kafka,
            "Producers that failed for good and were replaced."),
        MetricDescription(
            "locsearch_producers_abandoned_total", .counter, in: .kafka,
            "Replaced producers that were held by a call into librdkafka which did not return."),
        MetricDescription(
            "locsearch_rebalance_duration_seconds", .histogram, in: .kafka, labels: ["kind"], bounds: longBounds,
            "Rebalances that gave or took partitions, and how long this worker needed to answer each."),
        MetricDescription(
            "messaging_client_operation_duration_seconds", .histogram, in: .kafka,
            labels: ["messaging_system", "messaging_operation_name", "messaging_destination_name"],
            bounds: shortBounds, convention: "messaging.client.operation.duration",
            "`send`: from handing over a record to the broker's acknowledgement; `commit`: of offsets or a transaction."
        ),
        MetricDescription(
            "locsearch_producer_queue_records", .gauge, in: .kafka,
            "Records that the producer has and the brokers have not confirmed."),
        MetricDescription(
            "locsearch_producer_queue_bytes", .gauge, in: .kafka, "The size of their values."),
        MetricDescription(
            "locsearch_fetch_queue_records", .gauge, in: .kafka,
            "Records that were fetched and not taken yet (statistics)."),
        MetricDescription(
            "locsearch_fetch_queue_bytes", .gauge, in: .kafka, "Their size (statistics)."),
        MetricDescription(
            "locsearch_broker_rtt_seconds", .gauge, in: .kafka, labels: ["broker", "client"],
            "Average round trip to a broker in the last interval (statistics)."),
        MetricDescription(
            "locsearch_broker_rtt_p99_seconds", .gauge, in: .kafka, labels: ["broker", "client"],
            "The time that 99 % of those round trips stayed below (statistics)."),
        MetricDescription(
            "locsearch_broker_throttle_seconds", .gauge, in: .kafka, labels: ["broker", "client"],
            "The longest that the broker had us wait in the last interval (statistics)."),
        MetricDescription(
            "locsearch_broker_outbuf_requests", .gauge, in: .kafka, labels: ["broker", "client"],
            "Requests that wait to be sent to the broker (statistics)."),
        MetricDescription(
            "locsearch_broker_in_flight_requests", .gauge, in: .kafka, labels: ["broker", "client"],
            "Requests that the broker has not answered yet (statistics)."),
    ]

    // MARK: - The process

    private static let process = [
        MetricDescription("locsearch_ready", .gauge, in: .process, "1 while `/readyz` answers 200."),
        MetricDescription(
            "locsearch_loop_busy_seconds_total", .counter, in: .process, labels: ["loop"],
            "Time in which an event loop ran; its rate is the share of a core, and 1 is the most."),
        MetricDescription(
            "locsearch_loop_longest_pass_seconds", .gauge, in: .process, labels: ["loop"],
            "Longest time since the start for which an event loop ran without looking at its sockets."),
        MetricDescription(
            "locsearch_build_info", .gauge, in: .process, labels: ["version", "librdkafka"],
            "Versions of the program and of librdkafka; always 1."),
        MetricDescription(
            "locsearch_log_lines_dropped_total", .counter, in: .process,
            "Log lines that were dropped: nobody read them."),
        MetricDescription(
            "locsearch_trace_spans_exported_total", .counter, in: .process,
            "Spans that the trace collector has taken. There with `tracing.endpoint` only, as are the next two."),
        MetricDescription(
            "locsearch_trace_spans_dropped_total", .counter, in: .process,
            "Spans that were never sent: `tracing.queueSize` waited already, or the process ended."),
        MetricDescription(
            "locsearch_trace_spans_failed_total", .counter, in: .process,
            "Spans that the trace collector refused, or that it was away for too long to get."),
        MetricDescription(
            "process_cpu_seconds_total", .counter, in: .process, "CPU time of all threads."),
        MetricDescription(
            "process_resident_memory_bytes", .gauge, in: .process, "Memory in use."),
        MetricDescription(
            "process_start_time_seconds", .gauge, in: .process, "When the process began, in seconds since 1970."),
        MetricDescription(
            "process_open_fds", .gauge, in: .process, "Open file descriptors."),
        MetricDescription(
            "process_max_fds", .gauge, in: .process, "The most file descriptors that may be open."),
    ]

    // MARK: - The console

    /// What `locsearch console` tells of the workers' group, and no worker does.
    private static let console = [
        MetricDescription(
            "locsearch_group_readable", .gauge, in: .console,
            "1 while the brokers tell how far the group is. The metrics below are absent otherwise."),
        MetricDescription(
            "locsearch_group_waiting", .gauge, in: .console, labels: ["group", "topic", "partition"],
            "Requests of a partition that are not finished: its lag less what is done beyond the committed offset."),
        MetricDescription(
            "locsearch_group_lag", .gauge, in: .console, labels: ["group", "topic", "partition"],
            "The end of a partition less the committed offset. Absent where nothing is committed."),
        MetricDescription(
            "locsearch_group_oldest_waiting_seconds", .gauge, in: .console, labels: ["group", "topic", "partition"],
            "The age of the oldest request that waits, by its record's timestamp; 0 where none does."),
        MetricDescription(
            "locsearch_group_members", .gauge, in: .console, labels: ["group"],
            "Members of the group; each loop of a worker is one. Absent where the brokers do not tell."),
        MetricDescription(
            "locsearch_group_arrivals_per_second", .gauge, in: .console, labels: ["group"],
            "Requests that arrived, a second, over the last minute."),
        MetricDescription(
            "locsearch_group_completions_per_second", .gauge, in: .console, labels: ["group"],
            "Requests that were finished, a second, over the last minute."),
        MetricDescription(
            "locsearch_group_work_off_seconds", .gauge, in: .console, labels: ["group"],
            "How long what waits takes at that rate; infinite where something waits and nothing was finished."),
    ]
}
