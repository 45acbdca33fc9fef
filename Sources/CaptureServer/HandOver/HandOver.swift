import ArchiveStore
import CaptureAPI
import CaptureWorker
import Foundation
import Logging
import ReplayServer

/// Takes over what a worker made: first out of its session, then the archive into the library, the file into its folder, and the row.
///
/// Each step can be repeated: a server that was killed continues with the step that it didn't finish.
struct HandOver: Sendable {
    /// The steps in order. After `swept`, nothing of the session is left.
    enum Step: String, Sendable, CaseIterable {
        case result, imported, filed, completed, swept
    }

    let store: ArchiveStore
    let queue: DownloadQueue
    let layout: CaptureLayout
    let logs: DownloadLogs
    /// Whether files are kept beside their archives.
    let keepsFiles: @Sendable () -> Bool
    let logger: Logger
    /// Called after each step.
    let onStep: @Sendable (Step) throws -> Void

    /// - Throws: `StoreError`: `refused` or `archiveDamaged` if what the worker made can't be used. After any other error, the
    ///   hand-over can be repeated.
    func run(_ row: DownloadRow, _ files: SavedFiles) async throws {
        try onStep(.result)
        let id = row.downloadID
        let session = SessionFolder(layout.session(row.sessionID))
        guard try await queue.beginStoring(id) else { return await sweep(row) }
        let file = keepsFiles() ? files.file : nil
        let source = layout.receivedFile(row)
        let (archive, lack) = try await BlockingWork().long {
            try Folder.create(layout.received(row))
            // First the file: if it's refused, the library must not have the archive.
            if let file { try session.take(file, to: source) }
            let archive = try importArchive(files, session, row)
            return (archive, try WantedCollection.add(archive.id, to: row.downloadOptions.collection, in: store))
        }
        var stored = files
        stored.fileSize = file.flatMap { _ in Folder.fileSize(source) }
        if let lack { stored.incomplete = [files.incomplete, lack].compactMap { $0 }.joined(separator: " ") }
        try await queue.setArchive(id, archive: archive.id.text, sha256: files.archiveSHA256, stored)
        try onStep(.imported)
        if file != nil {
            try await placeFile(id, files, source)
            try onStep(.filed)
        }
        try await queue.complete(id, keepsFile: file != nil)
        try onStep(.completed)
        await sweep(row)
        try onStep(.swept)
    }

    /// Takes the file of a preview over, which is shown until the preview is closed.
    ///
    /// - Throws: `StoreError`: `refused` if what the worker made can't be used.
    func show(_ row: DownloadRow, _ preview: PreviewFile) async throws {
        let file = layout.receivedFile(row)
        try await BlockingWork().long {
            try renewReceived(row)
            try SessionFolder(layout.session(row.sessionID)).take(preview.file, to: file)
        }
        var preview = preview
        preview.fileName = FileName.plain(preview.fileName)
        if try await queue.show(row.downloadID, preview, size: Folder.fileSize(file) ?? 0) {
            await sweepSession(row)
        } else {
            await sweep(row)
        }
    }

    /// Deletes the session folder and what was taken out of it, and stores the log. What can't be deleted is deleted at the next
    /// start.
    func sweep(_ row: DownloadRow) async {
        await discardResult(row)
        await sweepSession(row)
    }

    private func sweepSession(_ row: DownloadRow) async {
        await discard {
            guard Folder.hasName(layout.session(row.sessionID)) else { return }
            let session = SessionFolder(layout.session(row.sessionID))
            // First what is large: there may be no space for the log.
            try session.deleteContent()
            try logs.store(row)
            try session.delete()
        }
    }

    /// Deletes a session folder without a download.
    func removeSession(_ name: String) async { await discard { try FolderRemoval.delete(layout.session(name)) } }

    /// Deletes what was taken out of a session of a download that has ended.
    func removeReceived(_ name: String) async {
        await discard { try FolderRemoval.delete("\(layout.received)/\(name)") }
    }

    /// Deletes the result of an attempt that failed, and what was taken over of it.
    func discardResult(_ row: DownloadRow) async { await discard { try FolderRemoval.delete(layout.received(row)) } }

    /// Deletes on a thread of its own: a tool can have made millions of files.
    private func discard(_ body: @escaping @Sendable () throws -> Void) async {
        do {
            try await BlockingWork().long(body)
        } catch {
            logger.warning("can't delete the rest of a download", metadata: ["error": "\(error)"])
        }
    }

    /// Flushes what a worker made to disk and notes it, so that a server continues the hand-over after a kill or a power cut.
    func keep(_ files: SavedFiles, of row: DownloadRow) async throws {
        try await BlockingWork().long {
            let session = SessionFolder(layout.session(row.sessionID))
            for name in [files.archive, files.file].compactMap({ $0 }) { try session.flush(name) }
            try renewReceived(row)
            try StoreDocument.write(files, to: result(row))
        }
    }

    /// Makes the folder for what is taken out of a session, without what was taken of an earlier result.
    private func renewReceived(_ row: DownloadRow) throws {
        try FolderRemoval.delete(layout.received(row))
        try Folder.create(layout.received(row))
    }

    /// Returns what an earlier attempt made, if its hand-over was interrupted.
    func files(of row: DownloadRow) throws -> SavedFiles? {
        guard Folder.hasName(result(row)) else { return nil }
        return try StoreDocument.read(SavedFiles.self, at: result(row))
    }

    /// Not a name that the archive can have. Tools can't reach it.
    private func result(_ row: DownloadRow) -> String { "\(layout.received(row))/.result" }

