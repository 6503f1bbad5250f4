import Console
import Foundation

/// The members of a worker's `/status` that identify the worker and show whether it works.
struct WorkerSummary: Decodable, Sendable {
    private struct Partition: Decodable {
        let partition: Int32
    }

    /// The name of its machine or pod; `nil` if the status does not contain it.
    let host: String?
    let version: String?
    let isReady: Bool
    /// Why it takes no requests.
    let notReady: String?
    let inFlight: Int
    let partitionCount: Int

    private enum Key: String, CodingKey { case host, version, ready, notReady, inFlight, assignment }

    init(from decoder: any Decoder) throws {
        let status = try decoder.container(keyedBy: Key.self)
        host = try status.decodeIfPresent(String.self, forKey: .host)
        version = try status.decodeIfPresent(String.self, forKey: .version)
        isReady = try status.decode(Bool.self, forKey: .ready)
        notReady = try status.decodeIfPresent(String.self, forKey: .notReady)
        inFlight = try status.decodeIfPresent(Int.self, forKey: .inFlight) ?? 0
        partitionCount = try status.decodeIfPresent([Partition].self, forKey: .assignment)?.count ?? 0
    }

    /// - Returns: `nil` if there was no answer, or it is not the status of a worker.
    init?(_ report: WorkerReport) {
        guard let status = report.status,
            let summary = try? JSONDecoder().decode(WorkerSummary.self, from: Data(status))
        else { return nil }
        self = summary
    }
}
