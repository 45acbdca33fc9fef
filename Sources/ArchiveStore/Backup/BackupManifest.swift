/// `backup.json`: the archives and collections of a backup, with their metadata.
///
/// It is replaced atomically once all of its files are in place. Until then the previous backup is valid.
package struct BackupManifest: Codable, Hashable {
    /// An archive of the backup.
    struct Entry: Codable, Hashable {
        /// The archive's key in its store.
        var key: String
        /// The file's size in bytes.
        var size: UInt64
        /// The name of the file in the backup; `nil` for a linked file that the backup doesn't have.
        var sha256: String?
        /// The sidecar as it was in the store.
        var sidecar: Sidecar
    }

    var format = Self.formatWritten
    /// The time of the snapshot. RFC 3339, UTC, with microseconds.
    var madeAt: String
    /// In import order.
    var archives: [Entry]
    var collections: [CollectionDocument]
    /// The ports that were ever assigned; `nil` in a backup of an earlier version.
    var ports: PortLedger?

    static let formatWritten = 2
    private static let formatsKnown = 1...2
    /// Enough for about a million archives.
    private static let bytesMax = 1 << 30

    /// The SHA-256 hashes of the files that the backup needs.
    var hashes: Set<String> { Set(archives.compactMap(\.sha256)) }

    /// - Throws: `StoreError`: `notFound`, `unusable` for an unknown format, `documentDamaged`.
    package static func read(at path: String) throws -> BackupManifest {
        let format = try StoreDocument.read(Head.self, at: path, bytesMax: bytesMax).format
        guard formatsKnown.contains(format) else {
            throw StoreError(
                .unusable, "this backup has format \(format); this version reads formats up to \(formatWritten)",
                place: path,
                hint: "use the version of replayhost that wrote it; nothing was changed")
        }
        let manifest = try StoreDocument.read(BackupManifest.self, at: path, bytesMax: bytesMax)
        try manifest.check(at: path)
        return manifest
    }

    /// Writes the manifest atomically.
    package func write(to path: String) throws {
        try StoreDocument.write(self, to: path, bytesMax: Self.bytesMax)
    }

    /// The part that all formats have in common.
    private struct Head: Decodable {
        let format: Int
    }

    /// Checks keys and ids, because they become paths and URLs.
    private func check(at path: String) throws {
        var (keys, ids): (Set<String>, Set<ArchiveID>) = ([], [])
        for entry in archives {
            let sidecar = try entry.sidecar.checked(at: path)
            guard let id = ArchiveID(sidecar.id), ids.insert(id).inserted, keys.insert(entry.key).inserted,
                entry.isPlausible
            else { throw Self.invalid("the archive \"\(sidecar.id)\"", at: path) }
        }
        for document in collections {
            guard ids.insert(try document.collection(at: path).id).inserted else {
                throw Self.invalid("the collection \"\(document.id)\"", at: path)
            }
        }
    }

    private static func invalid(_ item: String, at path: String) -> StoreError {
        StoreError(
            .documentDamaged, "the backup has an invalid entry for \(item)", place: path, hint: manualRestoreHint)
    }

    /// What to do without a usable manifest.
    static let manualRestoreHint = "the archives are in the folder files next to it; you can import them one by one"
}

extension BackupManifest {
    private enum CodingKeys: String, CodingKey {
        case format, madeAt, archives, collections, groups, ports
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        format = try container.decode(Int.self, forKey: .format)
        madeAt = try container.decode(String.self, forKey: .madeAt)
        archives = try container.decode([Entry].self, forKey: .archives)
        // Format 1, of version 0.1.0, called them groups.
        collections = try container.decode([CollectionDocument].self, forKey: format == 1 ? .groups : .collections)
        ports = try container.decodeIfPresent(PortLedger.self, forKey: .ports)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.formatWritten, forKey: .format)
        try container.encode(madeAt, forKey: .madeAt)
        try container.encode(archives, forKey: .archives)
        try container.encode(collections, forKey: .collections)
        try container.encodeIfPresent(ports, forKey: .ports)
    }
}

extension BackupManifest.Entry {
    /// Whether key and hash are well-formed and match, and the size is possible.
    fileprivate var isPlausible: Bool {
        let hasHash = sha256.map { StoreLayout.isKey($0) && Sidecar.hash(inKey: $0) != nil } ?? true
        return StoreLayout.isKey(key) && hasHash && size <= UInt64(Int64.max)
            && (sidecar.storage.isLinked || sha256 == key)
    }
}

extension BackupManifest.Entry {
    /// Whether this entry describes an archive of a store, even if that was hashed or adopted since.
    func isSame(as archive: Archive) -> Bool {
        guard archive.id.text == sidecar.id else { return false }
        if archive.key == key || archive.provisionalKey == key { return true }
        return sha256 != nil && archive.sha256 == sha256
    }
}