    /// The archive that an interrupted hand-over has added; `nil` if it hasn't.
    private func known(_ files: SavedFiles, _ row: DownloadRow) throws -> Archive? {
        guard let known = try store.storedArchive(sha256: files.archiveSHA256),
            known.entry.saved?.download == row.downloadID
        else { return nil }
        return known
    }

    private func importArchive(_ files: SavedFiles, _ session: SessionFolder, _ row: DownloadRow) throws -> Archive {
        let archive = try known(files, row) ?? imported(files, session, row)
        // Of an attempt before, which a person started again.
        if let former = row.archiveID.flatMap({ ArchiveID($0) }), former != archive.id { try store.remove(former) }
        return archive
    }

    private func imported(_ files: SavedFiles, _ session: SessionFolder, _ row: DownloadRow) throws -> Archive {
        let name = files.archive.split(separator: "/").last.map(String.init) ?? ""
        let path = "\(layout.received(row))/\(FileName.plain(name))"
        let genre = files.genre == .unknown ? row.genre : files.genre.rawValue
        let genreTags = genre == Genre.unknown.rawValue ? [] : [genre]
        let options = ImportOptions(
            title: ArchiveMetadata.title(from: files.title), tags: [row.username] + genreTags,
            saved: SavedURL(
                url: row.url, user: row.username, download: row.downloadID, incomplete: files.incomplete,
                replayCheck: files.replayCheck),
            sha256: files.archiveSHA256)
        do {
            try session.take(files.archive, to: path)
            guard case .archive(let outcome) = try store.jobs.importAny(at: path, mode: .move, options: options)
            else { throw StoreError(.failed, "the import made several archives", place: path) }
            return outcome.archive
        } catch {
            // The import of a killed server may have been completed by the library meanwhile.
            if let known = try known(files, row) { return known }
            throw error
        }
    }

    /// Puts the file under a free name into the folder of its user and genre: by a hard link, or as a copy.
    private func placeFile(_ id: String, _ files: SavedFiles, _ source: String) async throws {
        guard let row = try await queue.row(id) else { return }
        let folder = layout.folder(row)
        let isPlaced = try await BlockingWork().long {
            try SavedFolder.create(folder, below: layout.downloads)
            return row.fileName.map { SavedFolder.isSame(source, "\(folder)/\($0)") } ?? false
        }
        // By an interrupted hand-over.
        if isPlaced { return }
        // Another program may take the name between the two steps.
        for _ in 0..<20 {
            // Not while the queue is locked: a network drive can be slow.
            let taken = try await BlockingWork().long { Set(try Folder.names(in: folder).map { $0.lowercased() }) }
            let name = try await queue.reserveName(id, FileName.plain(files.fileName), except: taken)
            let isPlaced = try await BlockingWork().long {
                try SavedFolder.place(source, as: "\(folder)/\(name)", temporary: "\(folder)/.\(id).part")
            }
            if isPlaced { return }
        }
        throw StoreError(.failed, "no free name for the file", place: folder)
    }
}

/// Files in the folders of users.
enum SavedFolder {
    /// Creates a folder for people's files, which other programs may read, and flushes the folders above it to disk.
    static func create(_ folder: String, below root: String) throws {
        let isRootNew = !Folder.isFolder(root)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw StoreError(
                .unusable, "can't create the folder for saved files (\(error.localizedDescription))", place: folder,
                hint: "check who owns \(root), or choose another folder with --downloads")
        }
        // Also those that were there: the server may have been killed before it flushed them.
        var path = folder
        while path.count > root.count {
            try Folder.synchronize(parentOf: path)
            path = (path as NSString).deletingLastPathComponent
        }
        if isRootNew { try Folder.synchronize(parentOf: root) }
    }

    /// Whether anything has a name, a symbolic link too.
    static func isTaken(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }

    /// Whether a file is `source`, or a complete copy of it on another file system.
    static func isSame(_ source: String, _ target: String) -> Bool {
        if Folder.isSameFile(source, target) { return true }
        guard let size = Folder.fileSize(source), Folder.fileSize(target) == size else { return false }
        return FileManager.default.contentsEqual(atPath: source, andPath: target)
    }

    /// Gives a file a second name, or copies it to another file system. Never replaces a file.
    ///
    /// - Returns: `false` if another file has the name.
    static func place(_ source: String, as target: String, temporary: String) throws -> Bool {
        if isTaken(target) { return isSame(source, target) }
        _ = chmod(source, 0o644)
        // A completed download survives a power cut.
        try Descriptor(path: source, flags: O_RDONLY).synchronize()
        if link(source, target) == 0 {
            try Folder.synchronize(parentOf: target)
            return true
        }
        guard errno != EEXIST else { return false }
        guard [EXDEV, EPERM, EMLINK, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) else {
            throw StoreError.system(errno, doing: "saving the file", path: target)
        }
        try copy(source, to: temporary)
        defer { unlink(temporary) }
        if link(temporary, target) != 0 {
            guard errno != EEXIST else { return false }
            // A file system without hard links
            guard access(target, F_OK) != 0 else { return false }
            guard rename(temporary, target) == 0 else {
                throw StoreError.system(errno, doing: "saving the file", path: target)
            }
        }
        try Folder.synchronize(parentOf: target)
        return true
    }

    private static func copy(_ source: String, to target: String) throws {
        try Folder.delete(target)
        let file = try Descriptor(path: source, flags: O_RDONLY)
        let copy = try Descriptor(path: target, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        var offset: UInt64 = 0
        while true {
            let bytes = try file.bytes(at: offset, upTo: 1 << 20)
            if bytes.isEmpty { break }
            try bytes.withUnsafeBytes { try copy.append($0) }
            offset += UInt64(bytes.count)
        }
        try copy.synchronize()
    }
}
