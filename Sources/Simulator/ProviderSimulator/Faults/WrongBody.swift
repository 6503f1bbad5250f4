internal import NIOCore

extension Fault {
    /// A body that is wrong for status 200. The raw value is its name; `FaultTable` describes each.
    enum WrongBody: String, Sendable {
        case html, empty, garbage, xml, cut, deep, shape, none
    }
}

extension Fault.WrongBody {
    /// Returns the answer with this body instead of the correct one.
    func reply(to request: IncomingRequest, with resources: LoopResources) -> Reply {
        switch self {
        case .html: Reply.page(200, title: "Maintenance")
        case .empty: Reply(Reply.json, body: ByteBuffer())
        case .garbage: Reply(Reply.json, body: Self.garbage(from: &resources.numbers))
        case .xml: Reply(Reply.xml, body: "<?xml version=\"1.0\"?>\n<results><shop/></results>\n")
        case .cut: Self.cut(Answers.reply(to: request, with: resources))
        case .deep: Reply(Reply.json, body: Self.deep())
        case .shape: Reply(Reply.json, body: "[1,{\"results\":7,\"places\":\"none\",\"status\":[]}]")
        case .none: Answers.nothing(to: request)
        }
    }

    private static func garbage(from numbers: inout HashStream) -> ByteBuffer {
        // The first byte cannot begin a character. A random byte would be `<` once in 256 times, and some clients would
        // treat the body as a maintenance page.
        var bytes: [UInt8] = [0x80]
        for _ in 1..<4096 { bytes.append(UInt8(truncatingIfNeeded: numbers.next())) }
        return ByteBuffer(bytes: bytes)
    }

    private static func cut(_ reply: Reply) -> Reply {
        var reply = reply
        let half = reply.body.getSlice(at: reply.body.readerIndex, length: reply.body.readableBytes / 2)
        reply.body = half ?? ByteBuffer()
        return reply
    }

    private static func deep() -> ByteBuffer {
        var body = ByteBuffer(string: "{\"results\":")
        body.writeRepeatingByte(UInt8(ascii: "["), count: 100_000)
        body.writeRepeatingByte(UInt8(ascii: "]"), count: 100_000)
        body.writeStaticString("}")
        return body
    }
}
