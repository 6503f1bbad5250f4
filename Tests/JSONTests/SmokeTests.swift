import Testing

@testable import JSON

struct SmokeTests {
    @Test func reads() throws {
        let input = Array(#" {"a":1,"b":[true,null,{"c":"x\u00e9\ud83d\ude00"}],"lat":"35.5","n":-12.5e1} "#.utf8)
        var reader = JSONReader(input.span)
        #expect(try reader.enterObject())
        var seen: [String] = []
        while let key = try reader.nextKey() {
            switch key {
            case "a": seen.append("a\(try reader.int() ?? 0)")
            case "lat": seen.append("lat\(try reader.lenientDouble() ?? 0)")
            case "n": seen.append("n\(try reader.double() ?? 0)")
            case "b":
                #expect(try reader.enterArray())
                #expect(try reader.nextElement())
                #expect(try reader.bool() == true)
                #expect(try reader.nextElement())
                #expect(try reader.skipNull())
                #expect(try reader.nextElement())
                #expect(try reader.enterObject())
                while let key = try reader.nextKey() {
                    if "c" ~= key { seen.append(try reader.string() ?? "-") } else { try reader.skip() }
                }
                #expect(try !reader.nextElement())
            default: try reader.skip()
            }
        }
        try reader.finish()
        #expect(seen == ["a1", "xé😀", "lat35.5", "n-125.0"])
    }
}
