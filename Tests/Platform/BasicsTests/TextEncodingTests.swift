import Basics
import Testing

/// Base64, and percent-encoding.
struct TextEncodingTests {
    @Test(arguments: [Base64.Alphabet.standard, .url])
    func `Encoded bytes are decoded again`(alphabet: Base64.Alphabet) {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
            #expect(Base64.decode(Base64.encode(bytes, as: alphabet), as: alphabet) == bytes)
        }
    }

    @Test func `The alphabets differ in two characters and in padding`() {
        #expect(Base64.encode(Array("foobar".utf8)) == "Zm9vYmFy" && Base64.encode(Array("fooba".utf8)) == "Zm9vYmE=")
        #expect(Base64.encode([0xFB, 0xFF], as: .standard) == "+/8=")
        #expect(Base64.encode([0xFB, 0xFF], as: .url) == "-_8")
    }

    @Test func `The bits of a number are written as its bytes are`() {
        for seed in 0..<200 as Range<UInt64> {
            let bits = (seed &* 0x9E37_79B9_7F4A_7C15) >> 16
            var text: [UInt8] = []
            Base64.appendURLCharacters(of: bits, count: 8, to: &text)
            let bytes = [40, 32, 24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
            #expect(text == Array(Base64.encode(bytes, as: .url).utf8))
        }
    }

    @Test(arguments: ["Zg", "Zg=", "Zh==", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm9-", "あ"])
    func `Text that is no Base64 is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Zg==", "Zh", "Z", "Zm9vY", "+/8", "Zm9v\n", "あ"])
    func `Text that is no Base64 for URLs is refused`(text: String) {
        #expect(Base64.decode(text, as: .url) == nil)
    }

    @Test(arguments: [
        ("", ""), ("AZaz09-._~", "AZaz09-._~"), (" &=+/?#%", "%20%26%3D%2B%2F%3F%23%25"), ("é語", "%C3%A9%E8%AA%9E"),
        ("\u{0}\u{7F}", "%00%7F"),
    ])
    func `Only unreserved characters are not encoded`(text: String, encoded: String) {
        #expect(PercentEncoding.encoded(text) == encoded)
    }
}
