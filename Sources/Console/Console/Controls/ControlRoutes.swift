internal import HTTPServing
internal import HummingbirdCore
internal import JSON

/// Shows the orders in force, and pauses and resumes providers and the intake.
struct ControlRoutes {
    let backend: any ConsoleBackend
    let kafka: KafkaGate

    private static let mostBytes = 4096

    func add(to router: Router) {
        router.get("/api/controls") { request, _ in
            try await kafka.answer(to: request) { try await backend.controls() }
        }

        router.post("/api/controls/pause") { request, _ in
            let choice = try PauseChoice(json: try await request.bytes(upTo: Self.mostBytes))
            let result = try await kafka.run { try await backend.control(choice) }

            let json = JSONWriter.object(capacity: 64) { json in
                json.member("taken", result.taken)
                json.member("workers", result.workers)
            }
            return JSONAnswer.response(json)
        }
    }
}
