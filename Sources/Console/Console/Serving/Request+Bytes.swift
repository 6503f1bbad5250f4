internal import Hummingbird

extension Request {
    /// Returns the body.
    /// - Throws: `ConsoleError.invalid` if it is too large or incomplete.
    func bytes(upTo limit: Int) async throws(ConsoleError) -> [UInt8] {
        do {
            return Array(try await body.collect(upTo: limit).readableBytesView)
        } catch {
            throw ConsoleError(.invalid, "the body has more than \(limit) bytes, or broke off")
        }
    }
}
