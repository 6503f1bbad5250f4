internal import Basics
import EventLoop
import HTTPTransport
import LocationSearch
import PlaceProviders
import ProviderCalls
import Resilience

/// Checks whether the providers accept the keys, with the cheapest call of each. It asks the user first.
struct KeysCheck: DoctorCheck {
    static let name = "keys"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        guard let isAllowed = examination.asks else {
            throw SkippedCheck("no key was tested", cure: "run without --offline")
        }
        guard !examination.reading.concerns(["googlePlaces.", "googlePlacesLegacy.", "hotpepper.", "http."]),
            let keys = try? ProviderKeys(examination.settings), let loop = try? EventLoop()
        else { throw SkippedCheck("the settings of keys are invalid") }
        defer { loop.stop() }

        let http = HTTPTransport(loop: loop, configuration: examination.settings.http)
        let all = keys.services(examination.settings, http: http).compactMap { $0 as? any KeyTrial }
        let trials = all.filter { !examination.unreachable.contains($0.id.rawValue) }
        if trials.isEmpty, !all.isEmpty {
            await http.shutdown()
            throw SkippedCheck("no provider with a key is reachable")
        }
        guard !trials.isEmpty else { throw SkippedCheck("no provider has a key", cure: "set one: docs/settings.md") }

        let calls = trials.map { "\($0.id.rawValue): \($0.trialCall)" }.joined(separator: "\n  ")
        guard isAllowed("One call tests each key, and does not count against a daily budget:\n  \(calls)\nMake them?")
        else {
            await http.shutdown()
            throw SkippedCheck("no key was tested", cure: "confirm at a terminal, or give --yes")
        }

        var findings: [Finding] = []
        for trial in trials { findings.append(await finding(of: trial, within: examination.timeout)) }
        await http.shutdown()
        return findings
    }

    private func finding(of trial: any KeyTrial, within timeout: Duration) async -> Finding {
        let name = trial.id.rawValue
        do throws(SearchError) {
            try await trial.tryKey(before: Deadline(.now + timeout))
            return ok("\(name) accepts the key")
        } catch {
            switch error.code {
            case .unauthorized:
                return failed(
                    "\(name) rejects the key: \(error.message)",
                    cure: "check the key, its restrictions (addresses, APIs) and billing")
            case .rateLimited:
                return warning(
                    "\(name) accepts the key, but its quota is used up: \(error.message)",
                    cure: "wait for the next day, or raise the quota at the provider")
            case .unreachable, .timeout:
                return failed(
                    "\(name) is unreachable: \(error.message)", cure: "fix that first",
                    code: Failure.unreachable)
            default:
                return failed(
                    "\(name) returned an unexpected response: \(error.message)",
                    cure: "check its base URL, then the provider's status page")
            }
        }
    }
}
