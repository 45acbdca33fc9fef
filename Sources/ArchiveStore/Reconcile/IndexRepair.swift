import WebArchive

/// The result of `prepareLookups`.
package struct LookupsReport: Sendable, Hashable {
    /// Archives that hadn't been prepared for lookups, or whose index files were missing or damaged.
    package var prepared: [ArchiveID] = []
    /// Messages about archives that couldn't be prepared. Each lookup in them reads the whole index.
    package var problems: [String] = []
}

/// Writes index files that are missing or damaged, so that all archives can be searched.
///
/// Reads all index files, and the archives for which it writes new ones.
struct IndexRepair {
    let store: ArchiveStore
    /// Called from time to time; throws to stop.
    let checkCancellation: () throws -> Void
    private var report = LookupsReport()

    init(store: ArchiveStore, checkCancellation: @escaping () throws -> Void) {
        (self.store, self.checkCancellation) = (store, checkCancellation)
    }

    private var layout: StoreLayout { store.layout }

    mutating func run() throws -> LookupsReport {
        for archive in try store.catalog.allArchives() where archive.availability(in: layout) == .available {
            try checkCancellation()
            do {
                if try areLookupsIntact(archive) { continue }
                if try prepare(archive) { report.prepared.append(archive.id) }
            } catch let error as StoreError where error.code != .interrupted {
                report.problems.append("lookups in \"\(archive.id)\" are slow: \(error)")
            }
        }
        return report
    }

    /// Whether the index files of an archive that is being adopted are already in place, from its interrupted import.
    static func hasIndexFiles(
        _ lookups: ArchiveLookups, of examined: ExaminedArchive, key: String, _ layout: StoreLayout
    ) throws -> Bool {
        guard lookups.files.allSatisfy({ Folder.exists(layout.derived($0, key: key)) }) else { return false }
        return try isIntact {
            try lookups.open(examined.wacz, key: key, layout: layout).checkLookups()
        }
    }

    private func areLookupsIntact(_ archive: Archive) throws -> Bool {
        guard let lookups = archive.lookups else { return false }
        guard lookups.usesSidecar else { return true }
        guard lookups.files.allSatisfy({ Folder.exists(layout.derived($0, key: archive.key)) }) else { return false }
        return try Self.isIntact {
            let wacz = try WACZFile.open(archive.openFile(in: layout).bytes(named: "\(archive.id).wacz"))
            try lookups.open(wacz, key: archive.key, layout: layout).checkLookups(progress: checkCancellation)
        }
    }

    /// Whether a check succeeds. An I/O error is thrown.
    private static func isIntact(_ check: () throws -> Void) throws -> Bool {
        do {
            try check()
            return true
        } catch let error as WebArchiveError {
            if error.code == .io { throw StoreError.refused(error) }
            return false
        }
    }

    /// Reads an archive and writes its index files; `false` if it was removed meanwhile.
    private func prepare(_ archive: Archive) throws -> Bool {
        let examined = try ExaminedArchive(
            reading: archive.openFile(in: layout).bytes(named: "\(archive.id).wacz")
        ) { _, _ in
            try checkCancellation()
        }
        return try layout.withStagingFile { owner in
            let index = try IncomingIndex(for: examined, key: archive.key, owner: owner, layout: layout) { _, _ in
                try checkCancellation()
            }
            return try store.committing(checkCancellation: checkCancellation) {
                guard try store.catalog.archive(key: archive.key) != nil, archive.availability(in: layout) == .available
                else { return false }
                try index.move()
                try store.catalog.setLookups(index.lookups, key: archive.key)
                store.openArchives.forget(key: archive.key)
                return true
            }
        }
    }
}
