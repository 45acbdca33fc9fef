import Foundation
import WebArchive

/// Imports WARC and ARC files: packs them as one WACZ in the store, with an index, a page list and texts.
struct WARCImport {
    private let files: [(path: String, source: FileByteSource)]
    private let importer: Importer

    private var layout: StoreLayout { importer.store.layout }
    private var total: UInt64 { files.reduce(0) { $0.addingSaturated($1.source.size) } }

    /// - Returns: `nil` if the first file is neither a WARC nor an ARC file.
    /// - Throws: `StoreError` `refused` if another one isn't.
    init?(_ paths: [String], importer: Importer) throws {
        self.importer = importer
        var files: [(path: String, source: FileByteSource)] = []
        for path in paths {
            // The error for anything but a file comes from the other ways to import.
            guard Folder.isFile(path) else { return nil }
            let source = try Descriptor.source(path).bytes()
            guard try StoreError.refusingDamage({ try WARCFormat(source) }) != nil else {
                guard !files.isEmpty else { return nil }
                throw StoreError(
                    .refused, "this is neither a WARC nor an ARC file", place: path,
                    hint: "--as-one packs WARC and ARC files into one archive")
            }
            files.append((path, source))
        }
        guard !files.isEmpty else { return nil }
        self.files = files
    }

    /// Packs the files and imports the result.
    func run(mode: ImportMode) throws -> ImportOutcome {
        guard mode != .link else {
            throw StoreError(
                .refused, "a WARC file can't be linked: replayhost stores its records in a new WACZ file",
                place: files[0].path, hint: "import it without --link")
        }
        let originals = mode == .move ? try files.map { try MovedFile($0.path, in: layout) } : []
        let outcome = try pack(
            names: files.map(\.path), source: files.map { Folder.resolved($0.path) }.joined(separator: ", "))
        for original in originals { try original.checkUnchanged() }
        if outcome.isDuplicate, mode == .move { try importer.checkOwnCopy(of: outcome.archive, before: files[0].path) }
        for original in originals { try original.delete(archive: outcome.archive.id) }
        return outcome
    }

    /// Packs the files and imports the result.
    ///
    /// - Parameter names: The names of the files, the first of which names the archive.
    func pack(names: [String], source: String) throws -> ImportOutcome {
        let names = names.map(IncomingArchive.cleanName)
        let stem = WACZWriter.warcStem(of: names[0])
        let incoming = try IncomingArchive(
            layout: layout, originalName: stem + ".wacz", source: source, expectedSize: total)
        let result = try write(to: incoming, names, converting: [])
        guard result.captureCount > 0 else {
            let what =
                result.recordCount == 0
                ? "no record in this file can be read" : "none of the \(result.recordCount) records is a capture"
            throw StoreError(
                .refused, what, place: names[0], hint: result.findings.first.map { "the first problem: \($0.what)" })
        }
        // A file's header in the ZIP comes before its bytes and has their sum, so only the complete ZIP can be hashed.
        try incoming.hash(incoming.file) { _ in try importer.progress(.copying(done: total, total: total)) }
        return try importer.commit(incoming, packingFindings: result.findings)
    }

    /// - Parameter converted: The files whose gzip members aren't their records.
    private func write(
        to incoming: IncomingArchive, _ names: [String], converting converted: Set<Int>
    ) throws -> WACZWriter.Result {
        try StoreError.refusingDamage {
            let writer = try WACZWriter(into: incoming.file.path)
            var done: UInt64 = 0
            for (number, file) in files.enumerated() {
                do {
                    _ = try writer.addCaptures(file.source, name: names[number], converts: converted.contains(number)) {
                        try importer.progress(.copying(done: done + $0, total: total))
                    }
                } catch is OtherMembers {
                    // Only known now: from the start again.
                    return try write(to: incoming, names, converting: converted.union([number]))
                }
                done += file.source.size
            }
            var description = PackageDescription()
            description.title = importer.options.title
            description.software = ArchiveStore.software
            description.sources = names.map { .init(title: $0) }
            return try writer.finish(description)
        }
    }
}
