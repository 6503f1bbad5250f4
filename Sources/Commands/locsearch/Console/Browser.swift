import Foundation

/// The browser of the person in front of this machine.
enum Browser {
    /// Opens a page, where the system has a way to do so; elsewhere nothing happens, and the address stands in the output.
    static func open(_ url: String) {
        #if os(macOS)
            let command = "/usr/bin/open"
        #else
            let environment = ProcessInfo.processInfo.environment
            guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return }
            let command = "/usr/bin/xdg-open"
        #endif

        let opener = Process()
        opener.executableURL = URL(fileURLWithPath: command)
        opener.arguments = [url]
        opener.standardOutput = FileHandle.nullDevice
        opener.standardError = FileHandle.nullDevice
        try? opener.run()
    }
}
