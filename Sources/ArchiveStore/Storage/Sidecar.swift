import Foundation

/// `KEY.json` in `files/`: what the store knows about an archive apart from its file. The catalog is rebuilt from
/// these.
struct Sidecar: Hashable {
    /// The format of this document.
    var format = Self.formatWritten
    /// An `ArchiveID`, unless the file was edited by hand.
    var id: String
    var entry: LibraryEntry
    /// Encoded as `reference` for a linked file.
    var storage: ArchiveStorage
    /// The SHA-256 of a linked file that keeps its provisional key because the store has the same file.
    var sha256: String?
    /// The key of the archive that this one replaced.
    var replaces: String?
    /// The summary of a linked file.
    var summary: ArchiveSummary?

    /// Formats that this version reads.
    private static let formatsKnown = 1...2
    static let formatWritten = 2

    /// The keys of the archives that this one replaced.
    var supersededKeys: [String] { [entry.provisionalKey, replaces].compactMap { $0 } }

    static func read(at path: String) throws -> Sidecar {
        try StoreDocument.read(Sidecar.self, at: path).checked(at: path)
    }

    /// - Throws: `StoreError` `unusable` for an unknown format.
    func checked(at path: String) throws -> Sidecar {
        guard Self.formatsKnown.contains(format) else {
            throw StoreError(
                .unusable, "this sidecar has format \(format); this version reads formats up to \(Self.formatWritten)",
                place: path, hint: "use the version of replayhost that wrote it")
        }
        return self
    }

    /// Writes the sidecar atomically.
    func write(to path: String) throws {
        try StoreDocument.write(self, to: path)
    }
}

extension Sidecar: Codable {
    private enum CodingKeys: String, CodingKey {
        case format, id, reference, sha256, replaces, summary
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        format = try container.decode(Int.self, forKey: .format)
        id = try container.decode(String.self, forKey: .id)
        entry = try LibraryEntry(from: decoder)
        storage = try container.decodeIfPresent(FileReference.self, forKey: .reference).map { .linked($0) } ?? .managed
        sha256 = try container.decodeIfPresent(String.self, forKey: .sha256)
        replaces = try container.decodeIfPresent(String.self, forKey: .replaces)
        summary = try container.decodeIfPresent(ArchiveSummary.self, forKey: .summary)
    }

    func encode(to encoder: any Encoder) throws {
        try entry.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(format, forKey: .format)
        try container.encode(id, forKey: .id)
        try container.encodeIfPresent(storage.linkedFile, forKey: .reference)
        try container.encodeIfPresent(sha256, forKey: .sha256)
        try container.encodeIfPresent(replaces, forKey: .replaces)
        try container.encodeIfPresent(summary, forKey: .summary)
    }
}

extension Sidecar {
    /// Creates the sidecar of an archive.
    init(_ archive: Archive, replaces: String? = nil) {
        (id, entry, storage) = (archive.id.text, archive.entry, archive.storage)
        self.replaces = replaces
        guard archive.storage.isLinked else { return }
        if archive.sha256 != archive.key { sha256 = archive.sha256 }
        summary = archive.summary
    }

    /// Returns an archive whose linked file is unavailable; `nil` if the sidecar has no summary.
    func archive(key: String, id: ArchiveID) -> Archive? {
        guard let file = storage.linkedFile, let summary else { return nil }
        return Archive(
            key: key, id: id, sha256: sha256(of: key), size: file.size, storage: storage, isExamined: false,
            entry: entry, summary: summary)
    }

    /// Applies the sidecar to an archive.
    func apply(to archive: inout Archive) {
        (archive.entry, archive.storage) = (entry, storage)
        if storage.isLinked { archive.sha256 = sha256(of: archive.key) }
    }

    /// Returns the sidecar of a managed file with the same metadata.
    func asManaged() -> Sidecar {
        var sidecar = self
        (sidecar.storage, sidecar.summary, sidecar.sha256, sidecar.entry.provisionalKey) = (.managed, nil, nil, nil)
        return sidecar
    }

    /// Returns the SHA-256 of the file; `nil` if it isn't known yet.
    func sha256(of key: String) -> String? { sha256 ?? Self.hash(inKey: key) }

    /// Returns the SHA-256 in a key; `nil` for a provisional key.
    static func hash(inKey key: String) -> String? {
        key.hasPrefix(StoreLayout.provisionalPrefix) ? nil : key
    }
}
