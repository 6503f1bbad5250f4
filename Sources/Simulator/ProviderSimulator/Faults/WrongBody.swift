internal import NIOCore

extension Fault {
    /// A body that is wrong for status 200. The raw value is its name; `FaultTable` describes each.
    enum WrongBody: String, CaseIterable, Sendable {
        case html, empty, garbage, xml, cut, deep, shape, utf8, none
    }
}

extension Fault.WrongBody {
    /// Returns the answer with this body instead of the correct one.
    func reply(to request: IncomingRequest, with resources: LoopResources) -> Reply {
        switch self {
        case .html: Reply(Reply.html, body: Reply.page(200, title: "Maintenance").body)
        case .empty: Reply(Reply.json, body: ByteBuffer())
        case .garbage: Reply(Reply.json, body: Self.garbage(from: &resources.numbers))
        case .xml: Reply(Reply.xml, body: "<?xml version=\"1.0\"?>\n<results><shop/></results>\n")
        case .cut: Self.cut(Answers.reply(to: request, with: resources))
        case .deep: Reply(Reply.json, body: Self.deep())
        case .shape: Reply(Reply.json, body: "[1,{\"results\":7,\"places\":\"none\",\"status\":[]}]")
        case .utf8: Self.withInvalidName(Answers.reply(to: request, with: resources))
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

    /// Inserts a lone continuation byte into the first name. Google Places (New) calls this member `text`.
    private static func withInvalidName(_ reply: Reply) -> Reply {
        var bytes = Array(reply.body.readableBytesView)
        let marks = ["\"name\"", "\"text\""].map { Array($0.utf8) }
        let found = marks.lazy.compactMap { mark in
            bytes.indices.first { bytes[$0...].starts(with: mark) }.map { ($0, mark) }
        }.first

        if let (start, mark) = found,
            let quote = bytes[(start + mark.count)...].firstIndex(of: UInt8(ascii: "\""))
        {
            bytes.insert(0xBF, at: quote + 1)
        }

        var reply = reply
        reply.body = ByteBuffer(bytes: bytes)
        return reply
    }
}
