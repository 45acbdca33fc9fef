import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What `repair` found and did.
package struct RepairReport: Sendable, Hashable {
    /// Copies that a stopped import left in `incoming/`, deleted.
    package var sweptCopies = 0
    /// Removals that were stopped half way, completed.
    package var completedRemovals: [String] = []
    /// Archives whose import was stopped after their file was in place, now in the catalog.
    package var adopted: [ArchiveID] = []
    /// Sidecars and index files without an archive, and index files that their archive does not need, deleted.
    package var sweptSidecars = 0
    /// What could not be put right, in words.
    package var problems: [String] = []

    package var changedAnything: Bool {
        sweptCopies + sweptSidecars + completedRemovals.count + adopted.count > 0
    }
}

extension ArchiveStore {
    /// Completes or undoes what killed processes left half done. Runs at each start that may write; cheap when all is well.
    @discardableResult
    package func repair() throws -> RepairReport {
        let lock = try lockForCommit()
        defer { withExtendedLifetime(lock) {} }
        var report = RepairReport()
        try sweepIncoming(&report)
        try settleFiles(&report)
        return report
    }

    private func sweepIncoming(_ report: inout RepairReport) throws {
        for name in try Folder.names(in: layout.incoming) {
            do {
                try sweep(name, &report)
            } catch {
                report.problems.append("incoming/\(name) cannot be cleaned up: \(error)")
            }
        }
    }

    private func sweep(_ name: String, _ report: inout RepairReport) throws {
        let path = "\(layout.incoming)/\(name)"
        let key = String(name.dropFirst(StoreLayout.removedPrefix.count))
        if name.hasPrefix(StoreLayout.removedPrefix), StoreLayout.isKey(key) {
            if Folder.exists(layout.file(key)) {
                // The same file was imported again after the removal was stopped: only the old one goes.
                try Folder.delete(path)
            } else {
                try finishRemoval(key: key)
            }
            report.completedRemovals.append(key)
        } else if name.hasPrefix(StoreLayout.copyPrefix), try deleteAbandoned(path, owner: owner(of: path)) {
            report.sweptCopies += 1
        }
    }

    /// The copy that an index file or a run of its sorting is named for: the path up to the first dot of the name.
    private func owner(of path: String) -> String {
        let name = path.dropFirst(layout.incoming.count)
        return layout.incoming + (name.split(separator: ".", maxSplits: 1).first ?? name)
    }

    /// Deletes a copy that no living process holds, or a file that such a copy owns; the lock is ours until it is gone, so that
    /// nobody takes it up meanwhile.
    private func deleteAbandoned(_ path: String, owner: String) throws -> Bool {
        if owner != path, !Folder.exists(owner) {
            try Folder.delete(path)
            return true
        }
        guard let copy = try Self.open(copy: owner) else { return false }
        let status = try copy.status()
        let isOld = time(nil) - status.changedAtSeconds > Self.abandonedAfterSeconds
        switch copy.lock() {
        case .heldByAnother: return false
        case .unsupported where !isOld: return false
        case .taken, .unsupported: break
        }
        try Folder.delete(path)
        return true
    }

