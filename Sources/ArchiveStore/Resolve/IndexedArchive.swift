package import WebArchive

/// An archive opened for lookups.
package struct IndexedArchive: Sendable {
    package internal(set) var archive: Archive
    /// The file, set up to search its own index or the store's index files. If those are damaged, it reads its own
    /// index sequentially, which is slow but has the same result.
    package internal(set) var wacz: WACZFile
    let comparedPayloads = ComparedPayloads()
    /// The memory that it takes, roughly: ZIP entries and resources of 300 bytes, and what lookups keep.
    var byteCount: Int {
        let entryCount = wacz.directory.entries.count + (wacz.dataPackage?.resources.count ?? 0)
        return 16_384 + 300 * entryCount + wacz.keptByteCount
    }

    /// Opens the archive's file, and the index files that its import wrote.
    ///
    /// - Throws: What `WACZFile.open` throws; `StoreError` `unavailable` or `changed` for a linked file.
    static func open(_ archive: Archive, layout: StoreLayout, fault: IndexFault) throws -> IndexedArchive {
        let file = try archive.openFile(in: layout).bytes(named: "\(archive.id).wacz")
        let wacz = try WACZFile.open(file)
        return IndexedArchive(
            archive, archive.showsUncovered ? wacz.showingUncovered() : wacz, layout: layout, fault: fault)
    }

    /// Opens the index files that the import of an open archive wrote. If they are missing or damaged, uses its own index.
    ///
    /// - Parameter fault: What was found to be wrong with these files before.
    init(_ archive: Archive, _ file: WACZFile, layout: StoreLayout, fault: IndexFault = IndexFault()) {
        self.archive = archive
        let own = file.sharing(fault)
        // The index files don't follow the choice to show what the signature doesn't cover.
        guard file.uncoveredEntries.isEmpty else {
            wacz = own
            return
        }
        do throws(WebArchiveError) {
            wacz = try archive.lookups?.open(own, key: archive.key, layout: layout).sharing(fault) ?? own
        } catch {
            // `doctor` rewrites the files.
            wacz = own
        }
    }
}

extension ArchiveLookups {
    /// Returns the file, set up to search the chosen index.
    ///
    /// - Throws: `WebArchiveError` for missing or damaged index files.
    func open(_ wacz: WACZFile, key: String, layout: StoreLayout) throws(WebArchiveError) -> WACZFile {
        switch strategy {
        case .inPlace: return wacz.assumingSorted()
        case .empty: return try wacz.using(indexes: [])
        case .idxCopy:
            return try wacz.using(plainIDX: layout.derivedBytes(.idx, key: key))
        case .sortedCopy:
            let idx = try layout.derivedBytes(.idx, key: key)
            let blocks = try layout.derivedBytes(.blocks, key: key)
            return try wacz.using(indexes: [.zipNum(try ZipNumIndex(idx: idx, blocks: blocks))])
        }
    }
}

extension StoreLayout {
    /// Opens a file that was made from an archive.
    fileprivate func derivedBytes(_ file: DerivedFile, key: String) throws(WebArchiveError) -> FileByteSource {
        let path = derived(file, key: key)
        do {
            return try Descriptor(path: path).bytes()
        } catch let error as WebArchiveError {
            throw error
        } catch {
            throw WebArchiveError(
                code: .io, problem: (error as? StoreError)?.what ?? "\(error)", file: "\(key)\(file.suffix)")
        }
    }
}
