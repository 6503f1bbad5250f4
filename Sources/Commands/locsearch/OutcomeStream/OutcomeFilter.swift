import ArgumentParser
import EventContract
import Kafka

/// Selects the outcomes that `watch` shows. An option that is not given excludes none.
struct OutcomeFilter: ParsableArguments {
    @Option(help: "Only outcomes whose record has this key.") var key: String?
    @Option(help: "Only outcomes of this session.") var session: String?
    @Option(help: "Only outcomes of the request with this id.") var requestID: String?
    @Flag(help: "Only errors, no results.") var errors = false

    func matches(_ outcome: ReceivedOutcome) -> Bool {
        if let key, outcome.record.key != Array(key.utf8) { return false }
        if let session, outcome.event?.sessionID != session { return false }
        if let requestID, outcome.event?.requestID != requestID { return false }
        if errors {
            guard case .failed? = outcome.event?.body else { return false }
        }
        return true
    }
}
