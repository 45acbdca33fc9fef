/// A query over the indexes of archives, with the parameters of pywb's CDX server.
///
/// Source: pywb 2.10, with `collapse` from the Wayback CDX server. See `docs/cdx.md`.
public struct CDXQuery: Sendable, Hashable {
    /// The output format. Names are those of pywb's CDX server.
    public enum Output: String, Sendable, Hashable, Codable, CaseIterable {
        /// CDXJ 0.1.0: `urlkey timestamp {…}`.
        case cdxj
        /// One JSON object per line.
        case json
        /// Links to mementos. RFC 7089 and RFC 6690.
        case link
        /// Fields separated by spaces, with `-` for a missing one.
        case text
    }

    /// The order of the result.
    public enum Order: Sendable, Hashable {
        /// By key, then by time with the earliest first.
        case ascending
        /// The reverse of `ascending`.
        case descending
        /// By distance to a time. Of two equally close captures, the later one comes first.
        case closest(CaptureTimestamp)
    }

    /// A page of the lines that match URL and match type.
    public struct Page: Sendable, Hashable {
        /// The page number, counted from 0.
        public let number: Int
        /// The number of blocks per page. A block has `linesPerBlock` lines.
        public let blockCount: Int

        /// The number of lines per page.
        var lineCount: Int { blockCount.multipliedSaturated(by: linesPerBlock) }
    }

    struct Field: Sendable, Hashable {
        /// The name as requested.
        let name: String
        let field: CDXField
    }

    struct Collapse: Sendable, Hashable {
        let fields: [CDXField]
        /// The number of bytes of the first field to compare; all if `nil`.
        let prefixBytes: Int?
    }

    /// The URL and match type.
    public let captures: CaptureQuery
    /// The earliest time to include, as 17 digits.
    public let from: String?
    /// The latest time to include, as 17 digits.
    public let to: String?
    /// The order of the result.
    public let order: Order
    /// The maximum number of lines; `nil` for all.
    public let limit: Int?
    /// The requested page; `nil` for all lines.
    public let page: Page?
    /// Whether the result is the number of pages instead of lines.
    public let countsPages: Bool
    /// The output format.
    public let output: Output
    /// Whether lines may name their archive.
    public let allowsSourceNames: Bool
    let filters: [CDXFilter]
    let collapses: [Collapse]
    /// The requested fields; `nil` for all.
    let fields: [Field]?
    /// The number of blocks per page, even if no page is requested.
    let pageBlockCount: Int

    /// The number of lines per block, as in the ZipNum indexes of pywb and cdxj-indexer.
    public static let linesPerBlock = 300
    /// The default number of blocks per page, as in pywb.
    public static let defaultPageBlockCount = 10

    /// The media type of the result, as in pywb.
    public var mediaType: String {
        if countsPages { return "application/json" }
        switch output {
        case .cdxj: return "text/x-cdxj"
        case .json: return "text/x-ndjson"
        case .link: return "application/link-format"
        case .text: return "text/plain; charset=utf-8"
        }
    }

    /// Creates a query from percent-decoded parameters. Unknown names are ignored.
    ///
    /// Empty values are ignored. A parameter may be repeated with the same value; `filter` and `collapse` with any
    /// value.
    ///
    /// - Throws: `CDXQueryProblem` if a value is invalid, `url` is missing, or a parameter of pywb that would change
    ///   the result isn't supported.
    public init(
        parameters: [(name: String, value: String)], limits: Limits = .standard
    ) throws(CDXQueryProblem) {
        let given = try CDXParameters(parameters, limits: limits)
        try given.refuseUnsupported()
        captures = try given.captures()
        from = try given.time("from", padding: "0")
        to = try given.time("to", padding: "9")
        order = try given.order()
        // As in pywb, 0 means no limit.
        limit = try given.number("limit", from: 0).flatMap { $0 == 0 ? nil : $0 }
        pageBlockCount = try given.number("pageSize", from: 1) ?? Self.defaultPageBlockCount
        let number = try given.number("page", from: 0)
        page =
            number != nil || given.has("pageSize") ? Page(number: number ?? 0, blockCount: pageBlockCount) : nil
        countsPages = try given.flag("showNumPages") ?? false
        output = try given.choice("output", Output.self) ?? .cdxj
        allowsSourceNames = try !(given.flag("nosource") ?? false)
        filters = try given.filters()
        collapses = try given.collapses()
        fields = try given.fields()
    }
}
