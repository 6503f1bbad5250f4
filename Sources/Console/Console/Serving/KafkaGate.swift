internal import HTTPServing
internal import HummingbirdCore
internal import Synchronization

/// Bounds the routes' Kafka operations in number and in time, because each needs clients with threads and buffers.
/// Identical reads are coalesced. Safe to use from any thread.
///
/// Streams, metrics and searches do not use it: all pages share their clients, which have their own bounds.
final class KafkaGate: Sendable {
    private typealias Reading = Task<Result<[UInt8], any Error>, Never>

    private struct State {
        var underWay = 0
        var readings: [String: Reading] = [:]
    }

    /// The maximum number of concurrent operations. An operation that takes longer than `longest` counts until it ends.
    private static let mostAtOnce = 8
    /// The longest time until a page gets an answer.
    private let longest: Duration
    private let state = Mutex(State())

    init(longest: Duration = .seconds(30)) { self.longest = longest }

    /// Answers a request with the JSON that `body` reads, or that an identical request in progress reads.
    /// - Throws: as `run`.
    func answer(to request: Request, _ body: @escaping @Sendable () async throws -> [UInt8]) async throws -> Response {
        let key = request.uri.string
        let reading = state.withLock { state in
            if let known = state.readings[key] { return known }
            // Unstructured: it continues for other pages if the page that began it is closed.
            let new = Reading {
                defer { self.state.withLock { $0.readings[key] = nil } }
                do { return .success(try await self.run(body)) } catch { return .failure(error) }
            }
            state.readings[key] = new
            return new
        }
        return JSONAnswer.response(try await reading.value.get())
    }

    /// Returns the result of `body`.
    /// - Throws: `busy` if too many operations are in progress, or if it takes too long; errors of `body`.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let isAdmitted = state.withLock { state in
            guard state.underWay < Self.mostAtOnce else { return false }
            state.underWay += 1
            return true
        }
        guard isAdmitted else {
            throw ConsoleError(.busy, "too much is read from Kafka just now: try again in a moment")
        }

        let work = Task {
            defer { state.withLock { $0.underWay -= 1 } }
            return try await body()
        }
        let result = await HTTPServing.answer(within: longest) { await work.result }
        if let result { return try result.get() }

        work.cancel()
        let text = "no answer within \(longest.components.seconds) s; an order may still be carried out: look again"
        throw ConsoleError(.busy, text)
    }
}
