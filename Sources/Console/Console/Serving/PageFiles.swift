internal import CPage

/// The files of the page, which are part of the program. `CPage` has an entry for each file in the folder `Page`.
package enum PageFiles {
    static let all: [String: [UInt8]] = {
        var all: [String: [UInt8]] = [:]
        for number in 0... {
            let file = unsafe locsearch_page_file(number)
            guard let name = unsafe file.name else { break }
            // The pointers are those of constants, and `size` counts the bytes of this one.
            unsafe all[String(cString: name)] = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
        }
        return all
    }()

    /// Returns the content of a file; `nil` if there is none with that name.
    package static func content(of name: String) -> [UInt8]? { all[name] }
}
