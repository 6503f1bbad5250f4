import Basics
import Testing

struct PercentEncodingTests {
    @Test(arguments: [
        ("", ""), ("AZaz09-._~", "AZaz09-._~"), (" &=+/?#%", "%20%26%3D%2B%2F%3F%23%25"), ("é語", "%C3%A9%E8%AA%9E"),
        ("\u{0}\u{7F}", "%00%7F"),
    ])
    func `Only unreserved characters stay as they are`(text: String, encoded: String) {
        #expect(PercentEncoding.encoded(text) == encoded)
    }
}
