import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Makes the catalog say what `files/` and `groups/` say.
extension ArchiveStore {
    /// What lies in `files/`.
    struct Shelf {
        let names: [String]
        /// Keys of archives that the store has the file of.
        let files: Set<String>
        /// Keys that have a sidecar.
        let sidecars: Set<String>

        init(_ layout: StoreLayout) throws {
            names = try Folder.names(in: layout.files)
            files = Set(Self.keys(of: names, ending: StoreLayout.fileSuffix))
            sidecars = Set(Self.keys(of: names, ending: StoreLayout.sidecarSuffix))
        }

        static func keys(of names: [String], ending: String) -> [String] {
            names.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }.filter(StoreLayout.isKey)
        }
    }

    /// Under the commit lock only.
    func settle(_ report: inout RepairReport, readsAll: Bool = false) throws {
        let shelf = try Shelf(layout)
        for name in shelf.names where name.hasSuffix(StoreDocument.temporarySuffix) {
            try Folder.delete("\(layout.files)/\(name)")
            report.sweptSidecars += 1
        }
        for name in shelf.names
        where name.hasSuffix(StoreLayout.fileSuffix) && !shelf.files.contains(String(name.dropLast(5))) {
            report.problems.append("files/\(name) is not named for a SHA-256; import it and delete it there")
        }
        try settleKnown(shelf, readsAll: readsAll, &report)
        let referenced = try settleSidecars(shelf, &report)
        let known = Set(try catalog.sidecarStamps().keys)
        // Those that replace another one say so in their sidecars: in which order they are entered does not matter.
        for key in shelf.files.union(referenced).subtracting(known).sorted() {
            do {
                if let id = try adopt(key: key, &report) { report.adopted.append(id) }
            } catch let error as StoreError where [.catalogDamaged, .noSpace].contains(error.code) {
                throw error
            } catch {
                report.problems.append("files/\(key) is not in the catalog and cannot be entered: \(error)")
            }
        }
        try sweepIndexFiles(shelf, &report)
        try examineThoseThatCameBack(&report)
        try settleGroups(readsAll: readsAll, &report)
    }

    /// Archives that the catalog has: their sidecars may be newer, or gone.
    private func settleKnown(_ shelf: Shelf, readsAll: Bool, _ report: inout RepairReport) throws {
        for (key, stamp) in try catalog.sidecarStamps().sorted(by: { $0.key < $1.key }) {
            let path = layout.sidecar(key)
            let found = StoreDocument.stamp(of: path)
            if found == nil || found != stamp || readsAll {
                try settleSidecar(of: key, at: path, known: stamp, &report)
            }
            guard !shelf.files.contains(key), let archive = try catalog.archive(key: key), archive.reference == nil
            else {
                continue
            }
            report.problems.append(
                "the file of \"\(archive.id)\" is missing (files/\(key).wacz); import it again, or remove \(archive.id)"
            )
        }
    }

    /// - Parameter known: Which version of it the catalog agrees with.
    private func settleSidecar(of key: String, at path: String, known: String?, _ report: inout RepairReport) throws {
        guard var archive = try catalog.archive(key: key) else { return }
        let saved: Sidecar
        do {
            saved = try Sidecar.read(at: path)
        } catch let error as StoreError where error.code == .notFound || error.isDamagedDocument {
            // The catalog is the copy that is left.
            try Sidecar(archive).write(to: path)
            try catalog.update(archive, sidecarStamp: StoreDocument.stamp(of: path))
            report.restoredSidecars.append(archive.id)
            return
        } catch {
            report.problems.append("\(error)")
            return
        }
        let before = archive
        saved.apply(to: &archive)
        // Stopped between the file and its sidecar: the file is here.
        if archive.reference != nil, Folder.exists(layout.file(key)) {
            archive.reference = nil
            try Sidecar(archive).write(to: path)
        }
        let now = StoreDocument.stamp(of: path)
        guard archive != before || now != known else { return }
        try catalog.update(archive, sidecarStamp: now)
        if archive != before { report.updated.append(archive.id) }
    }

    /// Sidecars that the catalog does not have: those of referenced files are archives, others without a file are leftovers.
    ///
    /// - Returns: Keys of referenced files.
    private func settleSidecars(_ shelf: Shelf, _ report: inout RepairReport) throws -> Set<String> {
        let known = Set(try catalog.sidecarStamps().keys)
        var referenced: Set<String> = []
        for key in shelf.sidecars.subtracting(known).subtracting(shelf.files).sorted() {
            do {
                if try Sidecar.read(at: layout.sidecar(key)).reference == nil {
                    try Folder.delete(layout.sidecar(key))
                    report.sweptSidecars += 1
                } else {
                    referenced.insert(key)
                }
            } catch let error as StoreError where error.isDamagedDocument && !key.hasPrefix(StoreLayout.referencePrefix)
            {
                try Folder.delete(layout.sidecar(key))
                report.sweptSidecars += 1
            } catch {
                report.problems.append("files/\(key).json belongs to a file elsewhere, and cannot be read: \(error)")
            }
        }
        return referenced
    }

    /// Those of an archive of which it is not known what it needs may be what it needs, and stay.
    private func sweepIndexFiles(_ shelf: Shelf, _ report: inout RepairReport) throws {
        var needed: [String: [IndexFile]?] = [:]
        for archive in try catalog.allArchives() { needed[archive.key] = .some(archive.lookups?.files) }
        for file in IndexFile.allCases {
            for key in Shelf.keys(of: shelf.names, ending: file.suffix)
            where Folder.exists(layout.index(file, key: key)) {
                let isNeeded = needed[key].map { $0?.contains(file) ?? true } ?? shelf.files.contains(key)
                if isNeeded { continue }
                try Folder.delete(layout.index(file, key: key))
                report.sweptSidecars += 1
            }
        }
    }

    /// Enters what lies in `files/` and is not in the catalog: a file, named for its hash, or the sidecar of a file elsewhere.
    ///
    /// - Returns: `nil` for one whose place another archive has taken: that is cleared away.
    private func adopt(key: String, _ report: inout RepairReport) throws -> ArchiveID? {
        let saved = try savedWords(key, &report)
        let holder = try saved.flatMap { ArchiveID($0.id) }.flatMap { try catalog.archive(id: $0) }
        var superseded: Archive?
        if let saved, let holder {
            let other = try? Sidecar.read(at: layout.sidecar(holder.key))
            if other?.supersededKeys.contains(key) == true {
                if other?.provisionalKey == key { try finishRekeying(holder, from: key) }
                try clearSuperseded(key: key)
                return nil
            }
            if saved.provisionalKey == holder.key {
                // Hashed, and stopped before the catalog knew.
                var hashed = holder.rekeyed(key)
                saved.apply(to: &hashed)
                try finishRekeying(hashed, from: holder.key)
                return holder.id
            }
            if saved.replaces == holder.key { superseded = holder }
        }
        return try enter(key: key, saved: saved, superseded: superseded, &report)
    }

    /// The sidecar of an archive that is being entered; a damaged one is put aside.
    private func savedWords(_ key: String, _ report: inout RepairReport) throws -> Sidecar? {
        let path = layout.sidecar(key)
        do {
            return try Sidecar.read(at: path)
        } catch let error as StoreError where error.code == .notFound {
            return nil
        } catch let error as StoreError where error.isDamagedDocument {
            try Folder.move(path, to: path + ".damaged")
            report.problems.append(
                "files/\(key).json was damaged: title, tags and notes of its archive are lost; it is kept as \(key).json.damaged"
            )
            return nil
        }
    }

    private func enter(
        key: String, saved: Sidecar?, superseded: Archive?, _ report: inout RepairReport
    ) throws -> ArchiveID {
        let hasFile = Folder.exists(layout.file(key))
        let name = saved?.originalName ?? "\(key.prefix(12)).wacz"
        let id = try id(for: saved, name: name, superseded: superseded)
        let path = hasFile ? layout.file(key) : saved?.reference?.path ?? layout.file(key)
        if !hasFile, let away = saved?.archive(key: key, id: id), away.availability(in: layout) != .here {
            try enterWithoutReading(away, superseded: superseded)
            return id
        }
        let examined = try examine(path, name: name, options: ImportOptions()) { _, _ in }
        let title = saved?.title ?? examined.title ?? Self.stem(of: name)
        let origin = ExaminedArchive.Origin(name: name, source: saved?.source ?? "found in the store")
        let hash = hasFile ? key : saved?.sha256 ?? Sidecar.hash(inKey: key)
        var archive = examined.archive(key: key, id: id, sha256: hash, title: title, origin: origin)
        saved?.apply(to: &archive)
        if hasFile {
            (archive.reference, archive.provisionalKey, archive.sha256) = (nil, nil, key)
        }
        archive.lookups = adoptIndex(of: examined, id: id, key: key, &report)
        // Written anew only for what it does not say yet: a sidecar is the truth.
        if saved == nil || saved?.id != id.text || (hasFile && saved?.reference != nil) {
            try Sidecar(archive, replaces: saved?.replaces).write(to: layout.sidecar(key))
        }
        try catalogue(archive, examined, replacing: superseded?.key)
        if let superseded { try clearSuperseded(key: superseded.key) }
        try jobs.queueHashing(of: archive)
        return id
    }

    private func id(for saved: Sidecar?, name: String, superseded: Archive?) throws -> ArchiveID {
        if let superseded { return superseded.id }
        if let wanted = saved.flatMap({ ArchiveID($0.id) }), try catalog.isFree(wanted) { return wanted }
        return try ArchiveID.readable(from: Self.stem(of: name)) { try catalog.isFree($0) }
    }

    /// Enters a file that is away, from what its sidecar kept of it.
    private func enterWithoutReading(_ archive: Archive, superseded: Archive?) throws {
        try catalog.add(
            archive, sidecarStamp: StoreDocument.stamp(of: layout.sidecar(archive.key)), findings: [],
            replacing: [archive.key, superseded?.key].compactMap { $0 }
        ) { _ in }
        if let superseded { try clearSuperseded(key: superseded.key) }
        try jobs.queueHashing(of: archive)
    }

    /// Reads the pages of referenced files that were away when the catalog was made anew.
    private func examineThoseThatCameBack(_ report: inout RepairReport) throws {
        for archive in try catalog.allArchives() where !archive.isExamined {
            guard archive.availability(in: layout) == .here else { continue }
            do {
                let path = archive.path(in: layout)
                let examined = try examine(path, name: archive.originalName, options: ImportOptions()) { _, _ in }
                var read = examined.archive(
                    key: archive.key, id: archive.id, sha256: archive.sha256, title: archive.title,
                    origin: ExaminedArchive.Origin(name: archive.originalName, source: archive.source))
                try Sidecar.read(at: layout.sidecar(archive.key)).apply(to: &read)
                read.lookups = adoptIndex(of: examined, id: archive.id, key: archive.key, &report)
                try catalogue(read, examined)
                report.examined.append(archive.id)
            } catch {
                report.problems.append("the file of \"\(archive.id)\" is back, but cannot be read: \(error)")
            }
        }
    }

    /// Takes over the index files that the import left, or writes them; `nil` when that fails, which no archive is refused for.
    private func adoptIndex(
        of examined: ExaminedArchive, id: ArchiveID, key: String, _ report: inout RepairReport
    ) -> ArchiveLookups? {
        do {
            let lookups = ArchiveLookups(examined)
            if try hasIndexFiles(lookups, of: examined, key: key) { return lookups }
            return try layout.withStagingFile { owner in
                let index = try IncomingIndex(for: examined, key: key, owner: owner, layout: layout) { _, _ in }
                try index.move()
                return index.lookups
            }
        } catch {
            report.problems.append("captures of \"\(id)\" are looked up slowly: \(error)")
            return nil
        }
    }
}

