internal import Basics
internal import LocationSearch
internal import Metrics

/// The metrics of requests, from their receipt to their acknowledged outcome.
struct RequestMeters: Sendable {
    private let taken: Counter
    private let rejected: Counter
    private let setAside: Counter
    private let completed: CaseTable<ProviderID, Counter>
    private let failed: CaseTable<SearchError.Code, Counter>
    private let upstream: CaseTable<ProviderID, Timer>
    private let topicWait: Timer
    private let callWait: Timer
    private let classWait: CaseTable<RequestClass, Timer>
    private let endToEnd: Timer
    /// The processing times, by the index of the request topic.
    private let processing: [Timer]

    init(topics: [String], group: String, maker: MeterMaker) {
        taken = maker.counter("locsearch_requests_taken_total")
        rejected = maker.counter("locsearch_requests_rejected_total")
        setAside = maker.counter("locsearch_requests_set_aside_total")

        completed = maker.each(ProviderID.self) {
            maker.counter("locsearch_requests_completed_total", labels: [("provider", $0)])
        }
        failed = maker.each(SearchError.Code.self) {
            maker.counter("locsearch_requests_failed_total", labels: [("code", $0)])
        }
        upstream = maker.each(ProviderID.self) {
            maker.timer("locsearch_upstream_duration_seconds", labels: [("provider", $0)])
        }

        topicWait = maker.timer("locsearch_request_topic_wait_seconds")
        callWait = maker.timer("locsearch_request_call_wait_seconds")
        classWait = maker.each(RequestClass.self) {
            maker.timer("locsearch_request_class_wait_seconds", labels: [("class", $0)])
        }
        endToEnd = maker.timer("locsearch_request_end_to_end_seconds")
        processing = topics.map { topic in
            maker.timer(
                "messaging_process_duration_seconds",
                labels: [
                    ("messaging_system", "kafka"), ("messaging_operation_name", "process"),
                    ("messaging_destination_name", topic), ("messaging_consumer_group_name", group),
                ])
        }
    }

    /// Counts a record that was taken.
    /// - Parameter wait: the time that it waited in its topic; `nil` if its timestamp is unknown.
    func countTaken(after wait: Duration?) {
        taken.increment()
        if let wait { topicWait.record(wait: wait) }
    }

    func countRejected() { rejected.increment() }

    /// Counts a record that is not run because it has crashed processes.
    func countSetAside() { setAside.increment() }

    /// Counts an outcome.
    /// - Parameter wait: the time from the receipt of the request to its first call; `nil` if it made none.
    func countFinished(_ outcome: SearchOutcome, callWait wait: Duration?) {
        if let code = outcome.failure {
            failed[code].increment()
        } else if let provider = outcome.provider {
            completed[provider].increment()
        }

        if let wait { callWait.record(wait: wait) }
        guard outcome.attempts > 0, let provider = outcome.provider else { return }
        upstream[provider].record(wait: outcome.upstream)
    }

    /// Counts a result that an error replaces, because a topic refused it as too large. It is counted as completed already.
    func countTruncated() { failed[SearchError.resultTooLarge.code].increment() }

    /// Counts the time that a request waited in its topic and in this process until its first call began.
    func countWait(_ wait: Duration, of requestClass: RequestClass) { classWait[requestClass].record(wait: wait) }

    /// Counts an outcome that the brokers have acknowledged.
    /// - Parameters:
    ///   - time: the time since the record was taken.
    ///   - wait: the time that the record waited in its topic; `nil` if its timestamp is unknown.
    ///   - topicIndex: the index of its topic among the request topics.
    func countDelivered(after time: Duration, topicWait wait: Duration?, topicIndex: Int) {
        processing[topicIndex].record(wait: time)
        if let wait { endToEnd.record(wait: wait + time) }
    }
}
