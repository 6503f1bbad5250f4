import Testing

import Basics

struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let parent = "b7ad6b7169203331"

    static let valid: [(String, String)] = [
        ("00-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-01"),
        ("00-\(trace)-\(parent)-00", "00-\(trace)-\(parent)-00"),
        ("00-\(trace)-\(parent)-03", "00-\(trace)-\(parent)-03"),
        ("00-\(trace)-\(parent)-ff", "00-\(trace)-\(parent)-03"),
        ("cc-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-01"),
        ("cc-\(trace)-\(parent)-01-more", "00-\(trace)-\(parent)-01"),
    ]
    @Test(arguments: valid)
    func `A valid traceparent is read`(text: (given: String, kept: String)) throws {
        let context = try #require(TraceContext(traceparent: Array(text.given.utf8)))
        #expect(context.traceparent == Array(text.kept.utf8))
        #expect(context.traceID == Self.trace)
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-1", "00-\(trace)-\(parent)-011",
        "00-\(trace)-\(parent)-01-more", "ff-\(trace)-\(parent)-01", "0x-\(trace)-\(parent)-01",
        "00_\(trace)_\(parent)_01", "00-\(trace.uppercased())-\(parent)-01", "00-\(trace)-B7AD6B7169203331-01",
        "00-00000000000000000000000000000000-\(parent)-01", "00-\(trace)-0000000000000000-01",
        "cc-\(trace)-\(parent)-01.more", "cc-\(trace)-\(parent)-01-" + String(repeating: "x", count: 10_000),
        " 00-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-0g",
    ])
    func `An invalid traceparent is refused`(text: String) {
        #expect(TraceContext(traceparent: Array(text.utf8)) == nil)
    }

    @Test func `The child of a trace keeps the trace id`() throws {
        let context = try #require(
            TraceContext(traceparent: Array("00-\(Self.trace)-\(Self.parent)-01".utf8), tracestate: Array("a=1".utf8)))
        let child = context.child(parentID: 0xABC)
        #expect(child.traceparent == Array("00-\(Self.trace)-0000000000000abc-01".utf8))
        #expect(child.traceState == Array("a=1".utf8))
        #expect(context.child(parentID: 0).traceparent == Array("00-\(Self.trace)-0000000000000001-01".utf8))
        #expect(context.child(parentID: .max).traceparent == Array("00-\(Self.trace)-ffffffffffffffff-01".utf8))
    }

    static let states: [(String, Bool)] = [
        ("a=b", true), ("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7", true), ("1tenant@sys=x", true), ("a=b , c=d", true),
        ("a=b,,c=d", true), ("a=b c", true), ("a_-*/9=!~", true), (String(repeating: "k", count: 256) + "=v", true),
        ((1...32).map { "k\($0)=v" }.joined(separator: ","), true),
        ("", false), (",", false), ("a", false), ("=b", false), ("a=", false), ("A=b", false), ("9=b", false),
        ("a=b=c", false), ("a=b,a=c", false), ("a@b@c=d", false), ("a@9=d", false), ("@b=d", false),
        ("a=\u{e9}", false), ("a=b\n", false), (String(repeating: "k", count: 257) + "=v", false),
        ("a=" + String(repeating: "v", count: 257), false), ((1...33).map { "k\($0)=v" }.joined(separator: ","), false),
        ((1...30).map { "k\($0)=" + String(repeating: "v", count: 200) }.joined(separator: ","), false),
    ]
    @Test(arguments: states)
    func `A valid trace state is passed on`(state: (text: String, isValid: Bool)) throws {
        let bytes = Array(state.text.utf8)
        let context = try #require(
            TraceContext(traceparent: Array("00-\(Self.trace)-\(Self.parent)-01".utf8), tracestate: bytes))
        #expect(context.traceState == (state.isValid ? bytes : nil))
    }
}
