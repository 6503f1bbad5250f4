internal import HTTPServing
internal import Hummingbird
internal import Synchronization

/// Bounds what routes ask of Kafka: how much at a time, because each question has clients with threads and buffers, and for
/// how long. Identical reads share one answer. Safe to use from any thread.
///
/// Streams, metrics and searches do not pass here: all pages share their clients, which have bounds of their own.
final class KafkaGate: Sendable {
    private typealias Reading = Task<Result<[UInt8], any Error>, Never>

    private struct State {
        var underWay = 0
        var readings: [String: Reading] = [:]
    }

    /// The most questions under way. One that outlasts `longest` counts until it ends.
    private static let mostAtOnce = 8
    /// The longest time until a page has an answer.
    private let longest: Duration
    private let state = Mutex(State())

    init(longest: Duration = .seconds(30)) { self.longest = longest }

    /// Answers a request with the JSON that `body` reads, or that is being read for an identical request.
    /// - Throws: as `run`.
    func answer(
        to request: Request, _ body: @escaping @Sendable () async throws -> [UInt8]
    ) async throws -> Response {
        let key = request.uri.string
        let reading = state.withLock { state in
            if let known = state.readings[key] { return known }
            // Unstructured: it goes on for the others when the page that began it is closed.
            let new = Reading {
                defer { self.state.withLock { $0.readings[key] = nil } }
                do { return .success(try await self.run(body)) } catch { return .failure(error) }
            }
            state.readings[key] = new
            return new
        }
        return JSONAnswer.response(try await reading.value.get())
    }

    /// Returns what `body` does.
    /// - Throws: `busy` when too much is under way, or it takes too long; what `body` throws.
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
