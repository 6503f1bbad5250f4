import EventContract
import LocationSearch

/// Judges dead letters by the rules that a worker reads requests by.
struct RequestJudge: Sendable {
    private let decoder: RequestDecoder

    /// - Parameter settings: `worker.maxRequestBytes` counts.
    init(_ settings: Settings) { decoder = RequestDecoder(maximumBytes: settings.integer("worker.maxRequestBytes")) }

    /// Returns why the letter would be put aside again; `nil` where it is a request by now.
    func fault(of letter: DeadLetter) -> SearchError? {
        let position = letter.source ?? SourcePosition(topic: "", partition: 0, offset: 0)
        do throws(RejectedRecord) {
            _ = try decoder.decode(
                IncomingRecord(source: position, key: letter.key, value: letter.value, headers: letter.originalHeaders))
            return nil
        } catch {
            return error.error
        }
    }
}
