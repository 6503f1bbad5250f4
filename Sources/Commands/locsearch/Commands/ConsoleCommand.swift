import ArgumentParser

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Serves a page for the browser: searches on a map, and live requests and outcomes.",
        discussion: """
            While `locsearch demo` runs and no broker is set, the console uses its broker and shows its worker:

              locsearch console
              locsearch console --kafka-bootstrap-servers broker:9092 --console-workers http://worker-1:8080

            Only this machine can reach the page, unless console.host and console.token are set: see docs/console.md.
            """)

    @OptionGroup(title: "Settings") var options: SettingsOptions

    func run() async throws {
        ignoreBrokenPipes()
        let (settings, log) = try await ToolSettings.load(options)
        FileDescriptors.raiseLimit(log: log)
        let console = try await ConsoleService(settings, log: log)

        // A caller may send SIGTERM as soon as it reads this line.
        let termination = await ProcessSetup.trapTermination()
        Terminal.line("console \(console.url)")
        await termination()
        await console.stop()
    }
}
