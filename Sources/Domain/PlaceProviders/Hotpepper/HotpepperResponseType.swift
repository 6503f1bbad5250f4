/// How much Hot Pepper tells of each shop. Raw values are those of the setting `hotpepper.response`.
public enum HotpepperResponseType: String, CaseIterable, Sendable, Hashable {
    /// The short form, about a quarter of the bytes. It has all that a result is made of but the sub-genre.
    case lite
    /// Every member of a shop.
    case full

    /// The form that a request asks for.
    ///
    /// A photo request always asks for the full form: it answers `not-found` when it sees no picture, and the short form
    /// leaves out the pictures for mobile devices, which may be the only ones.
    func applied(toPhoto isPhoto: Bool) -> HotpepperResponseType { isPhoto ? .full : self }
}
