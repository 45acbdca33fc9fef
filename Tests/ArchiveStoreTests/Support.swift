import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A store in a temporary folder.
struct TestStore: Sendable {
    let folder: TemporaryFolder
    let store: ArchiveStore

    init() throws {
        folder = try TemporaryFolder()
        store = try ArchiveStore(at: folder.path("store"))
    }

    /// Opens the store of another one again.
    init(reopening test: TestStore) throws {
        (folder, store) = (test.folder, try test.reopened())
    }

    var layout: StoreLayout { store.layout }

    /// All files in `files/` and `incoming/`, with sizes, for comparing two states of a store.
    func state() throws -> [String] {
        try ["files", "incoming"].flatMap { part in
            try names(in: "\(layout.root)/\(part)").map { name in
                "\(part)/\(name) \(try contents(of: "\(layout.root)/\(part)/\(name)").count)"
            }
        } + store.catalog.allArchives().map { "\($0.id) \($0.key) \($0.title) \($0.importedAt)" }
    }

    /// The same folder, as another process would open it.
    func reopened() throws -> ArchiveStore { try ArchiveStore(at: layout.root) }

    /// The default title of generated archives.
    static let title = "Generated"

    /// Writes a generated archive into the test's folder, outside of the store.
    func file(
        _ name: String, seed: UInt64 = 1, layout: GeneratedArchive.Layout = .plain, pages: Int = 3
    ) throws -> String {
        let archive = GeneratedArchive(pages: numberedPages(pages), seed: seed, layout: layout)
        return try folder.write(archive.bytes(), to: name)
    }

    /// Everything that people see of archives and collections, which a rebuild must restore.
    func everything() throws -> [String] {
        let archives = try store.catalog.allArchives().flatMap { archive -> [String] in
            let pages = try store.catalog.pages(key: archive.key, PageListRequest(limit: 1000)).pages
            let findings = try store.catalog.findings(key: archive.key)
            return ["\(archive.withoutState)"] + pages.map { "\($0)" } + findings.map { "\($0)" }
        }
        return try archives + store.collections.all().map { "\($0)" }
    }

    /// Checks that the store is consistent: each file is named by its hash and has a sidecar and a row, and there are
    /// no other files.
    func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let archives = try store.catalog.allArchives()
        let expected = archives.flatMap { archive in
            (["json"] + (archive.storage.isLinked ? [] : ["wacz"]) + archive.indexEndings)
                .map { "\(archive.key).\($0)" }
        }.sorted()
        #expect(names(in: layout.files) == expected, sourceLocation: sourceLocation)
        #expect(names(in: layout.incoming) == [], sourceLocation: sourceLocation)
        for archive in archives where !archive.storage.isLinked {
            let hash = try await sha256ByOpenSSL(layout.file(archive.key))
            #expect(hash == archive.key, sourceLocation: sourceLocation)
        }
        #expect(
            names(in: layout.collections) == (try store.collections.all().map { "\($0.id).json" }.sorted()),
            sourceLocation: sourceLocation)
    }
}

extension Archive {
    /// The suffixes of the index files, see docs/json.md and docs/store.md; none if the index is searched in place.
    var indexEndings: [String] {
        switch summary.lookups?.strategy {
        case .sortedCopy: ["cdx.gz", "idx"]
        case .idxCopy: ["idx"]
        case .inPlace, .empty, nil: []
        }
    }
}

extension ImportResult {
    /// The outcome of importing a single archive.
    var onlyOutcome: ImportOutcome {
        get throws {
            guard case .archive(let outcome) = self else { throw StoreError(.failed, "a package, not an archive") }
            return outcome
        }
    }

    /// The imported archive.
    var onlyArchive: Archive { get throws { try onlyOutcome.archive } }
}

/// Pages `http://example.org/0` to `count`, whose index lines have the keys of these URLs.
func numberedPages(_ count: Int) -> [GeneratedArchive.Page] {
    (0..<count).map { GeneratedArchive.Page(url: "http://example.org/\($0)", title: "Page \($0)") }
}

/// The code of the `StoreError` that a call throws; `nil` when it throws none.
func code(of body: () throws -> Void) -> StoreError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StoreError)?.code
    }
}

extension ImportResult {
    /// The outcome for a single archive; `nil` for a multi-WACZ file.
    var outcome: ImportOutcome? {
        if case .archive(let outcome) = self { outcome } else { nil }
    }
}

extension ArchiveStore {
    /// The first captures of a URL in one archive.
    func captures(of archive: Archive, url: String, limit: Int) throws -> [CaptureSummary] {
        try resolver.captures(CaptureList.Request(url: url, limit: limit), in: .archive(archive)).captures
    }
}

extension ArchiveStore {
    func beginImport(name: String, source: String, expectedSize: UInt64?) throws -> IncomingArchive {
        try IncomingArchive(layout: layout, originalName: name, source: source, expectedSize: expectedSize)
    }

    func finish(_ incoming: IncomingArchive) throws -> ImportResult {
        try withImporter(ImportOptions(), { _ in }) { try $0.finish(incoming) }
    }

    func importAny(
        at path: String, mode: ImportMode = .copy, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        try withImporter(options, progress) { try $0.importFile(at: path, mode: mode) }
    }

    func importFile(
        at path: String, options: ImportOptions = ImportOptions(), progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportOutcome {
        try importAny(at: path, options: options, progress: progress).onlyOutcome
    }

    func moveFile(at path: String, progress: (ImportProgress) throws -> Void = { _ in }) throws -> ImportOutcome {
        try importAny(at: path, mode: .move, progress: progress).onlyOutcome
    }

    func importLink(
        to path: String, options: ImportOptions = ImportOptions(), progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportOutcome {
        try importAny(at: path, mode: .link, options: options, progress: progress).onlyOutcome
    }
}

extension DerivedFile {
    /// The files that lookups use. Counts are only made on demand.
    static let zipNum: [DerivedFile] = [.blocks, .idx]
}

extension Archive {
    /// The archive as any copy of its store has it.
    var withoutState: Archive {
        var archive = self
        archive.lastReading = verified.map { Reading(state: "", verified: $0) }
        return archive
    }
}

extension Committer {
    /// Ends the hashing of a linked file as it is now.
    func finishHashing(key: String, sha256: String) throws -> Archive {
        let state = try store.catalog.archive(key: key)?.fileState(in: store.layout)
        return try finishHashing(key: key, sha256: sha256, of: state ?? "")
    }
}

/// Ways in which another program can change a file.
enum FileChange: String, CaseIterable {
    /// One byte, and the modification time is set back.
    case inPlace, byRename
    /// A copy with the same bytes and modification time takes its place.
    case copy
    case cut, grown
}

/// Changes a file.
///
/// - Parameter place: The byte that changes, or the new length; by default, in the middle.
func change(_ path: String, _ how: FileChange, at place: Int? = nil) throws {
    let before = try #require(Folder.status(of: path))
    var bytes = try Data(contentsOf: URL(filePath: path))
    let place = place ?? bytes.count / 2
    #expect(chmod(path, 0o600) == 0)
    switch how {
    case .inPlace, .byRename: bytes[place] ^= 1
    case .copy: break
    case .cut: return #expect(truncate(path, place) == 0)
    case .grown: return #expect(truncate(path, bytes.count + 1 + place) == 0)
    }
    if how == .inPlace {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: bytes[place...place])
        try file.close()
    } else {
        try bytes.write(to: URL(filePath: path), options: .atomic)
    }
    var times = [before.st_mtim, before.st_mtim]
    #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
}
