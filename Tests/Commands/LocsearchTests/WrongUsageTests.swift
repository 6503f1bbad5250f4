import TestSupport
import Testing

/// Typical typing mistakes of new users, with the program as a process.
struct WrongUsageTests {
    @Test(arguments: [
        (["watch", "--nonsense"], "watch", "--nonsense"), (["watch", "--count", "0"], "watch", "--count"),
        (["search", "--lat", "1"], "search", "--lat and --lng"), (["search", "--nonsense"], "search", "--nonsense"),
        (["search", "--lat", "1", "--lng", "1", "--provider", "x"], "search", "--provider"),
        (["search", "--lat", "1", "--lng", "1", "--priority", "x"], "search", "--priority takes interactive or batch"),
        (["worker", "nonsense"], "worker", "unknown argument: "), (["demo", "nonsense"], "demo", "unknown argument: "),
        (["config", "nonsense"], "config", "unknown argument: "), (["broker", "--topic", "t"], "broker", "--topic t"),
        (["dead-letters", "list", "nonsense"], "dead-letters list", "unknown argument: "),
        (["dead-letters", "redrive", "--nonsense"], "dead-letters redrive", "--nonsense"),
        (["dead-letters", "redrive", "--rate", "0"], "dead-letters redrive", "--rate"),
        (["dead-letters", "redrive", "--reason", "nonsense"], "dead-letters redrive", "invalid-request, unauthorized"),
        (["dead-letters", "list", "--limit", "0"], "dead-letters list", "--limit"),
        (["dead-letters", "list", "--since", "yesterday"], "dead-letters list", "--since"),
        (["dead-letters", "list", "--partition=-1"], "dead-letters list", "--partition"),
        (["dead-letters", "list", "--from-offset", "9", "--to-offset", "9"], "dead-letters list", "--to-offset"),
        (
            ["dead-letters", "list", "--since", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z"],
            "dead-letters list", "--until"
        ),
        (["simulate", "--capacity", "0"], "simulate", "--capacity takes"),
    ])
    func `A command shows its own usage`(arguments: [String], command: String, text: String) async throws {
        let program = try await RunningProgram.run(arguments)

        #expect(program.code == 64, "\(program.error)")
        #expect(program.error.contains(text), "\(program.error)")
        #expect(program.error.contains("Usage: locsearch \(command) "), "\(program.error)")
        #expect(program.error.contains("See 'locsearch \(command) --help'"), "\(program.error)")
    }

    @Test(arguments: [
        (["wokrer"], "worker"), (["serch", "--lat", "1"], "search"), (["dead-letters", "lst"], "list"),
        (["budget", "rest", "hotpepper"], "reset"), (["tpoics", "create"], "topics"),
    ])
    func `A misspelt command is answered with the nearest command`(arguments: [String], meant: String) async throws {
        let program = try await RunningProgram.run(arguments)

        #expect(program.code == 64, "\(program.output)")
        #expect(program.error.contains(": did you mean \(meant)?"), "\(program.error)")
    }

    @Test func `A budget in calls takes no amount of money`() async throws {
        let program = try await RunningProgram.run(["budget", "set", "hotpepper", "300 USD", "--yes"])

        #expect(program.code == 64, "\(program.output)")
        #expect(program.error.contains("the budget hotpepper takes 0 to 1000000000 calls"), "\(program.error)")
    }

    @Test func `An unknown command is answered with the list of commands`() async throws {
        let program = try await RunningProgram.run(["nonsense"])

        #expect(program.code == 64, "\(program.output)")
        #expect(program.error.contains("no command nonsense; there are worker, demo, search"), "\(program.error)")
    }

    @Test(arguments: [
        (["watch", "--timeout", "3"], "the unit is missing: write 3s for seconds, or 3ms, 3m, 3h"),
        (["search", "--lat", "1", "--lng", "1", "--timeout", "soon"], "expected a time such as 250ms, 5s or 2m"),
    ])
    func `An option that is no duration is answered with the format`(arguments: [String], text: String) async throws {
        let program = try await RunningProgram.run(arguments)

        #expect(program.code == 64, "\(program.output)")
        #expect(program.error.contains(text), "\(program.error)")
    }

    @Test(arguments: [["help"], ["help", "worker"], ["help", "dead-letters", "list"]])
    func `Help is available for each command`(arguments: [String]) async throws {
        let program = try await RunningProgram.run(arguments)
        #expect(program.code == 0, "\(program.error)")
    }

    @Test func `The simulate command reports a taken port in one line`() async throws {
        let first = try RunningProgram(["simulate"])
        defer { first.end() }
        let address = try await first.address().dropFirst("http://".count)

        let second = try await RunningProgram.run([
            "simulate", "--port", String(address.drop { $0 != ":" }.dropFirst()),
        ])
        #expect(second.code == 78, "\(second.error)")
        #expect(
            second.error == "locsearch: cannot listen on \(address): another program already listens there; "
                + "use --port 0 for any free port, or --host for another address\n")
    }

    @Test(arguments: [("nowhere.invalid", "the host has no address"), ("192.0.2.1", "the host is not an address")])
    func `The simulate command reports a wrong host in one line`(host: String, reason: String) async throws {
        let program = try await RunningProgram.run(["simulate", "--host", host])

        #expect(program.code == 78, "\(program.error)")
        #expect(program.error.hasPrefix("locsearch: cannot listen on \(host):0: \(reason)"), "\(program.error)")
        #expect(program.error.split(separator: "\n").count == 1)
    }
}
