import ArchiveStore
import Hummingbird

/// What a list of pages or captures is asked for with, in the query.
struct ListParameters: Sendable {
    private(set) var offset = 0
    let limit: Int
    /// Words that each page's title or URL holds.
    private(set) var words = ""
    /// The URL whose captures are wanted.
    private(set) var url = ""

    /// - Throws: `ErrorResponse` that names the parameter that is out of range.
    init(pages query: Parameters) throws {
        offset = try Self.number("offset", in: query, default: 0, allowed: 0...Int(Int32.max))
        limit = try Self.number("limit", in: query, default: 100, allowed: 1...1000)
        words = query["q"].map(String.init) ?? ""
    }

    /// - Throws: `ErrorResponse` that names the parameter that is missing or out of range.
    init(captures query: Parameters) throws {
        guard let url = query["url"].map(String.init), !url.isEmpty else {
            throw ErrorResponse(.badRequest, code: "bad-parameter", "the parameter url is missing")
        }
        self.url = url
        limit = try Self.number("limit", in: query, default: 100, allowed: 1...1000)
    }

    private static func number(
        _ name: String, in query: Parameters, default fallback: Int, allowed: ClosedRange<Int>
    ) throws -> Int {
        guard let text = query[Substring(name)] else { return fallback }
        guard let number = Int(text), allowed.contains(number) else {
            throw ErrorResponse(
                .badRequest, code: "bad-parameter",
                "the parameter \(name) is \"\(text.prefix(20))\", \(allowed.lowerBound) to \(allowed.upperBound) are possible"
            )
        }
        return number
    }
}

/// Some pages of those that there are.
struct ListedPages: Encodable, Sendable {
    let total: Int
    let pages: [ArchivePage]

    init(_ found: (total: Int, pages: [ArchivePage])) { (total, pages) = found }
}
