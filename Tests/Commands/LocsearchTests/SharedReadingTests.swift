import Synchronization
import TestSupport
import Testing

@testable import locsearch

/// Many callers of a value that is read once.
struct SharedReadingTests {
    private struct Refused: Error, Equatable {}

    /// A source whose reading takes until it is released.
    private final class Source: Sendable {
        let readings = Atomic(0)
        let isOpen = Atomic(false)
        let fails = Atomic(false)

        func read() async -> Result<Int, Refused> {
            let number = readings.add(1, ordering: .sequentiallyConsistent).newValue
            while !isOpen.load(ordering: .acquiring) { try? await Task.sleep(for: .milliseconds(2)) }
            return fails.load(ordering: .acquiring) ? .failure(Refused()) : .success(number)
        }

        var count: Int { readings.load(ordering: .sequentiallyConsistent) }
    }

    private let source = Source()

    private func shared(keptFor lifetime: Duration) -> SharedReading<Int, Refused> {
        SharedReading(keptFor: lifetime) { [source] in await source.read() }
    }

    @Test func `Hundreds of callers share one read`() async throws {
        let shared = shared(keptFor: .seconds(3600))
        let values = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<500 { group.addTask { try? await shared.value() } }
            source.isOpen.store(true, ordering: .releasing)
            return await group.reduce(into: []) { $0.append($1) }
        }

        #expect(values == Array(repeating: 1, count: 500))
        #expect(try await shared.value() == 1)
        #expect(source.count == 1)
    }

    @Test func `A value is read again once it is old`() async throws {
        source.isOpen.store(true, ordering: .releasing)
        let shared = shared(keptFor: .milliseconds(1))
        #expect(try await shared.value() == 1)
        try await eventually("it is read anew") { try await shared.value() > 1 }
    }

    @Test func `A caller after a change gets no earlier value`() async throws {
        let shared = shared(keptFor: .seconds(3600))
        async let early = shared.value()
        try await eventually("the first one reads") { source.count == 1 }
        await shared.forget()
        async let late = shared.value()
        try await eventually("the second one reads") { source.count == 2 }
        source.isOpen.store(true, ordering: .releasing)

        #expect(try await early == 1)
        #expect(try await late == 2)
        #expect(try await shared.value() == 2)
    }

    @Test func `A failure is not cached`() async throws {
        source.fails.store(true, ordering: .releasing)
        source.isOpen.store(true, ordering: .releasing)
        let shared = shared(keptFor: .seconds(3600))
        await #expect(throws: Refused()) { try await shared.value() }

        source.fails.store(false, ordering: .releasing)
        #expect(try await shared.value() == 2)
    }
}
