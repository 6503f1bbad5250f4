internal import Basics
import EventLoop
import HTTPTransport
import LocationSearch

/// Checks whether the providers with a key can be reached, using the proxy and the certificate authorities of provider
/// calls. No key is sent.
struct ProvidersCheck: DoctorCheck {
    static let name = "providers"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        guard examination.asks != nil else {
            throw SkippedCheck("providers were not contacted", cure: "run without --offline")
        }
        guard !examination.reading.concerns(["googlePlaces.", "googlePlacesLegacy.", "hotpepper.", "http."]),
            let configured = try? examination.settings.configuredProviders(), !configured.isEmpty
        else { throw SkippedCheck("no provider has a readable key") }
        guard let loop = try? EventLoop() else {
            return [failed("an event loop cannot be created", cure: "raise the limits on threads and open files")]
        }

        var configuration = examination.settings.http
        configuration.keepsDate = true
        configuration.connectTimeout = examination.timeout
        let http = HTTPTransport(loop: loop, configuration: configuration)
        var findings: [Finding] = []
        for provider in configured {
            let name = provider.rawValue
            let (finding, clock) = await look(
                at: name, examination.settings.baseURL(of: provider), by: http, within: examination.timeout)
            findings.append(finding)
            if finding.state == .failed { examination.unreachable.insert(name) }
            if let clock { examination.providerClocks.append((name, clock)) }
        }
        await http.shutdown()
        loop.stop()
        return findings
    }

    private func look(
        at name: String, _ url: String, by http: HTTPTransport, within timeout: Duration
    ) async -> (Finding, ahead: Duration?) {
        do throws(HTTPError) {
            let begin = WallTime.now()
            let response = try await http.send(HTTPRequest(url: url + "/"), before: .now + timeout)
            // The provider wrote its answer between the two readings of the clock.
            let middle = (begin.milliseconds + WallTime.now().milliseconds) / 2  // bounded: the system's clock
            let date = response.date.flatMap(HTTPDate.seconds)
            let ahead = date.map {
                Duration.milliseconds($0.saturatingMultiplied(by: 1000).saturatingSubtracting(middle))
            }
            return (ok("\(name) answers"), ahead)
        } catch {
            return (failed("\(name) is unreachable (\(error))", cure: Self.cure(error), code: Failure.unreachable), nil)
        }
    }

    private static func cure(_ error: HTTPError) -> String {
        switch error.kind {
        case .dns: "correct the base URL or http.proxy, or add the name to DNS"
        case .tls where error.description.contains("handshake"):
            "write http:// in the base URL if the server has no TLS; otherwise check its TLS versions and http.proxy"
        case .tls: "http.caFile must contain the authority that signed the server's certificate, which may be a proxy's"
        case .connect: "allow this machine to connect there, or set http.proxy"
        case .timeout: "check the network, or set http.proxy"
        default: "correct the base URL; the server is not a web server"
        }
    }
}

extension Settings {
    /// The base URL of a provider's API.
    func baseURL(of provider: ProviderID) -> String {
        let name = Self.providerNames.first { $0.id == provider }?.name ?? provider.rawValue
        return text("\(name).baseURL")
    }
}
