/// The form of Hot Pepper's answers. Raw values are those of the setting `hotpepper.response`.
public enum HotpepperResponseType: String, CaseIterable, Sendable, Hashable {
    /// The short form, about a quarter of the bytes. It has all that a result needs, except the sub-genre.
    case lite
    /// Every member of a shop.
    case full

    /// Returns the form for a request.
    ///
    /// A photo request always uses the full form. The short form omits pictures for mobile devices, which may be the only
    /// ones, and the request would then end with `not-found`.
    func applied(toPhoto isPhoto: Bool) -> HotpepperResponseType { isPhoto ? .full : self }
}
