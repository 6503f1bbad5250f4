import Basics
import Testing

struct HTTPDateTests {
    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Sat, 21 Nov 2026 00:00:00 GMT", 1_795_219_200),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
            ("Sun, 32 Nov 1994 08:49:37 GMT", nil), ("Wed, 31 Feb 2024 00:00:00 GMT", nil),
            ("Sun, 06 Nov 1994 24:49:37 GMT", nil), ("6 Nov 1994", nil), ("", nil),
        ] as [(String, Int64?)])
    func `Date is read or refused`(text: String, seconds: Int64?) {
        #expect(HTTPDate.seconds(of: text) == seconds)
    }

    @Test(arguments: [0, 1, 784_111_777, 951_782_400, 1_795_219_200, 253_402_300_799] as [Int64])
    func `Date that is written is read again`(seconds: Int64) {
        #expect(HTTPDate.seconds(of: HTTPDate.text(seconds)) == seconds)
    }

    @Test func `Date is written as the standard shows it`() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
    }
}
