import WebArchive

/// How the captures of an archive are looked up, determined by reading its whole index.
package struct ArchiveLookups: Sendable, Hashable {
    /// The index to search. Raw values are stored in the catalog.
    package enum IndexStrategy: String, Sendable, Hashable, Codable {
        /// The index in the archive.
        case inPlace = "in-place"
        /// The index in the archive, with an uncompressed copy of its `.idx`.
        case idxCopy = "idx-copy"
        /// A sorted copy, because the archive has no index that can be searched.
        case sortedCopy = "sorted-copy"
        /// None: the archive has no captures.
        case empty
    }

    package let strategy: IndexStrategy
    /// Why the index can't be searched in place, for people; `nil` if it can.
    package let reason: String?

    package init(strategy: IndexStrategy, reason: String? = nil) {
        self.strategy = strategy
        self.reason = reason
    }

    /// Chooses the strategy for an examined archive.
    init(_ examined: ExaminedArchive) {
        let (wacz, inspection) = (examined.wacz, examined.inspection)
        if inspection.captureCount == 0 {
            self.init(strategy: .empty)
        } else if let reason = inspection.sequentialReason {
            self.init(strategy: .sortedCopy, reason: reason.description)
        } else if let idx = wacz.compressedIDX {
            self.init(strategy: .idxCopy, reason: "\(idx.name): the ZIP compresses the .idx")
        } else {
            self.init(strategy: .inPlace)
        }
    }

    /// Whether lookups use index files in the store.
    package var usesSidecar: Bool { !files.isEmpty }

    /// The index files in the store that lookups use.
    var files: [DerivedFile] {
        switch strategy {
        case .inPlace, .empty: []
        case .idxCopy: [.idx]
        case .sortedCopy: [.blocks, .idx]
        }
    }
}

/// A file in `files/` that is made from an archive. It's deleted with the archive.
enum DerivedFile: CaseIterable {
    /// The gzipped index, in blocks.
    case blocks
    /// The first key of each block.
    case idx
    /// What the index lists, counted; see `IndexCounts`. Made on demand.
    case counts
    /// The last verification; see `VerificationReport`.
    case verified
    /// How far the current verification is.
    case verifying

    /// The suffix of its name in `files/` and `incoming/`; for the ZipNum pair, as in `ZipNumWriter`.
    var suffix: String {
        switch self {
        case .blocks: ".cdx.gz"
        case .idx: ".idx"
        case .counts: ".counts.json"
        case .verified: ".verified.json"
        case .verifying: ".verifying.json"
        }
    }

    /// Whether it's made from the index, so that it changes with it.
    var isOfIndex: Bool { [.blocks, .idx, .counts].contains(self) }
    /// Whether lookups use it.
    var isForLookups: Bool { [.blocks, .idx].contains(self) }
}
