import Basics
import HTTPTransport
import Synchronization

/// Returns scripted answers, one after another; the last answer serves all further exports.
final class FakeCollector: HTTPSending {
    private struct State {
        var answers: [Result<HTTPResponse, HTTPError>]
        var requests: [HTTPRequest] = []
    }
    private struct Export: Cancellable {
        let task: Task<Void, Never>

        func cancel() { task.cancel() }
    }
    private let state: Mutex<State>
    /// True while exports get no answer.
    private let hangs: Bool

    init(_ answers: [Result<HTTPResponse, HTTPError>], hangs: Bool = false) {
        state = Mutex(State(answers: answers))
        self.hangs = hangs
    }

    convenience init(_ statuses: Int...) {
        self.init(statuses.map { .success(HTTPResponse(status: $0)) })
    }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func begin(
        _ request: HTTPRequest, before deadline: Instant,
        then end: @escaping HTTPCompletion
    ) -> (any Cancellable)? {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
        guard hangs else {
            end(answer)
            return nil
        }
        return Export(
            task: Task {
                try? await Task.sleep(for: Instant.now.duration(to: deadline))
                end(.failure(HTTPError(Task.isCancelled ? .cancelled : .timeout, "no answer")))
            })
    }
}
