import Foundation

/// The web browser on this machine.
enum Browser {
    /// Opens a page if the system has a way to do so. Otherwise it does nothing; the address is also in the output.
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