    /// `nil` for a copy that was renamed into place a moment ago.
    private static func open(copy path: String) throws -> Descriptor? {
        var result = Result { try Descriptor(path: path, flags: O_RDWR | O_NONBLOCK) }
        if case .failure(let error as StoreError) = result, error.code == .unusable {
            // Made read-only just before its rename; when its process died there, its lock is free.
            result = Result { try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK) }
        }
        if case .failure(let error as StoreError) = result, [.notFound, .unusable].contains(error.code) { return nil }
        return try result.get()
    }

    /// Where there are no locks, a copy that nobody has touched for so long is nobody's.
    private static let abandonedAfterSeconds = 24 * 3600

    private func settleFiles(_ report: inout RepairReport) throws {
        let names = try Folder.names(in: layout.files)
        let files = Set(Self.keys(of: names, ending: StoreLayout.fileSuffix))
        let archives = try catalog.allArchives()
        let known = Set(archives.map(\.key))
        for name in names where name.hasSuffix(StoreLayout.sidecarSuffix + ".new") {
            try Folder.delete("\(layout.files)/\(name)")
            report.sweptSidecars += 1
        }
        for key in Self.keys(of: names, ending: StoreLayout.sidecarSuffix)
        where !files.contains(key) && !known.contains(key) {
            try Folder.delete(layout.sidecar(key))
            report.sweptSidecars += 1
        }
        try sweepIndexFiles(names, archives, files: files, &report)
        for name in names where name.hasSuffix(StoreLayout.fileSuffix) && !files.contains(String(name.dropLast(5))) {
            report.problems.append("files/\(name) is not named for a SHA-256; import it and delete it there")
        }
        for key in files.subtracting(known).sorted() {
            do {
                report.adopted.append(try adopt(key: key, &report))
            } catch {
                report.problems.append("files/\(key).wacz is not in the catalog and cannot be entered: \(error)")
            }
        }
        for key in known.subtracting(files).sorted() {
            let id = try catalog.archive(key: key)?.id.text ?? key
            report.problems.append(
                "the file of \"\(id)\" is missing (files/\(key).wacz); import it again, or remove \(id)")
        }
    }

    /// Those of an archive of which it is not known what it needs may be what it needs, and stay.
    private func sweepIndexFiles(
        _ names: [String], _ archives: [Archive], files: Set<String>, _ report: inout RepairReport
    ) throws {
        let known = Dictionary(uniqueKeysWithValues: archives.map { ($0.key, $0.lookups) })
        for file in IndexFile.allCases {
            for key in Self.keys(of: names, ending: file.suffix) {
                let isNeeded = known[key].map { $0?.files.contains(file) ?? true } ?? files.contains(key)
                if isNeeded { continue }
                try Folder.delete(layout.index(file, key: key))
                report.sweptSidecars += 1
            }
        }
    }

    private static func keys(of names: [String], ending: String) -> [String] {
        names.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }.filter(StoreLayout.isKey)
    }

    /// Enters a file that an interrupted import left in place. Its name is its hash, taken before it was put there.
    private func adopt(key: String, _ report: inout RepairReport) throws -> ArchiveID {
        let path = layout.file(key)
        let sidecarPath = layout.sidecar(key)
        let saved = Folder.exists(sidecarPath) ? try Sidecar.read(at: sidecarPath) : nil
        let name = saved?.originalName ?? "\(key.prefix(12)).wacz"
        let examined = try examine(path, name: name, options: ImportOptions()) { _, _ in }
        let wanted = saved.flatMap { ArchiveID($0.id) }
        let id: ArchiveID
        if let wanted, try catalog.archive(id: wanted) == nil {
            id = wanted
        } else {
            id = try ArchiveID.readable(from: Self.stem(of: name)) { try catalog.archive(id: $0) == nil }
        }
        var sidecar =
            saved
            ?? Sidecar(
                id: id.text, title: examined.title ?? Self.stem(of: name), originalName: name,
                source: "found in the store",
                importedAt: RFC3339.text(of: Date()))
        if sidecar.id != id.text || saved == nil {
            sidecar.id = id.text
            try sidecar.write(to: sidecarPath)
        }
        let size = UInt64(clamping: try Descriptor(path: path, flags: O_RDONLY).status().st_size)
        let lookups = adoptIndex(of: examined, id: id, key: key, &report)
        return try catalogue(examined, lookups: lookups, sidecar: sidecar, id: id, sha256: key, size: size).id
    }

    /// Takes over the index files that the import left, or writes them; `nil` when that fails, which no archive is refused for.
    private func adoptIndex(
        of examined: ExaminedArchive, id: ArchiveID, key: String, _ report: inout RepairReport
    ) -> ArchiveLookups? {
        do {
            let lookups = ArchiveLookups(examined)
            if try hasIndexFiles(lookups, of: examined, key: key) { return lookups }
            let owner = try layout.makeLockedFile()
            defer { withExtendedLifetime(owner) { _ = unlink(owner.path) } }
            let index = try IncomingIndex(for: examined, key: key, owner: owner, layout: layout) { _, _ in }
            try index.move()
            return index.lookups
        } catch {
            report.problems.append("captures of \"\(id)\" are looked up slowly: \(error)")
            return nil
        }
    }
}

extension stat {
    /// Time of the last change, contents or not, in seconds since 1970.
    fileprivate var changedAtSeconds: Int {
        #if os(Linux)
        st_ctim.tv_sec
        #else
        st_ctimespec.tv_sec
        #endif
    }
}
