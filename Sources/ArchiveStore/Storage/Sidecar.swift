import Foundation

/// `KEY.json` in `files/`: what the file itself cannot tell of an archive. The catalog is rebuilt from these.
struct Sidecar: Hashable {
    /// Of this file; a later version that adds keys counts on.
    var format = Self.formatWritten
    /// An `ArchiveID`, unless somebody edited it.
    var id: String
    var entry: LibraryEntry
    /// In the file, `reference` is there for a linked one.
    var storage: ArchiveStorage
    /// The SHA-256 of a linked file that keeps its provisional key, since the store has the same file already.
    var sha256: String?
    /// The key of the archive that this one took the place of; that one is obsolete when it has the same id.
    var replaces: String?
    /// Of a linked file.
    var summary: ArchiveSummary?

    /// Formats that this version reads.
    private static let formatsKnown = 1...2
    static let formatWritten = 2

    /// The archives whose place this one took: what is left of them is to be cleared away.
    var supersededKeys: [String] { [entry.provisionalKey, replaces].compactMap { $0 } }

    static func read(at path: String) throws -> Sidecar {
        try StoreDocument.read(Sidecar.self, at: path).checked(at: path)
    }

    /// - Throws: `StoreError` `unusable` for one that a later version wrote.
    func checked(at path: String) throws -> Sidecar {
        guard Self.formatsKnown.contains(format) else {
            throw StoreError(
                .unusable, "the sidecar has the format \(format), this version knows up to \(Self.formatWritten)",
                place: path, hint: "use the replayhost that wrote it")
        }
        return self
    }

    /// Written whole or not at all.
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
    /// The sidecar of an archive as the catalog knows it.
    init(_ archive: Archive, replaces: String? = nil) {
        (id, entry, storage) = (archive.id.text, archive.entry, archive.storage)
        self.replaces = replaces
        guard archive.storage.isLinked else { return }
        if archive.sha256 != archive.key { sha256 = archive.sha256 }
        summary = archive.summary
    }

    /// An archive whose file cannot be read now, as far as the sidecar tells; `nil` when it tells too little.
    func archive(key: String, id: ArchiveID) -> Archive? {
        guard let file = storage.linkedFile, let summary else { return nil }
        return Archive(
            key: key, id: id, sha256: sha256(of: key), size: file.size, storage: storage, isExamined: false,
            entry: entry, summary: summary)
    }

    /// Puts what the sidecar says into an archive.
    func apply(to archive: inout Archive) {
        (archive.entry, archive.storage) = (entry, storage)
        if storage.isLinked { archive.sha256 = sha256(of: archive.key) }
    }

    /// The same words for a file that the store has itself.
    func asManaged() -> Sidecar {
        var sidecar = self
        (sidecar.storage, sidecar.summary, sidecar.sha256, sidecar.entry.provisionalKey) = (.managed, nil, nil, nil)
        return sidecar
    }

    /// The SHA-256 of the file whose sidecar this is; `nil` when it is not known yet.
    func sha256(of key: String) -> String? { sha256 ?? Self.hash(inKey: key) }

    /// The SHA-256 that a key is; `nil` for a provisional one.
    static func hash(inKey key: String) -> String? {
        key.hasPrefix(StoreLayout.provisionalPrefix) ? nil : key
    }
}
