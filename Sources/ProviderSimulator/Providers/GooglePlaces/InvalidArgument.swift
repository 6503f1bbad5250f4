/// The reason why Google Places (New) refuses a request with HTTP 400, INVALID_ARGUMENT.
struct InvalidArgument: Error {
    let message: String
    /// The member at fault; `nil` when it is the request as a whole.
    var field: String?
}
