/// The requests that wait in one line, as in fair queueing: those of one class and one tenant.
public struct Flow: Sendable, Hashable {
    public var requestClass: RequestClass
    /// What `worker.fairBy` tells requests apart by, such as a CloudEvents source; empty where all are alike.
    public var tenant: String

    /// The flow of all requests where neither classes nor tenants are told apart.
    public static let standard = Flow(.interactive)

    public init(_ requestClass: RequestClass, tenant: String = "") {
        self.requestClass = requestClass
        self.tenant = tenant
    }
}
