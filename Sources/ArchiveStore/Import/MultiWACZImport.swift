import Foundation
import WebArchive

/// Imports the archives in a multi-WACZ file.
struct MultiWACZImport {
    private let package: MultiWACZ
    private let original: SourceFile
    private let source: String
    private let importer: Importer

    /// - Parameters:
    ///   - name: The file's name, for errors and for the collection's id; `nil` for the last component of its path.
    ///   - source: The source to record for the archives.
    /// - Returns: `nil` for any other file.
    /// - Throws: `StoreError` `refused` for a file that exceeds the limits.
    init?(_ original: SourceFile, named name: String? = nil, source: String, importer: Importer) throws {
        do {
            guard let opened = try MultiWACZ.open(original.file.bytes(named: name)) else { return nil }
            package = opened
        } catch let error as WebArchiveError {
            guard error.code == .tooLarge else { return nil }
            throw StoreError.refused(error)
        }
        (self.original, self.source, self.importer) = (original, source, importer)
    }

    private var layout: StoreLayout { importer.store.layout }

    func run(mode: ImportMode) throws -> MultiWACZOutcome {
        guard mode != .link else {
            throw StoreError(
                .refused, "this file contains \(package.members.count) archives, so it can't be linked",
                place: original.path, hint: "import it without --link")
        }
        let outcome = try importMembers()
        guard mode == .move else { return outcome }
        try original.checkUnchanged()
        for member in outcome.members where member.isDuplicate {
            try importer.checkOwnCopy(of: member.archive, before: original.path)
        }
        try original.delete(archive: outcome.collection.id)
        return outcome
    }

    /// Copies each member and creates the collection last. If that is interrupted, the next import of the file
    /// completes it.
    private func importMembers() throws -> MultiWACZOutcome {
        guard importer.options.replaces == nil else {
            throw StoreError(
                .refused, "this file contains \(package.members.count) archives, so it can't replace one archive",
                place: package.name)
        }
        try layout.checkSpace(for: package.members.uncompressedSize, what: "the archives in this file")
        var options = importer.options
        (options.title, options.id) = (nil, nil)
        let memberImporter = Importer(store: importer.store, options: options, progress: importer.progress)
        var outcomes: [ImportOutcome] = []
        var remarks: [String] = []
        for member in package.members {
            let incoming = try copy(member)
            if let stated = package.statedHash(of: member), stated.hex != incoming.sha256 {
                let what = "\(member.name) doesn't match its SHA-256 in datapackage.json"
                guard !options.isStrict else {
                    throw StoreError(
                        .refused, "not added because of --strict: \(what)", place: package.name,
                        hint: "import it without --strict to add it anyway")
                }
                remarks.append("\(what): it was changed or damaged after the file was created")
            }
            outcomes.append(try memberImporter.commit(incoming))
        }
        let (collection, isNew) = try collection(of: outcomes)
        return MultiWACZOutcome(
            collection: collection, members: outcomes, isDuplicate: !isNew && outcomes.allSatisfy(\.isDuplicate),
            remarks: remarks)
    }

    private func copy(_ member: ZIPEntry) throws -> IncomingArchive {
        let total = member.uncompressedSize
        let incoming = try IncomingArchive(
            layout: layout, originalName: member.name, source: "\(source), \(member.name)", expectedSize: total)
        if let range = try StoreError.refusingDamage({ try package.storedRange(of: member) }) {
            guard lseek(original.file.number, off_t(range.lowerBound), SEEK_SET) >= 0 else {
                throw StoreError.system(errno, doing: "reading", path: original.path)
            }
            try incoming.copy(from: original.file, limit: total) {
                try importer.progress(.copying(done: $0, total: total))
            }
            return incoming
        }
        try StoreError.refusingDamage {
            let allowance = Allowance(archiveSize: member.compressedSize)
            try package.directory.stream(of: member, allowance).forEachChunk(chunkBytesMax: 1 << 20) {
                try incoming.write($0)
                try importer.progress(.copying(done: incoming.size, total: total))
                return true
            }
        }
        return incoming
    }

    /// Returns the collection that has exactly these members, or a new one.
    private func collection(of outcomes: [ImportOutcome]) throws -> (collection: ArchiveCollection, isNew: Bool) {
        let (collections, options) = (importer.store.collections, importer.options)
        let members = outcomes.map(\.archive.id)
        let existing = try collections.all().first { Set($0.members) == Set(members) }
        if let existing { return (existing, false) }
        let name = IncomingArchive.cleanName(package.name)
        let stem = IncomingArchive.stem(of: name)
        let title = package.dataPackage?.title.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : String($0.prefix(200)) }
        let collection = try collections.make(
            id: options.id, title: options.title ?? title ?? stem, idFrom: stem, members: members,
            metadata: ArchiveMetadata(tags: options.tags), originalName: name)
        return (collection, true)
    }
}
