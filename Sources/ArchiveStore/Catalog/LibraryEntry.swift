package import Foundation
package import WebArchive

/// What the store knows about an archive apart from its file: metadata, origin and port.
package struct LibraryEntry: Sendable, Hashable, Codable {
    package var title: String
    package var originalName: String
    /// Where the archive was imported from, for people. Not part of the JSON, because it can name folders.
    package var source: String
    package var importedAt: Date
    package var tags: [String] = []
    package var notes = ""
    /// The archive's own replay port, in origin mode `ports`; `nil` until it was first replayed there.
    package var port: Int?
    /// The key of a linked file before its SHA-256 was known; URLs with that key still work.
    package var provisionalKey: String?
    /// Whether the text of its pages can be searched, not only titles and URLs.
    package var indexesText = true
    /// The URL that the archive was saved from; `nil` unless the capture server made it.
    package var saved: SavedURL?
    /// What was wrong with the files from which the archive was made at its import, and can't be found in it: what was
    /// lost. `nil` if there is nothing. No verification changes it.
    package var sourceFindings: [Finding]?
    /// Whether a person chose to show what the signature of the archive doesn't cover.
    package var showsUncovered = false
}

/// A URL that a person saved, and for whom. An archive was made from it.
package struct SavedURL: Sendable, Hashable, Codable {
    package var url: String
    package var user: String
    /// The download that saved it; `nil` in entries of earlier versions.
    package var download: String?
    /// What is missing; `nil` if nothing is.
    package var incomplete: String?
    /// What was seen when the archive was replayed; `nil` if that wasn't tried.
    package var replayCheck: String?

    package init(
        url: String, user: String, download: String? = nil, incomplete: String? = nil, replayCheck: String? = nil
    ) {
        (self.url, self.user, self.download) = (url, user, download)
        (self.incomplete, self.replayCheck) = (incomplete, replayCheck)
    }
}

extension LibraryEntry {
    /// Sidecars of earlier versions omit some of these.
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
        indexesText = try container.decodeIfPresent(Bool.self, forKey: .indexesText) ?? true
        saved = try container.decodeIfPresent(SavedURL.self, forKey: .saved)
        sourceFindings = try container.decodeIfPresent([Finding].self, forKey: .sourceFindings)
        showsUncovered = try container.decodeIfPresent(Bool.self, forKey: .showsUncovered) ?? false
    }
}
