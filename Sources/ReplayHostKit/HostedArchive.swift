import ArchiveStore
public import Foundation

/// An archive in the store of a `ReplayHost`.
public struct HostedArchive: Sendable, Hashable, Identifiable {
    /// A readable identifier that is unique in the store: `[a-z0-9-]`, at most 63 characters.
    public let id: String
    /// The title.
    public let title: String
    /// The name of the imported file.
    public let originalName: String
    /// The file's size in bytes.
    public let size: UInt64
    /// The SHA-256 of the file in hex; `nil` until a linked file is hashed.
    public let sha256: String?
    /// The time of the import.
    public let importedAt: Date
    /// The number of pages in the archive's page list.
    public let pageCount: Int
    /// The number of captures in the archive's index.
    public let captureCount: Int
    /// The URL of the page that opens first; `nil` if the archive has no pages.
    public let mainPage: String?
    /// Whether the file can be read now. A linked file can be unavailable.
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

typealias StoreProgress = ImportProgress

extension ReplayHost {
    /// The current step of an import.
    public enum ImportProgress: Sendable, Hashable {
        /// Copying the file; the total may be unknown. In bytes.
        case copying(done: UInt64, total: UInt64?)
        /// Reading index and page lists, in bytes.
        case checking(done: UInt64, total: UInt64)
        /// Writing a sorted copy of an index that can't be searched, in bytes read.
        case indexing(done: UInt64, total: UInt64)
        /// Waiting until another process has finished an import or a removal.
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
