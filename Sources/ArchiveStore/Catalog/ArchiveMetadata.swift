/// Changes to the title, tags and notes of an archive or a collection, and to what is shown of an archive.
package struct ArchiveMetadata: Sendable, Hashable, Codable {
    package var title: String?
    package var tags: [String]?
    package var notes: String?
    /// Whether to show what the signature of an archive doesn't cover.
    package var showsUncovered: Bool?

    /// Creates a set of changes. `nil` leaves a field unchanged.
    package init(title: String? = nil, tags: [String]? = nil, notes: String? = nil, showsUncovered: Bool? = nil) {
        (self.title, self.tags, self.notes, self.showsUncovered) = (title, tags, notes, showsUncovered)
    }

    package var isEmpty: Bool { self == ArchiveMetadata() }

    /// Returns the metadata trimmed and without duplicate tags.
    ///
    /// - Throws: `StoreError` `invalidMetadata` for an empty title, and for fields that are too long.
    package func checked() throws -> ArchiveMetadata {
        var checked = self
        checked.title = title.map(Self.trimmed)
        if checked.title?.isEmpty == true { throw StoreError(.invalidMetadata, "the title is empty") }
        checked.tags = tags.map { tags in
            var seen: Set<String> = []
            return tags.map(Self.trimmed).filter { !$0.isEmpty && seen.insert($0).inserted }
        }
        try Self.check(checked.title, "the title", bytesMax: Self.titleBytesMax)
        for tag in checked.tags ?? [] { try Self.check(tag, "the tag \"\(tag.prefix(20))\"", bytesMax: 200) }
        if let count = checked.tags?.count, count > Self.tagsMax {
            throw StoreError(.invalidMetadata, "too many tags: \(count); the maximum is \(Self.tagsMax)")
        }
        try Self.check(notes, "the notes", bytesMax: 256 << 10)
        return checked
    }

    /// Returns a title from elsewhere within the limit, cut at a character.
    ///
    /// - Returns: `Untitled` for a text without letters.
    package static func title(from text: String) -> String {
        let title = trimmed(String(String.UnicodeScalarView(text.unicodeScalars.prefix(titleBytesMax))))
        guard !title.isEmpty else { return "Untitled" }
        guard title.utf8.count > titleBytesMax else { return title }
        var (cut, size) = (title[...], title.utf8.count)
        while size > titleBytesMax - "…".utf8.count, let last = cut.popLast() { size -= last.utf8.count }
        return cut.isEmpty ? "Untitled" : cut + "…"
    }

    private static func check(_ text: String?, _ name: String, bytesMax: Int) throws {
        guard let size = text?.utf8.count, size > bytesMax else { return }
        throw StoreError(.invalidMetadata, "\(name) is too long: \(size) bytes; the maximum is \(bytesMax)")
    }

    private static func trimmed(_ text: String) -> String {
        let line = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : String($0) }.joined()
        return String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    private static let tagsMax = 100
    private static let titleBytesMax = 1 << 10
}
