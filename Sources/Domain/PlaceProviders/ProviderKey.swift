import Basics
import LocationSearch
internal import Synchronization

/// The key of a provider's API, which may be replaced while calls are made. Safe to use from any thread.
public final class ProviderKey: Sendable {
    private struct State {
        var text: String
        /// The bytes of the key, plain and percent-encoded; empty for a short key, such as a simulator's `test`.
        var forms: [[UInt8]]
        /// The same for the previous key: calls that were made with it may still be answered.
        var lastForms: [[UInt8]] = []
    }
    // Never held across a call out.
    private let state: Mutex<State>

    /// The minimum length in bytes of a key that is searched for in answers; shorter ones could occur by chance. Real keys
    /// have 16 (Hot Pepper) and 39 (Google).
    private static let shortestRecognizableKey = 8

    public init(_ text: String) { state = Mutex(State(text: text, forms: Self.forms(of: text))) }

    /// Makes all later calls use `text`. Calls in flight keep their key.
    public func replace(with text: String) {
        state.withLock { state in
            guard text != state.text else { return }
            state = State(text: text, forms: Self.forms(of: text), lastForms: state.forms)
        }
    }

    /// The key for the next call.
    var text: String { state.withLock { $0.text } }

    /// The texts that no answer may contain: the key and the previous one, in each of their forms.
    var telltales: [[UInt8]] { state.withLock { $0.lastForms.isEmpty ? $0.forms : $0.forms + $0.lastForms } }

    /// Returns a failure without the provider's texts if they contain the key, in any letter case.
    func removed(from error: SearchError) -> SearchError {
        let keys = telltales.map { String(decoding: $0, as: UTF8.self).lowercased() }.map { Array($0.utf8) }
        var error = error
        if let status = error.providerStatus?.lowercased(), KeySearch.repeats(keys, in: status.utf8.span) {
            error.providerStatus = nil
        }
        if KeySearch.repeats(keys, in: error.message.lowercased().utf8.span) {
            error.message = "the provider's answer contains the API key, so its text is omitted"
        }
        return error
    }

    private static func forms(of text: String) -> [[UInt8]] {
        guard text.utf8.count >= shortestRecognizableKey else { return [] }
        return Set([text, PercentEncoding.encoded(text)]).map { Array($0.utf8) }
    }
}

/// No textual form of a key shows it.
extension ProviderKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "(hidden)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
