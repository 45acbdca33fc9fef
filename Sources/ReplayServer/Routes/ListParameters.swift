import ArchiveStore
import Hummingbird
import WebArchive

/// The query parameters of a list of pages.
struct ListParameters: Sendable {
    let offset: Int
    let limit: Int
    /// Words that each page's title or URL must contain.
    let query: String

    /// - Throws: `ErrorResponse` that names the invalid parameter.
    init(pages parameters: Parameters) throws {
        offset = try Self.number("offset", in: parameters, default: 0, allowed: 0...Int(Int32.max))
        limit = try Self.number("limit", in: parameters, default: 100, allowed: 1...1000)
        query = try Self.text(in: parameters)
    }

    /// Returns the parameter `q`; empty if it's absent.
    static func text(in query: Parameters) throws -> String {
        let text = query["q"].map(String.init) ?? ""
        guard text.utf8.count <= Limits.standard.queryValueBytesMax else {
            throw ErrorResponse(
                .badRequest, code: "bad-parameter",
                "the parameter q is too long; the maximum is \(Limits.standard.queryValueBytesMax) bytes")
        }
        return text
    }

    /// Returns the parameter `url`, which is required.
    static func url(in query: Parameters) throws -> String {
        guard let url = query["url"].map(String.init), !url.isEmpty else {
            throw ErrorResponse(.badRequest, code: "bad-parameter", "the parameter url is missing")
        }
        guard url.utf8.count <= Limits.standard.urlBytesMax else { throw ErrorResponse.urlTooLong(url) }
        return url
    }

    static func invalidTime(_ name: String, in query: Parameters) -> ErrorResponse {
        ErrorResponse(
            .badRequest, code: "bad-parameter",
            "the parameter \(name) isn't a valid time: \"\((query[Substring(name)] ?? "").prefix(20))\"",
            hint: "use 4 to 17 digits of YYYYMMDDhhmmssSSS")
    }

    static func number(
        _ name: String, in query: Parameters, default fallback: Int, allowed: ClosedRange<Int>
    ) throws -> Int {
        guard let text = query[Substring(name)] else { return fallback }
        guard let number = Int(text), allowed.contains(number) else {
            throw ErrorResponse(
                .badRequest, code: "bad-parameter",
                "the parameter \(name) must be from \(allowed.lowerBound) to \(allowed.upperBound), not \"\(text.prefix(20))\""
            )
        }
        return number
    }
}

/// A part of a list of pages, with the total number.
struct ListedPages: Encodable, Sendable {
    let total: Int
    let pages: [ArchivePage]

    init(_ found: (total: Int, pages: [ArchivePage])) { (total, pages) = found }
}
