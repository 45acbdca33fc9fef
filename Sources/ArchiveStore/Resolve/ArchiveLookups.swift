import WebArchive

/// How the captures of an archive are looked up, as a full reading of its index found out.
package struct ArchiveLookups: Sendable, Hashable {
    /// Where the search goes. Raw values are in the catalog, and stable.
    package enum IndexStrategy: String, Sendable, Hashable, Codable {
        /// In the package's own index.
        case inPlace = "in-place"
        /// In the package's own blocks, through a plain copy of their `.idx`, which the ZIP compresses.
        case idxCopy = "idx-copy"
        /// In a sorted copy of the index, as the package's own cannot be searched or is not there.
        case sortedCopy = "sorted-copy"
        /// Nowhere: the archive has no capture.
        case empty
    }

    package let strategy: IndexStrategy
    /// Why not in place, for people; `nil` when in place.
    package let reason: String?

    package init(strategy: IndexStrategy, reason: String? = nil) {
        self.strategy = strategy
        self.reason = reason
    }

    /// What an inspection of a package leads to.
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

    /// Whether files beside the archive's own are searched.
    package var usesSidecar: Bool { !files.isEmpty }

    /// The files that are searched beside the archive's own.
    var files: [IndexFile] {
        switch strategy {
        case .inPlace, .empty: []
        case .idxCopy: [.idx]
        case .sortedCopy: [.blocks, .idx]
        }
    }
}

/// A file of a ZipNum pair that belongs to an archive.
enum IndexFile: CaseIterable {
    /// The gzipped index, in blocks.
    case blocks
    /// Which key each block begins with.
    case idx

    /// The end of its name, in `files/` and in `incoming/`; what `ZipNumWriter` gives it.
    var suffix: String {
        switch self {
        case .blocks: ".cdx.gz"
        case .idx: ".idx"
        }
    }
}
