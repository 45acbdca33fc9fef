package import WebArchive

/// How an import is to be done.
package struct ImportOptions: Sendable, Hashable {
    /// Instead of the package's own title.
    package var title: String?
    /// Check all hashes inside the package first, and refuse it for any finding above a notice.
    package var isStrict = false
    /// Instead of one that is made of the file's name.
    package var id: ArchiveID?
    package var tags: [String] = []
    /// The archive whose place the file takes: id, title, tags and notes stay.
    package var replaces: ArchiveID?

    package init(
        title: String? = nil, isStrict: Bool = false, id: ArchiveID? = nil, tags: [String] = [],
        replaces: ArchiveID? = nil
    ) {
        self.title = title
        self.isStrict = isStrict
        self.id = id
        self.tags = tags
        self.replaces = replaces
    }
}

/// What an import is doing right now.
package enum ImportProgress: Sendable, Hashable {
    /// Bytes copied of all, where the size is known.
    case copying(done: UInt64, total: UInt64?)
    /// Bytes of index and page lists read, of all.
    case checking(done: UInt64, total: UInt64)
    /// Bytes read, of all, for a sorted copy of an index that cannot be searched.
    case indexing(done: UInt64, total: UInt64)
    /// Another process is finishing an import or a removal of its own.
    case waiting
}

/// What became of an import.
package struct ImportOutcome: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, Encodable {
        case imported
        /// The store had this very file already; nothing was changed.
        case duplicate
        /// The file took the place of another one, under that one's id.
        case replaced
        /// The store only referred to this file; now it has it.
        case adopted
    }
    package let details: ArchiveDetails
    package let kind: Kind

    package var isDuplicate: Bool { kind == .duplicate }
    package var archive: Archive { details.archive }
    package var findings: [Finding] { details.findings }
}

/// What became of an import of any file.
package enum ImportResult: Sendable, Hashable {
    case archive(ImportOutcome)
    /// The file held several archives.
    case package(MultiWACZOutcome)
}

/// What became of a package of packages: its members, and the collection that they make.
package struct MultiWACZOutcome: Sendable, Hashable {
    package let collection: ArchiveCollection
    package let members: [ImportOutcome]
    /// Whether the store had all of it.
    package let isDuplicate: Bool
    /// What is wrong with the package itself, in words.
    package let remarks: [String]
}

/// How a file comes into the store.
package enum ImportMode: String, Sendable, Hashable, Codable, CaseIterable {
    case copy
    /// The original is deleted once the store has it.
    case move
    /// The file stays where it is.
    case link
}
