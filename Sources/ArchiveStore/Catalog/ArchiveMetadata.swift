/// What a person says about an archive or a collection.
package struct ArchiveMetadata: Sendable, Hashable, Codable {
    package var title: String?
    package var tags: [String]?
    package var notes: String?

    /// What is `nil` stays as it is.
    package init(title: String? = nil, tags: [String]? = nil, notes: String? = nil) {
        (self.title, self.tags, self.notes) = (title, tags, notes)
    }

    package var isEmpty: Bool { title == nil && tags == nil && notes == nil }

    /// Trimmed, without duplicates, within the bounds of a sidecar.
    ///
    /// - Throws: `StoreError` `invalidMetadata` for a title that is empty, and for what is too long.
    package func checked() throws -> ArchiveMetadata {
        var words = self
        words.title = title.map(Self.trimmed)
        if words.title?.isEmpty == true { throw StoreError(.invalidMetadata, "the title is empty") }
        words.tags = tags.map { tags in
            var seen: Set<String> = []
            return tags.map(Self.trimmed).filter { !$0.isEmpty && seen.insert($0).inserted }
        }
        try Self.check(words.title, "the title", bytesMax: 1 << 10)
        for tag in words.tags ?? [] { try Self.check(tag, "the tag \"\(tag.prefix(20))\"", bytesMax: 200) }
        guard words.tags?.count ?? 0 <= Self.tagsMax else {
            throw StoreError(
                .invalidMetadata, "\(words.tags?.count ?? 0) tags are given, at most \(Self.tagsMax) are possible")
        }
        try Self.check(notes, "the notes", bytesMax: 256 << 10)
        return words
    }

    private static func check(_ text: String?, _ name: String, bytesMax: Int) throws {
        guard let size = text?.utf8.count, size > bytesMax else { return }
        throw StoreError(.invalidMetadata, "\(name) has \(size) bytes, at most \(bytesMax) are possible")
    }

    private static func trimmed(_ text: String) -> String {
        let line = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : String($0) }.joined()
        return String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    private static let tagsMax = 100
}
