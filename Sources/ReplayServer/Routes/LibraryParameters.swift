import ArchiveStore
import Hummingbird
import WebArchive

/// The query parameters of a list of archives.
struct LibraryParameters: Sendable {
    let filter: LibraryFilter
    let order: LibraryOrder
    let offset: Int
    let limit: Int

    /// - Returns: `nil` if there are none of these parameters.
    /// - Throws: `ErrorResponse` that names the invalid parameter.
    init?(_ query: Parameters) throws {
        guard Self.names.contains(where: { query[$0] != nil }) else { return nil }
        offset = try ListParameters.number("offset", in: query, default: 0, allowed: 0...Int(Int32.max))
        limit = try ListParameters.number("limit", in: query, default: 50, allowed: 1...1000)
        filter = try LibraryFilter(query: query)
        let name = query["sort"] ?? "-added"
        guard let order = LibraryOrder(name) else {
            throw Self.problem("sort", "must be one of \(LibraryOrder.names.joined(separator: ", "))", name)
        }
        self.order = order
    }

    fileprivate static func problem(_ name: String, _ problem: String, _ value: Substring) -> ErrorResponse {
        .badParameter("the parameter \(name) \(problem), not \"\(value.prefix(40))\"")
    }

    private static let names: [Substring] = [
        "offset", "limit", "q", "sort", "tag", "site", "year", "saved", "state", "format",
    ]
}

extension LibraryFilter {
    /// - Throws: `ErrorResponse` that names the invalid parameter.
    init(query: Parameters) throws {
        self.init()
        self.query = try ListParameters.text(in: query)
        tags = query[values: "tag"].map(String.init)
        guard tags.count <= Self.tagsMax, tags.allSatisfy({ $0.utf8.count <= Limits.standard.queryValueBytesMax })
        else { throw LibraryParameters.problem("tag", "must be at most \(Self.tagsMax) short tags", "\(tags.count)") }
        if let text = query["site"], !text.isEmpty { site = text.lowercased() }
        if let text = query["year"], !text.isEmpty {
            guard text.utf8.count == 4, text.utf8.allSatisfy({ (48...57).contains($0) }), let year = Int(text) else {
                throw LibraryParameters.problem("year", "must be four digits", text)
            }
            self.year = year
        }
        if let text = query["saved"], !text.isEmpty { saved = String(text) }
        for name in query["state"]?.split(separator: ",") ?? [] {
            guard let state = State(name: name) else {
                let known = State.allCases.map(\.name).joined(separator: ", ")
                throw LibraryParameters.problem("state", "must be from \(known)", name)
            }
            states.insert(state)
        }
    }

    private static let tagsMax = 32
}

/// A part of a list of archives, with the total number.
struct ListedArchives: Encodable, Sendable {
    let total: Int
    let archives: [Resource<LibraryItem>]
}
