internal import EventContract
internal import HTTPServing
internal import Hummingbird
internal import JSON

/// Shows the orders in force, and pauses and resumes providers and the intake.
struct ControlRoutes {
    let backend: any ConsoleBackend
    let kafka: KafkaGate

    private static let mostBytes = 4096

    func add(to router: Router<ClientContext>) {
        let (backend, kafka) = (backend, kafka)
        router.get("/api/controls") { request, _ in
            try await kafka.answer(to: request) { Self.json(try await backend.controls()) }
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

    private static func json(_ list: ControlList) -> [UInt8] {
        JSONWriter.object(capacity: 1024) { json in
            json.objects("orders", of: list.orders) { order, json in
                json.member("control", order.control)
                json.member("provider", order.provider)
                json.member("value", order.value)
                json.member("worker", order.worker)
                json.member("by", order.by)
                json.member("at", order.at.description)
                json.member("until", order.until?.description)
            }
            json.member("providers", list.providers)
        }
    }
}
