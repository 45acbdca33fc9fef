/// A question to the indexes of archives, as clients of pywb's CDX server put it.
///
/// Source: the parameters of pywb 2.10; `collapse` is that of the Wayback CDX server. See `docs/cdx.md`.
public struct CDXQuery: Sendable, Hashable {
    /// The form of an answer. Names are those of pywb's CDX server.
    public enum Output: String, Sendable, Hashable, Codable, CaseIterable {
        /// `urlkey timestamp {…}`, CDXJ 0.1.0.
        case cdxj
        /// One JSON object a line.
        case json
        /// Links to mementos, RFC 7089 and RFC 6690.
        case link
        /// Fields with a space between them, `-` for one that is absent.
        case text
    }

    /// The order of an answer's lines.
    public enum Order: Sendable, Hashable {
        /// By key, then earliest first.
        case ascending
        /// The other way round.
        case descending
        /// By the distance in time to a moment; of two equally close ones the later first.
        case closest(CaptureTimestamp)
    }

    /// A part of the lines that fit URL and match type.
    public struct Page: Sendable, Hashable {
        /// Counted from 0.
        public let number: Int
        /// Blocks on each page; a block is `linesPerBlock` lines.
        public let blockCount: Int

        /// Lines on each page.
        var lineCount: Int {
            blockCount.multipliedReportingOverflow(by: linesPerBlock).overflow ? .max : blockCount * linesPerBlock
        }
    }

    struct Field: Sendable, Hashable {
        /// As it was asked for.
        let name: String
        let field: CDXField
    }

    struct Collapse: Sendable, Hashable {
        let fields: [CDXField]
        /// Bytes of the first field that count; all when `nil`.
        let prefixBytes: Int?
    }

    /// URL and match type.
    public let captures: CaptureQuery
    /// The earliest time that counts, 17 digits.
    public let from: String?
    /// The latest time that counts, 17 digits.
    public let to: String?
    /// The order of the answer.
    public let order: Order
    /// Lines of the answer, at most; `nil` for all.
    public let limit: Int?
    /// The page that is asked for; `nil` for everything.
    public let page: Page?
    /// Whether the answer is the number of pages, and no lines.
    public let countsPages: Bool
    /// The form of the answer.
    public let output: Output
    /// Whether lines may say which archive they are of.
    public let allowsSourceNames: Bool
    let filters: [CDXFilter]
    let collapses: [Collapse]
    /// The fields that the answer has; `nil` for all.
    let fields: [Field]?
    /// Blocks on each page, also when no page is asked for.
    let pageBlockCount: Int

    /// Lines of one block. As many captures as ZipNum indexes of pywb and cdxj-indexer usually hold in a block.
    public static let linesPerBlock = 300
    /// Blocks of a page when `pageSize` is not given. That of pywb.
    public static let defaultPageBlockCount = 10

    /// The media type of the answer. Those of pywb.
    public var mediaType: String {
        if countsPages { return "application/json" }
        switch output {
        case .cdxj: return "text/x-cdxj"
        case .json: return "text/x-ndjson"
        case .link: return "application/link-format"
        case .text: return "text/plain; charset=utf-8"
        }
    }

    /// Reads parameters, whose names and values are free of percent escapes. Names that nobody knows are ignored.
    ///
    /// An empty value is none. A parameter may be repeated with the same value; `filter` and `collapse` with any.
    ///
    /// - Throws: A value that cannot be meant, a parameter that pywb knows and that would change the answer but is not
    ///   supported, or no `url`.
    public init(
        parameters: [(name: String, value: String)], limits: Limits = .standard
    ) throws(CDXQueryProblem) {
        let given = try CDXParameters(parameters, limits: limits)
        try given.refuseUnsupported()
        captures = try given.captures()
        from = try given.time("from", padding: "0")
        to = try given.time("to", padding: "9")
        order = try given.order()
        // As in pywb, 0 is no limit.
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
