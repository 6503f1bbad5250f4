internal import CPage

/// The files of the page, which are part of the program. `CPage` contains each file in the folder `Page`.
package enum PageFiles {
    static let all: [String: [UInt8]] = {
        let names = unsafe split(locsearch_page_names()).map { String(decoding: $0, as: UTF8.self) }
        return Dictionary(zip(names, unsafe split(locsearch_page_files()))) { first, _ in first }
    }()

    private static func split(_ texts: locsearch_page_texts) -> [[UInt8]] {
        // A constant of the program, of that size.
        let bytes = unsafe UnsafeBufferPointer(start: texts.bytes, count: texts.size)
        return unsafe bytes.split(separator: 0).map { unsafe Array($0) }
    }

    /// Returns the content of a file; `nil` if there is none with that name.
    package static func content(of name: String) -> [UInt8]? { all[name] }
}
