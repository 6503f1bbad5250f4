/// What each metric counts: the one table of names, all beginning with `locsearch_`. Beside each stands the name that
/// OpenTelemetry's semantic conventions for messaging (1.44) have for the same thing, in Prometheus' spelling.
package enum MetricHelp {
    package static let texts: [String: String] = [
        // messaging_client_consumed_messages_total
        "locsearch_requests_taken_total": "Records taken from the requests topic.",
        "locsearch_requests_rejected_total": "Records that were no requests; each has a dead letter.",
        // messaging_client_sent_messages_total, by kind of outcome
        "locsearch_requests_completed_total": "Requests that ended with a result, by provider.",
        "locsearch_requests_failed_total": "Requests that ended with an error, by code.",
        "locsearch_requests_in_flight": "Requests taken whose outcome is not yet confirmed.",
        "locsearch_partitions_assigned": "Partitions of the requests topic that this worker owns.",
        "locsearch_producers_replaced_total": "Producers that failed for good and were replaced.",
        "locsearch_commits_failed_total": "Commits of offsets that the broker refused or did not answer in time.",
        // messaging_process_duration_seconds is this plus what the worker adds
        "locsearch_upstream_duration_seconds": "Time spent waiting for a provider, per request, by provider.",
        "locsearch_provider_calls_wasted_total":
            "Calls whose answer was not delivered: superseded, or the partition left.",
    ]
}
