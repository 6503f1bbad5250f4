import Kafka
import TestSupport
import Testing

@testable import locsearch

struct BrokerControlTests {
    @Test(arguments: [
        #"{"topic":{"name":"t","partitions":3}}"#,
        #"{"fail":{"api":"Produce","errors":["REQUEST_TIMED_OUT","_TRANSPORT"]}}"#,
        #"{"fail":{"api":0,"errors":[7]}}"#, #"{"fail":{"api":"Fetch","errors":["NO_ERROR"],"broker":1,"delayMs":5}}"#,
        #"{"clear":{"api":"Produce"}}"#, #"{"down":1}"#, #"{"up":1}"#, #"{"rtt":{"broker":1,"ms":0}}"#,
        #"{"topicError":{"topic":"known","error":"TOPIC_AUTHORIZATION_FAILED"}}"#,
        #"{"leader":{"topic":"known","partition":0,"broker":1}}"#,
    ])
    func `The broker executes each control command`(line: String) throws {
        let broker = try EmbeddedBroker(topics: ["known": 1])
        #expect(BrokerControl.answer(line, by: broker) == #"{"ok":true}"#)
        // An existing topic stays.
        #expect(BrokerControl.answer(#"{"topic":{"name":"known","partitions":1}}"#, by: broker) == #"{"ok":true}"#)
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"fail":{"api":"Nothing","errors":[]}}"#,
        #"{"fail":{"api":"Produce","errors":["NOTHING"]}}"#,
        #"{"topic":{"name":"t","partitions":0}}"#, #"{"rtt":{"broker":1,"ms":-1}}"#, #"{"down":"one"}"#,
        #"{"unknown":1}"#,
    ])
    func `A wrong control command is answered with an error`(line: String) throws {
        let answer = BrokerControl.answer(line, by: try EmbeddedBroker())
        #expect(answer.hasPrefix(#"{"error":""#) && !answer.contains("\n"))
    }

    @Test func `A fixed port leads to all brokers, and only one broker has it`() async throws {
        let port = try RawServer.unusedPort()
        let broker = try RunningProgram(["broker", "--brokers", "2", "--port", "\(port)"])
        defer { broker.end() }
        #expect(try await broker.address() == "127.0.0.1:\(port)")

        let kafka = ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(port)"]
        let topics = try await RunningProgram.run(["topics", "create", "--partitions", "12"], environment: kafka)
        #expect(topics.code == 0, "\(topics.error)")
        let second = try await RunningProgram.run(["broker", "--port", "\(port)"])
        #expect(second.code == 64 && second.error.contains("--port \(port): "), "\(second.error)")
    }
}
