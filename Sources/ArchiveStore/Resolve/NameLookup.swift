import GRDB

/// Finds the archive or collection that a person names: by a unique prefix of its id, or by its title.
struct NameLookup {
    /// The id and title of an archive or a collection.
    struct Name: Decodable, FetchableRecord {
        let id: ArchiveID
        let title: String
    }

    private let names: [Name]
    /// What has the names, for errors: "archive".
    private let kind: String

    init(_ names: [Name], of kind: String) {
        self.names = names.sorted { $0.id.text < $1.id.text }
        self.kind = kind
    }

    /// Returns the only id that starts with `text` or has it as its short form (`ShortIDs`), else the id of the only
    /// title that equals it. Titles are compared without regard to case.
    ///
    /// - Parameter hint: What to do if nothing has the name and nothing is similar.
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    func id(matching text: String, hint: String) throws(StoreError) -> ArchiveID {
        let prefixed = text.isEmpty ? [] : names.filter { Self.isShort(text, of: $0.id) }
        if prefixed.count == 1 { return prefixed[0].id }
        let title = Self.folded(text)
        let titled = title.isEmpty ? [] : names.filter { Self.folded($0.title) == title }
        if titled.count == 1 { return titled[0].id }
        if !prefixed.isEmpty {
            throw StoreError(
                .ambiguous, "\"\(text)\" matches several ids: \(Self.list(prefixed))", hint: "enter more of the id")
        }
        if !titled.isEmpty {
            throw StoreError(
                .ambiguous, "\"\(text)\" is the title of several: \(Self.list(titled))", hint: "enter one of these ids")
        }
        throw StoreError(.notFound, "no \(kind) has the id or title \"\(text)\"", hint: suggestion(for: title) ?? hint)
    }

    /// Whether a text is the start of an id, or its start and end with `…` between them.
    private static func isShort(_ text: String, of id: ArchiveID) -> Bool {
        let parts = text.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return id.text.utf8.starts(with: text.utf8) }
        return id.text.hasPrefix(parts[0]) && id.text.hasSuffix(parts[1])
    }

    private static func list(_ names: [Name]) -> String {
        names.prefix(6).map(\.id.text).joined(separator: ", ") + (names.count > 6 ? " and others" : "")
    }

    /// Returns "did you mean" with up to three similar names.
    private func suggestion(for title: String) -> String? {
        var ranked: [(name: String, distance: Int)] = []
        for name in names {
            let (byID, byTitle) = (
                Self.distance(title, name.id.text), Self.distance(title, Self.folded(name.title))
            )
            guard let distance = [byID, byTitle].compactMap({ $0 }).min() else { continue }
            ranked.append((byID == distance ? "\"\(name.id)\"" : "\"\(name.id)\" (\(name.title.prefix(60)))", distance))
        }
        let best = ranked.sorted { $0.distance < $1.distance }.prefix(3).map(\.name)
        return best.isEmpty ? nil : "did you mean \(best.joined(separator: " or "))?"
    }

    /// Returns how different two names are; `nil` if they aren't similar.
    private static func distance(_ one: String, _ other: String) -> Int? {
        let most = min(3, one.count / 3)
        guard most > 0 else { return nil }
        return Spelling.distance(one, other, most: most) ?? (other.contains(one) ? most + 1 : nil)
    }

    /// Returns a title in lower case, with single spaces for white space and characters that terminals don't show.
    private static func folded(_ title: String) -> String {
        title.lowercased().unicodeScalars.split { scalar in
            scalar.properties.isWhitespace || [.control, .format].contains(scalar.properties.generalCategory)
        }.map { String($0) }.joined(separator: " ")
    }
}
