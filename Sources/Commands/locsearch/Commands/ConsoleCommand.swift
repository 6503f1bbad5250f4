import ArgumentParser

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Serves a page in the browser: search on a map, and look at what goes by.",
        discussion: """
            With `locsearch demo` running, its broker is used when none is set, and its worker is shown:

              locsearch console
              locsearch console --kafka-bootstrap-servers broker:9092 --console-workers http://worker-1:8080

            The page is for this machine only, unless console.host and console.token say otherwise: see docs/console.md.
            """)

    @OptionGroup(title: "Settings") var options: SettingsOptions

    func run() async throws {
        ignoreBrokenPipes()
        let (settings, log) = try await ToolSettings.load(options)
        FileDescriptors.raiseLimit(log: log)
        let console = try await ConsoleService(settings, log: log)

        Terminal.line("console \(console.url)")
        await ProcessSetup.onFirstTermination()
        await console.stop()
    }
}
