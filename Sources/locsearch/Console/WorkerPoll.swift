import Console
import HTTPTransport

/// Asks workers for their `/status`, for as long as somebody looks.
struct WorkerPoll: Sendable {
    private static let interval = Duration.seconds(2)
    private static let timeout = Duration.milliseconds(1500)

    let workers: [String]
    private let addresses = HostAddresses()
    /// What the workers' admin endpoints want to be shown; `nil`: nothing.
    let token: String?
    let http: HTTPTransport
    let traffic: Traffic

    init(workers: [String], token: String?, http: HTTPTransport, traffic: Traffic) {
        self.workers = workers
        self.token = token
        self.http = http
        self.traffic = traffic
    }

    /// Asks until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            if traffic.isWatched { traffic.update(await reports()) }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// A name may stand for several workers, as a service's does in compose or a headless one's in Kubernetes.
    private func reports() async -> [WorkerReport] {
        let workers = await addresses.all(of: workers)
        return await withTaskGroup(of: (Int, WorkerReport).self) { group in
            for (index, url) in workers.enumerated() { group.addTask { (index, await report(of: url)) } }

            var reports = [WorkerReport?](repeating: nil, count: workers.count)
            for await (index, report) in group { reports[index] = report }
            return reports.compactMap { $0 }
        }
    }

    private func report(of url: String) async -> WorkerReport {
        let headers = token.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
        do throws(HTTPError) {
            let answer = try await http.send(
                HTTPRequest(url: url + "/status", headers: headers), before: .now + Self.timeout)
            guard answer.status == 200 else {
                let cure = answer.status == 401 ? ": set admin.token here as there" : ""
                return WorkerReport(url: url, problem: "it answers \(answer.status)\(cure)")
            }
            return WorkerReport(url: url, status: answer.body)
        } catch {
            return WorkerReport(url: url, problem: "\(error)")
        }
    }
}
