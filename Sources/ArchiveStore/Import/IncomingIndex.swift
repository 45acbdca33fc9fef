import Foundation
import WebArchive

/// Index files for an archive that is being imported. They are deleted unless they were moved.
///
/// They are in `incoming/`, named after a locked file there, their owner. `repair` deletes them when the owner is
/// abandoned.
final class IncomingIndex {
    let lookups: ArchiveLookups
    private let layout: StoreLayout
    let key: String
    /// The path of the files without their suffixes.
    private let stem: String

    /// Writes the index files that the archive needs; none if it can be searched in place.
    ///
    /// - Parameters:
    ///   - key: The archive's key, which names the files in `files/`.
    ///   - owner: A locked file in `incoming/`.
    ///   - progress: Called with the bytes of the index that were read, and their total; throws to stop.
    /// - Throws: `StoreError`: `noSpace`, `failed`, `refused`; what `progress` throws.
    init(
        for examined: ExaminedArchive, key: String, owner: Descriptor, layout: StoreLayout,
        progress: (_ done: UInt64, _ total: UInt64) throws -> Void
    ) throws {
        lookups = ArchiveLookups(examined)
        self.layout = layout
        self.key = key
        stem = owner.path
        switch lookups.strategy {
        case .inPlace, .empty: return
        case .idxCopy: try copyIDX(of: examined.wacz)
        case .sortedCopy: try sort(examined, progress)
        }
        for file in lookups.files {
            try Descriptor(path: stem + file.suffix, flags: O_RDONLY).synchronize()
        }
    }

    deinit {
        for file in DerivedFile.allCases { unlink(stem + file.suffix) }
    }

    /// Moves the files into `files/`, and deletes those there that the archive doesn't need.
    ///
    /// Call this before moving the archive's file, so that the file is never without its index.
    func move() throws(StoreError) {
        for file in DerivedFile.allCases where file.isOfIndex {
            if lookups.files.contains(file) {
                try Folder.move(stem + file.suffix, to: layout.derived(file, key: key))
            } else {
                try Folder.delete(layout.derived(file, key: key))
            }
        }
    }

    private func copyIDX(of wacz: WACZFile) throws {
        guard let entry = wacz.compressedIDX else { return }
        try layout.checkSpace(for: entry.uncompressedSize, what: "a copy of \(entry.name)")
        let target = try Descriptor(path: stem + DerivedFile.idx.suffix, flags: O_WRONLY | O_CREAT | O_EXCL)
        do {
            let allowance = Allowance(archiveSize: entry.compressedSize)
            try wacz.directory.stream(of: entry, allowance).forEachChunk {
                try target.append($0)
                return true
            }
        } catch let error as WebArchiveError {
            throw StoreError.refused(error)
        }
    }

    private func sort(
        _ examined: ExaminedArchive, _ progress: (_ done: UInt64, _ total: UInt64) throws -> Void
    ) throws {
        let needed = UInt64(examined.inspection.captureCount) * Self.bytesPerCapture
        try layout.checkSpace(for: needed, what: "the sorted index")
        let wacz = examined.wacz
        let read = wacz.indexEntries.isEmpty ? wacz.warcEntries : wacz.indexEntries
        let total = read.uncompressedSize
        let name = String(stem.dropFirst(layout.incoming.count + 1))
        do {
            _ = try ZipNumWriter.write(
                from: wacz, to: layout.incoming, stem: name, blocksName: key + DerivedFile.blocks.suffix
            ) { try progress(min($0, total), total) }
        } catch let error as WebArchiveError {
            throw StoreError.refused(error)
        }
    }

    /// Space for a capture: its line in a sorted run, again in a merged run, and compressed in its block.
    private static let bytesPerCapture: UInt64 = 1024
}
