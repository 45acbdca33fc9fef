package import WebArchive

/// An archive with its package opened for lookups, in whatever files these are to be made.
package struct IndexedArchive: Sendable {
    package internal(set) var archive: Archive
    /// Searches the package's own index or the files beside it. When those turn out to be damaged, it reads the package's
    /// own index from its start instead, which is slow and finds the same.
    package let wacz: WACZFile
    /// Whether every line of what is searched is known to be in order: to be passed on with each lookup.
    package let assumesSorted: Bool
    /// What it costs to keep it open: the ZIP's entries and the files that the package lists.
    var entryCount: Int { wacz.directory.entries.count + (wacz.dataPackage?.resources.count ?? 0) }

    /// Opens the archive's file, and the index files that its import wrote.
    ///
    /// - Parameter fault: What was found to be wrong with these files before.
    /// - Throws: What `WACZFile.open` throws; `StoreError` `unavailable` or `changed` for a linked file. Missing or damaged
    ///   index files are no error.
    static func open(_ archive: Archive, layout: StoreLayout, fault: IndexFault) throws -> IndexedArchive {
        let name = "\(archive.id).wacz"
        let file =
            archive.storage.isLinked
            ? try archive.openFile(in: layout).bytes(named: name)
            : try FileByteSource(path: archive.path(in: layout), name: name)
        let wacz = try WACZFile.open(file).sharing(fault)
        guard let lookups = archive.lookups else {
            return IndexedArchive(archive: archive, wacz: wacz, assumesSorted: false)
        }
        do throws(WebArchiveError) {
            let searched = try lookups.open(wacz, key: archive.key, layout: layout).sharing(fault)
            return IndexedArchive(archive: archive, wacz: searched, assumesSorted: true)
        } catch {
            // The package itself has the same captures; `doctor` writes the files anew.
            return IndexedArchive(archive: archive, wacz: wacz, assumesSorted: false)
        }
    }
}

extension ArchiveLookups {
    /// The package, searched the way this says.
    ///
    /// - Throws: What `WACZFile.using` throws, for files that are missing or damaged.
    func open(_ wacz: WACZFile, key: String, layout: StoreLayout) throws(WebArchiveError) -> WACZFile {
        switch strategy {
        case .inPlace: return wacz
        case .empty: return try wacz.using(indexes: [])
        case .idxCopy:
            let idx = try FileByteSource(path: layout.index(.idx, key: key))
            return try wacz.using(plainIDX: idx)
        case .sortedCopy:
            let idx = try FileByteSource(path: layout.index(.idx, key: key))
            let blocks = try FileByteSource(path: layout.index(.blocks, key: key))
            return try wacz.using(indexes: [.zipNum(try ZipNumIndex(idx: idx, blocks: blocks))])
        }
    }
}
