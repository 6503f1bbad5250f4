import EventContract
import LocationSearch

/// Checks dead letters with the rules that workers apply to requests.
struct RequestJudge: Sendable {
    private let decoder: RequestDecoder

    /// - Parameter settings: the source of `worker.maxRequestBytes`.
    init(_ settings: Settings) { decoder = RequestDecoder(maximumBytes: settings.integer("worker.maxRequestBytes")) }

    /// Returns why the letter would be rejected again; `nil` if it is a valid request.
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
