import Console
import Foundation

/// The members of a worker's `/status` that identify the worker and show whether it works.
struct WorkerSummary: Decodable, Sendable {
    private struct Partition: Decodable {
        let topic: String?
        let partition: Int32
    }

    /// Its name, or that of its machine or pod; `nil` if the status contains neither.
    let name: String?
    let version: String?
    let isReady: Bool
    /// Why it takes no requests.
    let notReady: String?
    /// Why a worker that takes requests can call no provider.
    let answersWithErrors: String?
    let inFlight: Int
    let partitions: [String: Set<Int32>]
    var partitionCount: Int { partitions.values.reduce(0) { $0 + $1.count } }
    let outcomes: RecentEnds
    let providers: [PipelineReport.Provider]

    private enum Key: String, CodingKey {
        case name, host, version, ready, notReady, answersWithErrors, inFlight, assignment, lastOutcomes, providers
    }

    init(from decoder: any Decoder) throws {
        let status = try decoder.container(keyedBy: Key.self)
        name =
            try status.decodeIfPresent(String.self, forKey: .name)
            ?? status.decodeIfPresent(String.self, forKey: .host)
        version = try status.decodeIfPresent(String.self, forKey: .version)
        isReady = try status.decode(Bool.self, forKey: .ready)
        notReady = try status.decodeIfPresent(String.self, forKey: .notReady)
        inFlight = try status.decodeIfPresent(Int.self, forKey: .inFlight) ?? 0
        answersWithErrors = try status.decodeIfPresent(String.self, forKey: .answersWithErrors)
        let assigned = try status.decodeIfPresent([Partition].self, forKey: .assignment) ?? []
        partitions = Dictionary(grouping: assigned) { $0.topic ?? "" }.mapValues { Set($0.map(\.partition)) }
        outcomes = try status.decodeIfPresent(RecentEnds.self, forKey: .lastOutcomes) ?? RecentEnds()
        providers = try status.decodeIfPresent([PipelineReport.Provider].self, forKey: .providers) ?? []
    }

    /// - Returns: `nil` if there was no answer, or it is not the status of a worker.
    init?(_ report: WorkerReport) {
        guard let status = report.status,
            let summary = try? JSONDecoder().decode(WorkerSummary.self, from: Data(status))
        else { return nil }
        self = summary
    }
}
