/// `backup.json`: which archives and collections a backup is, with all that people said of them.
///
/// It is replaced as a whole once every file that it names is in place: whatever happens before that, the backup is the one that
/// the manifest before it says.
package struct BackupManifest: Codable, Hashable {
    /// An archive of the backup.
    struct Entry: Codable, Hashable {
        /// The archive's in its store.
        var key: String
        /// Of the file, in bytes.
        var size: UInt64
        /// Names the file in the backup; `nil` for a linked one that the backup does not have.
        var sha256: String?
        /// All that the store had in the sidecar.
        var sidecar: Sidecar
    }

    var format = Self.formatWritten
    /// When archives and collections were as they are here. RFC 3339, UTC, to the microsecond.
    var madeAt: String
    /// In the order of their import.
    var archives: [Entry]
    var collections: [CollectionDocument]

    static let formatWritten = 2
    private static let formatsKnown = 1...2
    /// About a million archives.
    private static let bytesMax = 1 << 30

    init(madeAt: String, archives: [Entry], collections: [CollectionDocument]) {
        (self.madeAt, self.archives, self.collections) = (madeAt, archives, collections)
    }

    /// The files that the backup needs.
    var hashes: Set<String> { Set(archives.compactMap(\.sha256)) }

    /// - Throws: `StoreError`: `notFound`; `unusable` for another version's; `documentDamaged`.
    package static func read(at path: String) throws -> BackupManifest {
        let format = try StoreDocument.read(Head.self, at: path, bytesMax: bytesMax).format
        guard formatsKnown.contains(format) else {
            throw StoreError(
                .unusable, "the backup has the format \(format), this version knows up to \(formatWritten)",
                place: path,
                hint: "use the replayhost that wrote it; nothing was changed")
        }
        let manifest = try StoreDocument.read(BackupManifest.self, at: path, bytesMax: bytesMax)
        try manifest.check(at: path)
        return manifest
    }

    /// Written whole or not at all.
    package func write(to path: String) throws {
        try StoreDocument.write(self, to: path, bytesMax: Self.bytesMax)
    }

    /// What every format has.
    private struct Head: Decodable {
        let format: Int
    }

    /// Names in a manifest become paths, and ids addresses.
    private func check(at path: String) throws {
        var (keys, ids): (Set<String>, Set<ArchiveID>) = ([], [])
        for entry in archives {
            let sidecar = try entry.sidecar.checked(at: path)
            guard let id = ArchiveID(sidecar.id), ids.insert(id).inserted, keys.insert(entry.key).inserted,
                entry.isPlausible
            else { throw Self.impossible("the archive \"\(sidecar.id)\"", at: path) }
        }
        for document in collections {
            guard ids.insert(try document.collection(at: path).id).inserted else {
                throw Self.impossible("the collection \"\(document.id)\"", at: path)
            }
        }
    }

    private static func impossible(_ what: String, at path: String) -> StoreError {
        StoreError(
            .documentDamaged, "what the backup says of \(what) is not what replayhost writes", place: path,
            hint: byHand)
    }

    /// What is left to do where a manifest is not of use.
    static let byHand = "the archives beside it are WACZ files under their SHA-256, and can be imported one by one"
}

extension BackupManifest {
    private enum CodingKeys: String, CodingKey {
        case format, madeAt, archives, collections, groups
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        format = try container.decode(Int.self, forKey: .format)
        madeAt = try container.decode(String.self, forKey: .madeAt)
        archives = try container.decode([Entry].self, forKey: .archives)
        // Format 1, of version 0.1.0, called them groups.
        collections = try container.decode([CollectionDocument].self, forKey: format == 1 ? .groups : .collections)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.formatWritten, forKey: .format)
        try container.encode(madeAt, forKey: .madeAt)
        try container.encode(archives, forKey: .archives)
        try container.encode(collections, forKey: .collections)
    }
}

extension BackupManifest.Entry {
    /// Whether key and hash are such, and those of one archive, and the size is one that a file can have.
    fileprivate var isPlausible: Bool {
        let hasHash = sha256.map { StoreLayout.isKey($0) && Sidecar.hash(inKey: $0) != nil } ?? true
        return StoreLayout.isKey(key) && hasHash && size <= UInt64(Int64.max)
            && (sidecar.storage.isLinked || sha256 == key)
    }
}

extension BackupManifest.Entry {
    /// Whether an archive of a store is this one, also when it was hashed or taken in since.
    func isSame(as archive: Archive) -> Bool {
        guard archive.id.text == sidecar.id else { return false }
        if archive.key == key || archive.provisionalKey == key { return true }
        return sha256 != nil && archive.sha256 == sha256
    }
}
