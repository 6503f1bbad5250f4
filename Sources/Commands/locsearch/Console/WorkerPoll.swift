internal import Basics
import Console
import Foundation
import HTTPTransport
import LibC
import Synchronization

struct WorkerPoll: Sendable {
    private static let timeout = Duration.milliseconds(1500)

    private let workers: [String]
    private let areNamed: Bool
    private let token: WorkerToken
    private let http: HTTPTransport

    /// - Parameter token: the token that the workers' admin endpoints require.
    init(_ settings: Settings, token: WorkerToken, http: HTTPTransport) {
        workers = settings.consoleWorkers
        areNamed = settings["console.workers"] != nil
        self.token = token
        self.http = http
    }

    /// Counts the workers that answer, and those that take requests.
    func count(_ reports: [WorkerReport]) -> PipelineReport.Workers {
        let summaries = reports.compactMap { WorkerSummary($0) }
        let ready = summaries.filter(\.isReady)
        var workers = PipelineReport.Workers(
            areNamed: areNamed, asked: reports.count, answering: summaries.count, ready: ready.count,
            problem: summaries.first { !$0.isReady }?.notReady)
        if ready.allSatisfy({ $0.answersWithErrors != nil }) { workers.errors = ready.first?.answersWithErrors }
        workers.outcomes = .sum(of: summaries.map(\.outcomes))
        workers.providers = PipelineReport.Provider.combine(summaries.flatMap(\.providers))
        if areNamed, summaries.count == reports.count { workers.partitions = Self.union(summaries.map(\.partitions)) }
        return workers
    }

    static func union(_ all: [[String: Set<Int32>]]) -> [String: Set<Int32>] {
        all.reduce(into: [:]) { $0.merge($1) { $0.union($1) } }
    }

    /// Polls all workers. A name may stand for several workers, such as a service in Compose or a headless service in
    /// Kubernetes.
    func reports() async -> [WorkerReport] {
        let workers = await HostAddresses.all(of: workers)
        return await withTaskGroup(of: (Int, WorkerReport).self) { group in
            for (index, url) in workers.enumerated() { group.addTask { (index, await report(of: url)) } }

            var reports = [WorkerReport?](repeating: nil, count: workers.count)
            for await (index, report) in group { reports[index] = report }
            return reports.compactMap { $0 }
        }
    }

    private func report(of url: String) async -> WorkerReport {
        let headers = token.text.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
        do throws(HTTPError) {
            let answer = try await http.send(
                HTTPRequest(url: url + "/status", headers: headers), before: .now + Self.timeout)
            guard answer.status == 200 else {
                let cure = answer.status == 401 ? ": set the worker's admin.token or admin.tokenFile here too" : ""
                return WorkerReport(url: url, problem: "it returns HTTP \(answer.status)\(cure)")
            }
            return WorkerReport(url: url, status: answer.body)
        } catch {
            return WorkerReport(url: url, problem: "\(error)")
        }
    }
}

/// The token that the console sends to the workers' admin endpoints. It may be replaced while the console runs. Safe to
/// use from any thread.
final class WorkerToken: Sendable {
    private let current: Mutex<String?>

    /// - Parameter text: the token; `nil` if the workers require none.
    init(_ text: String?) { current = Mutex(text) }

    var text: String? { current.withLock { $0 } }

    /// Sends `text` with every later request.
    func replace(with text: String) { current.withLock { $0 = text } }
}

enum HostAddresses {
    /// Returns one URL for each address of each URL's host, without duplicates and in order. A URL is returned
    /// unchanged if its host is an address or is not found. An https URL is also returned unchanged, because its
    /// certificate contains the name.
    static func all(of urls: [String]) async -> [String] {
        await onOwnThread {
            urls.flatMap(expanded).reduce(into: []) { found, url in
                if !found.contains(url) { found.append(url) }
            }
        }
    }

    private static func expanded(_ url: String) -> [String] {
        guard url.hasPrefix("http://"), let parts = URLComponents(string: url), let host = parts.host else {
            return [url]
        }

        let urls = addresses(of: host).compactMap { address in
            var parts = parts
            parts.host = address.contains(":") ? "[\(address)]" : address
            return parts.string
        }
        return urls.isEmpty ? [url] : urls.sorted()
    }

    /// IPv6 only without IPv4: a host with both kinds of addresses would be counted twice.
    private static func addresses(of host: String) -> [String] {
        func find(_ family: Int32) -> [NetworkAddress]? { try? NetworkAddress.resolve(host, port: 80, family: family) }
        return (find(AF_INET) ?? find(AF_INET6) ?? []).map(\.host)
    }
}
