import ArchiveStore
public import Foundation

/// An archive in the store of a `ReplayHost`.
public struct HostedArchive: Sendable, Hashable, Identifiable {
    /// Readable, unique in the store, `[a-z0-9-]`, at most 63 characters.
    public let id: String
    /// What people call it.
    public let title: String
    /// Name of the file that it was imported from.
    public let originalName: String
    /// Of the file, in bytes.
    public let size: UInt64
    /// Of the whole file, in hex; `nil` as long as a file outside of the store is not hashed.
    public let sha256: String?
    /// When it came into the store.
    public let importedAt: Date
    /// Pages that it lists.
    public let pageCount: Int
    /// Lines of its index: what was captured.
    public let captureCount: Int
    /// Where a visit starts, as it was captured; `nil` when the archive names no page.
    public let mainPage: String?
    /// Whether the file can be read now: a file outside of the store can be away.
    public let isAvailable: Bool

    init(_ listed: ListedArchive) {
        self.init(listed.archive, isAvailable: listed.availability == .available)
    }

    init(_ archive: Archive, in store: ArchiveStore) {
        self.init(archive, isAvailable: archive.availability(in: store.layout) == .available)
    }

    private init(_ archive: Archive, isAvailable: Bool) {
        id = archive.id.text
        title = archive.title
        originalName = archive.originalName
        size = archive.size
        sha256 = archive.sha256
        importedAt = archive.importedAt
        pageCount = archive.pageCount
        captureCount = archive.captureCount
        mainPage = archive.mainPageURL
        self.isAvailable = isAvailable
    }
}

/// What the store says of an import.
typealias StoreProgress = ImportProgress

extension ReplayHost {
    /// What an import is doing.
    public enum ImportProgress: Sendable, Hashable {
        /// Bytes copied, of all where that is known.
        case copying(done: UInt64, total: UInt64?)
        /// Bytes of index and page lists read, of all.
        case checking(done: UInt64, total: UInt64)
        /// Bytes read, of all, for a sorted copy of an index that cannot be searched as it is.
        case indexing(done: UInt64, total: UInt64)
        /// Another process is finishing an import or a removal of its own.
        case waiting

        init(_ progress: StoreProgress) {
            switch progress {
            case .copying(let done, let total): self = .copying(done: done, total: total)
            case .checking(let done, let total): self = .checking(done: done, total: total)
            case .indexing(let done, let total): self = .indexing(done: done, total: total)
            case .waiting: self = .waiting
            }
        }
    }
}
