package import WebArchive

/// The options of an import.
package struct ImportOptions: Sendable, Hashable {
    /// A title to use instead of the package's.
    package var title: String?
    /// Whether to check the hashes inside the package, and to refuse the file for any warning or error.
    package var isStrict = false
    /// An id to use instead of one made from the file's name.
    package var id: ArchiveID?
    package var tags: [String] = []
    /// The archive whose file to replace. Its id, title, tags and notes stay.
    package var replaces: ArchiveID?
    /// Whether the text of its pages can be searched, not only titles and URLs.
    package var indexesText = true
    /// The URL that the archive was saved from, which is then its source.
    package var saved: SavedURL?
    /// The expected SHA-256 of the file, in lowercase hex; `nil` for any file. If it's set, WARC files and packages of several archives
    /// are refused. Linking doesn't check it.
    package var sha256: String?

    package init(
        title: String? = nil, isStrict: Bool = false, id: ArchiveID? = nil, tags: [String] = [],
        replaces: ArchiveID? = nil, indexesText: Bool = true, saved: SavedURL? = nil, sha256: String? = nil
    ) {
        self.title = title
        self.isStrict = isStrict
        self.id = id
        self.tags = tags
        self.replaces = replaces
        self.indexesText = indexesText
        self.saved = saved
        self.sha256 = sha256
    }
}

/// The current step of an import.
package enum ImportProgress: Sendable, Hashable {
    /// Copying the file; the total may be unknown. In bytes.
    case copying(done: UInt64, total: UInt64?)
    /// Reading index and page lists, in bytes.
    case checking(done: UInt64, total: UInt64)
    /// Writing a sorted copy of an index that can't be searched, in bytes read.
    case indexing(done: UInt64, total: UInt64)
    /// Waiting until another process has finished an import or a removal.
    case waiting
}

/// The result of importing one archive.
package struct ImportOutcome: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, Encodable {
        case imported
        /// The library already had this file. Nothing was added.
        case duplicate
        /// The file replaced that of an existing archive.
        case replaced
        /// The archive was linked to this file; now the store has a copy.
        case adopted
    }
    package let details: ArchiveDetails
    package let kind: Kind

    package var isDuplicate: Bool { kind == .duplicate }
    package var archive: Archive { details.archive }
    package var findings: [Finding] { details.findings }
}

/// The result of importing a file.
package enum ImportResult: Sendable, Hashable {
    case archive(ImportOutcome)
    /// The file contained several archives.
    case multiWACZ(MultiWACZOutcome)
}

/// The result of importing a multi-WACZ file: its archives and the collection of them.
package struct MultiWACZOutcome: Sendable, Hashable {
    package let collection: ArchiveCollection
    package let members: [ImportOutcome]
    /// Whether the library already had all of it.
    package let isDuplicate: Bool
    /// Problems with the file itself, as messages.
    package let remarks: [String]
}

/// How a file is added to the store.
package enum ImportMode: String, Sendable, Hashable, Codable, CaseIterable {
    case copy
    /// The original is deleted after it was copied.
    case move
    /// The file stays where it is.
    case link
}
