import ArchiveStore
import Hummingbird
import WebArchive

/// What a list of pages is asked for with, in the query.
struct ListParameters: Sendable {
    let offset: Int
    let limit: Int
    /// Words that each page's title or URL holds.
    let words: String

    /// - Throws: `ErrorResponse` that names the parameter that is out of range.
    init(pages query: Parameters) throws {
        offset = try Self.number("offset", in: query, default: 0, allowed: 0...Int(Int32.max))
        limit = try Self.number("limit", in: query, default: 100, allowed: 1...1000)
        words = query["q"].map(String.init) ?? ""
        guard words.utf8.count <= Limits.standard.queryValueBytesMax else {
            throw ErrorResponse(
                .badRequest, code: "bad-parameter", "the parameter q has \(words.utf8.count) bytes",
                hint: "give at most \(Limits.standard.queryValueBytesMax)")
        }
    }

    static func number(
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
