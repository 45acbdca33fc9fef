import ArchiveStore
import Hummingbird
import WebArchive

/// Query parameters that several lists have.
enum ListParameters {
    /// Returns the parameter `q`; empty if it's absent.
    static func text(in query: Parameters) throws -> String {
        let text = query["q"].map(String.init) ?? ""
        guard text.utf8.count <= Limits.standard.queryValueBytesMax else {
            throw ErrorResponse.badParameter(
                "the parameter q is too long; the maximum is \(Limits.standard.queryValueBytesMax) bytes")
        }
        return text
    }

    /// Returns the parameter `url`, which is required.
    static func url(in query: Parameters) throws -> String {
        guard let url = query["url"].map(String.init), !url.isEmpty else {
            throw ErrorResponse.badParameter("the parameter url is missing")
        }
        guard url.utf8.count <= Limits.standard.urlBytesMax else { throw ErrorResponse.urlTooLong(url) }
        return url
    }

    /// Returns a parameter of 4 to 17 digits; `nil` if it's absent. An incomplete time means the start of its period.
    static func time(_ name: String, in query: Parameters) throws -> CaptureTimestamp? {
        guard let text = query[Substring(name)], !text.isEmpty else { return nil }
        guard let time = URLFilter.time(text) else { throw invalidTime(name, in: query) }
        return time
    }

    /// Returns a parameter that names a case; `nil` if it's absent.
    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, in query: Parameters
    ) throws -> Choice? {
        guard let text = query[Substring(name)] else { return nil }
        guard let choice = Choice(rawValue: String(text)) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ErrorResponse.badParameter(
                "the parameter \(name) must be one of \(known), not \"\(text.prefix(40))\"")
        }
        return choice
    }

    /// Returns whether the parameter `collapse` is there.
    static func collapsesURLs(in query: Parameters) throws -> Bool {
        enum Key: String, CaseIterable { case url }
        return try choice("collapse", in: query) == Key.url
    }

    static func invalidTime(_ name: String, in query: Parameters) -> ErrorResponse {
        .badParameter(
            "the parameter \(name) isn't a valid time: \"\((query[Substring(name)] ?? "").prefix(20))\"",
            hint: "use 4 to 17 digits of YYYYMMDDhhmmssSSS")
    }

    static func number(
        _ name: String, in query: Parameters, default fallback: Int, allowed: ClosedRange<Int>
    ) throws -> Int {
        guard let text = query[Substring(name)] else { return fallback }
        guard let number = Int(text), allowed.contains(number) else {
            throw ErrorResponse.badParameter(
                "the parameter \(name) must be from \(allowed.lowerBound) to \(allowed.upperBound), not \"\(text.prefix(20))\""
            )
        }
        return number
    }
}

extension PageListRequest {
    /// Parses the query of a list of pages. Documented in `docs/json.md`.
    ///
    /// - Throws: `ErrorResponse` that names the invalid parameter.
    init(_ query: Parameters) throws {
        self.init(
            query: try ListParameters.text(in: query),
            offset: try ListParameters.number("offset", in: query, default: 0, allowed: 0...Int(Int32.max)),
            limit: try ListParameters.number("limit", in: query, default: 100, allowed: 1...1000))
        order = try ListParameters.choice("sort", in: query) ?? .archive
        collapsesURLs = try ListParameters.collapsesURLs(in: query)
        after = try ListParameters.time("after", in: query)
        before = try ListParameters.time("before", in: query)
    }
}
