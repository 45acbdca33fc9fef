import Foundation
import WebArchive

/// Imports WARC and ARC files: packs them as one WACZ in the store, with an index, a page list and texts.
struct WARCImport {
    private let files: [SourceFile]
    private let importer: Importer

    private var layout: StoreLayout { importer.store.layout }
    private var total: UInt64 { files.reduce(0) { $0.addingSaturated($1.reference.size) } }

    /// - Returns: `nil` for one file that is neither a WARC nor an ARC file.
    /// - Throws: `StoreError` `refused` if there are several and one isn't.
    init?(_ files: [SourceFile], importer: Importer) throws {
        (self.files, self.importer) = (files, importer)
        for file in files {
            guard try StoreError.refusingDamage({ try WARCFormat(file.file.bytes()) }) == nil else { continue }
            guard files.count > 1 else { return nil }
            throw StoreError(
                .refused, "this is neither a WARC nor an ARC file", place: file.path,
                hint: "--as-one packs WARC and ARC files into one archive")
        }
    }

    /// Packs the files and imports the result.
    func run(mode: ImportMode) throws -> ImportOutcome {
        guard mode != .link else {
            throw StoreError(
                .refused, "a WARC file can't be linked: replayhost stores its records in a new WACZ file",
                place: files[0].path, hint: "import it without --link")
        }
        let outcome = try pack(names: files.map(\.path), source: files.map(\.reference.path).joined(separator: ", "))
        guard mode == .move else { return outcome }
        for file in files { try file.checkUnchanged() }
        if outcome.isDuplicate { try importer.checkOwnCopy(of: outcome.archive, before: files[0].path) }
        for file in files { try file.delete(archive: outcome.archive.id) }
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
        return try importer.commit(incoming, packed: result)
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
                    let source = try file.file.bytes()
                    _ = try writer.addCaptures(source, name: names[number], converts: converted.contains(number)) {
                        try importer.progress(.copying(done: done + $0, total: total))
                    }
                } catch is OtherMembers {
                    // Only known now: from the start again.
                    return try write(to: incoming, names, converting: converted.union([number]))
                }
                done += file.reference.size
            }
            var description = PackageDescription()
            description.title = importer.options.title
            description.software = ArchiveStore.software
            description.sources = names.map { .init(title: $0) }
            return try writer.finish(description)
        }
    }
}
