import Foundation

/// Short forms of the ids of archives and collections, for tables: unique prefixes, or start and end with `…` between
/// them. Commands accept both; see `NameLookup`.
package struct ShortIDs: Sendable {
    private let forms: [ArchiveID: String]
    /// Shorter prefixes are hard to recognize, and the next import could make them ambiguous.
    private static let lengthMin = 8
    /// Ids that share a longer prefix are shortened in the middle.
    private static let prefixLengthMax = 16
    /// The least length of the start and of the end of such an id.
    private static let endLengthMin = 6

    init(_ ids: [ArchiveID]) {
        let ids = ids.sorted { $0.text < $1.text }
        var forms: [ArchiveID: String] = [:]
        for (index, id) in ids.enumerated() {
            let neighbors = [index - 1, index + 1].filter(ids.indices.contains).map { ids[$0].text }
            let prefix = Self.prefix(of: id.text, not: neighbors)
            forms[id] = prefix.count <= Self.prefixLengthMax ? prefix : Self.ends(of: id, among: ids) ?? prefix
        }
        self.forms = forms
    }

    /// Returns a short form of an id, or the id itself if there is none.
    package subscript(id: ArchiveID) -> String { forms[id] ?? id.text }

    private static func prefix(of text: String, not others: [String]) -> String {
        let shared = others.map { $0.commonPrefix(with: text).count }.max() ?? 0
        let prefix = text.prefix(max(shared + 1, lengthMin))
        return String(prefix.last == "-" ? text.prefix(prefix.count + 1) : prefix)
    }

    /// Returns the start and the end of an id, if they are shorter than the id and no other id has both.
    private static func ends(of id: ArchiveID, among ids: [ArchiveID]) -> String? {
        let start = id.text.prefix(endLengthMin)
        let others = ids.filter { $0 != id && $0.text.hasPrefix(start) }.map(\.text)
        for length in endLengthMin..<max(endLengthMin, id.text.count - endLengthMin - 1) {
            let end = id.text.suffix(length)
            if !others.contains(where: { $0.hasSuffix(end) }) { return "\(start)…\(end)" }
        }
        return nil
    }
}
