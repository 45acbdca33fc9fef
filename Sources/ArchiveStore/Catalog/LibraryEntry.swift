package import Foundation

/// What the file of an archive can't tell: what people said of it, where it came from, and what the store noted.
package struct LibraryEntry: Sendable, Hashable, Codable {
    package var title: String
    package var originalName: String
    /// Path or origin of the import, for people; not part of the JSON, since it may name folders.
    package var source: String
    package var importedAt: Date
    /// Words that people file it under, in their order.
    package var tags: [String] = []
    /// What people wrote about it.
    package var notes = ""
    /// Where it is replayed when each archive has a port of its own; `nil` until it was.
    package var port: Int?
    /// The key before the SHA-256 of a linked file was known: URLs that hold it still mean this file.
    package var provisionalKey: String?
}

extension LibraryEntry {
    /// Sidecars of earlier versions leave out tags and notes that are empty.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        title = try container.decode(String.self, forKey: .title)
        originalName = try container.decode(String.self, forKey: .originalName)
        source = try container.decode(String.self, forKey: .source)
        importedAt = try container.decode(Date.self, forKey: .importedAt)
        tags = try container.decodeIfPresent([String].self, forKey: .tags) ?? []
        notes = try container.decodeIfPresent(String.self, forKey: .notes) ?? ""
        port = try container.decodeIfPresent(Int.self, forKey: .port)
        provisionalKey = try container.decodeIfPresent(String.self, forKey: .provisionalKey)
    }
}
