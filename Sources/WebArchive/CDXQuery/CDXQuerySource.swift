/// An archive that a query goes to, opened when it is asked for.
public struct CDXQuerySource: Sendable {
    /// An archive, and whether an inspection found its indexes to be sorted.
    public typealias Opened = (wacz: WACZFile, assumesSorted: Bool)

    /// What lines name it by: the archive's id.
    public let name: String
    let open: @Sendable () throws(WebArchiveError) -> Opened?

    /// Names an archive that `open` opens. A run opens each archive once, again when it has to begin anew, and lets go
    /// of those in which nothing fits. An archive for which `open` returns `nil` is passed over.
    public init(name: String, open: @escaping @Sendable () throws(WebArchiveError) -> Opened?) {
        self.name = name
        self.open = open
    }

    /// Names an archive that is open.
    public init(name: String, wacz: WACZFile, assumesSorted: Bool = false) {
        self.init(name: name) { () throws(WebArchiveError) in (wacz, assumesSorted) }
    }
}