/// Groups: their documents are the truth.
extension ArchiveStore {
    private func settleGroups(readsAll: Bool, _ report: inout RepairReport) throws {
        let stamps = try collections.stamps()
        var found: Set<String> = []
        for name in try Folder.names(in: layout.groups) {
            let path = "\(layout.groups)/\(name)"
            if name.hasSuffix(StoreDocument.temporarySuffix) {
                try Folder.delete(path)
                report.sweptSidecars += 1
            } else if name.hasSuffix(StoreLayout.sidecarSuffix), let id = ArchiveID(name.dropLast(5)) {
                found.insert(id.text)
                let isKnown = stamps[id.text] != nil && stamps[id.text] == StoreDocument.stamp(of: path)
                if isKnown && !readsAll { continue }
                try settleGroup(id, at: path, isKnown: isKnown, &report)
            }
        }
        for name in stamps.keys.sorted() where !found.contains(name) {
            guard let id = ArchiveID(name) else { continue }
            try collections.forget(id)
            report.updated.append(id)
        }
        try dropLostMembers(&report)
    }

    private func settleGroup(
        _ id: ArchiveID, at path: String, isKnown: Bool, _ report: inout RepairReport
    ) throws {
        do {
            let group = try StoreDocument.read(GroupDocument.self, at: path).group(at: path)
            guard group.id == id, try catalog.archive(id: id) == nil else {
                report.problems.append("groups/\(id).json: the id \"\(group.id)\" belongs to something else")
                return
            }
            let before = try collections.group(id: id)
            if isKnown && before == group { return }
            try collections.put(group, documentStamp: StoreDocument.stamp(of: path))
            if before != group { report.updated.append(id) }
        } catch let error as StoreError where error.isDamagedDocument {
            // The catalog is the copy that is left.
            guard let group = try collections.group(id: id) else {
                report.problems.append("groups/\(id).json cannot be read: \(error)")
                return
            }
            try collections.save(group)
            report.restoredSidecars.append(id)
        }
    }

    /// A later archive must not get into a group by taking the id of one that is gone.
    private func dropLostMembers(_ report: inout RepairReport) throws {
        // What could not be entered may be what is missing.
        guard report.problems.isEmpty else { return }
        for var group in try collections.all() {
            let members = try collections.members(of: group).map(\.id)
            guard members != group.members else { continue }
            group.members = members
            try collections.save(group)
            report.updated.append(group.id)
        }
    }
}

extension StoreError {
    /// Whether a small file of the store is there and is not what replayhost writes.
    var isDamagedDocument: Bool { code == .documentDamaged }
}
