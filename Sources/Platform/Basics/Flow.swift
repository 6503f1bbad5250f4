/// A flow of requests, as in fair queueing: the requests of one class and one tenant.
public struct Flow: Sendable, Hashable {
    public var requestClass: RequestClass
    /// The value by which `worker.fairBy` groups requests, such as a CloudEvents source; empty if they are not grouped.
    public var tenant: String

    /// The flow of all requests if neither classes nor tenants are distinguished.
    public static let standard = Flow(.interactive)

    public init(_ requestClass: RequestClass, tenant: String = "") {
        self.requestClass = requestClass
        self.tenant = tenant
    }
}
