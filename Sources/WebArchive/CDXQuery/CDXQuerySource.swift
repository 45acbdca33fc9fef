/// An archive to query, which is opened on demand.
public struct CDXQuerySource: Sendable {
    /// The name of the archive in lines: its ID.
    public let name: String
    let open: @Sendable () throws(WebArchiveError) -> WACZFile?

    /// Creates a source that calls `open` when the archive is needed.
    ///
    /// A run opens each archive once, and once more if it restarts. It releases archives without matches and skips
    /// those for which `open` returns `nil`.
    public init(name: String, open: @escaping @Sendable () throws(WebArchiveError) -> WACZFile?) {
        self.name = name
        self.open = open
    }

    /// Creates a source from an open archive.
    public init(name: String, wacz: WACZFile) {
        self.init(name: name) { () throws(WebArchiveError) in wacz }
    }
}
