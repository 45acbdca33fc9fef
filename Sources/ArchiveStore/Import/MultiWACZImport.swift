import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The import of the archives inside of a file that is no archive itself.
struct MultiWACZImport {
    private let package: MultiWACZ
    private let path: String
    private let source: String
    private let importer: Importer

    /// - Parameters:
    ///   - name: For errors, and what the collection is named for; the last part of `path` when `nil`.
    ///   - source: What the archives will say they came from.
    /// - Returns: `nil` for a file that is no package of packages.
    /// - Throws: `StoreError` `refused` for a package that is an attack.
    init?(at path: String, named name: String? = nil, source: String, importer: Importer) throws(StoreError) {
        do throws(WebArchiveError) {
            guard let opened = try MultiWACZ.open(path: path, displayName: name) else { return nil }
            package = opened
        } catch {
            guard error.code == .tooLarge else { return nil }
            throw StoreError.refused(error)
        }
        (self.path, self.source, self.importer) = (path, source, importer)
    }

    private var layout: StoreLayout { importer.store.layout }

    func run(mode: ImportMode) throws -> MultiWACZOutcome {
        guard mode != .link else {
            throw StoreError(
                .refused, "the package holds \(package.members.count) archives, which cannot stay inside of it",
                place: path, hint: "import it without --link")
        }
        let original = mode == .move ? try MovedFile(path, in: layout) : nil
        let outcome = try importMembers()
        if let original {
            try original.checkUnchanged()
            for member in outcome.members where member.isDuplicate {
                try importer.checkOwnCopy(of: member.archive, before: path)
            }
            try original.delete(archive: outcome.collection.id)
        }
        return outcome
    }

    /// Copies each member out of the package, once, and makes a collection of them last: who is stopped before has whole archives, and
    /// the next import of the package completes them.
    private func importMembers() throws -> MultiWACZOutcome {
        guard importer.options.replaces == nil else {
            throw StoreError(
                .refused, "the package holds \(package.members.count) archives, which cannot replace one",
                place: package.name)
        }
        try layout.checkSpace(for: package.members.uncompressedSize, what: "the archives in the package")
        let file = try Descriptor(path: path, flags: O_RDONLY)
        var options = importer.options
        (options.title, options.id) = (nil, nil)
        let own = Importer(store: importer.store, options: options, progress: importer.progress)
        var outcomes: [ImportOutcome] = []
        var remarks: [String] = []
        for member in package.members {
            let incoming = try copy(member, from: file)
            if let stated = package.statedHash(of: member), stated.hex != incoming.sha256 {
                let what = "the SHA-256 of \(member.name) is not the one that the package states"
                guard !options.isStrict else {
                    throw StoreError(.refused, "refused because of --strict: \(what)", place: package.name)
                }
                remarks.append("\(what): it was changed or damaged after the package was made")
            }
            outcomes.append(try own.commit(incoming))
        }
        let (collection, isNew) = try collection(of: outcomes)
        return MultiWACZOutcome(
            collection: collection, members: outcomes, isDuplicate: !isNew && outcomes.allSatisfy(\.isDuplicate),
            remarks: remarks
        )
    }

    private func copy(_ member: ZIPEntry, from file: Descriptor) throws -> IncomingArchive {
        let total = member.uncompressedSize
        let incoming = try IncomingArchive(
            layout: layout, originalName: member.name, source: "\(source), \(member.name)", expectedSize: total)
        if let range = try StoreError.refusingDamage({ try package.storedRange(of: member) }) {
            guard lseek(file.number, off_t(range.lowerBound), SEEK_SET) >= 0 else {
                throw StoreError.system(errno, doing: "reading", path: file.path)
            }
            try incoming.copy(from: file, limit: total) { try importer.progress(.copying(done: $0, total: total)) }
            return incoming
        }
        try StoreError.refusingDamage {
            try package.directory.stream(of: member).forEachChunk(chunkBytesMax: 1 << 20) {
                try incoming.write($0)
                try importer.progress(.copying(done: incoming.size, total: total))
                return true
            }
        }
        return incoming
    }

    /// The collection that the members make: one that has these very members, else a new one.
    private func collection(of outcomes: [ImportOutcome]) throws -> (collection: ArchiveCollection, isNew: Bool) {
        let (collections, options) = (importer.store.collections, importer.options)
        let members = outcomes.map(\.archive.id)
        let known = try collections.all().first { Set($0.members) == Set(members) }
        if let known { return (known, false) }
        let name = IncomingArchive.cleanName(package.name)
        let stem = IncomingArchive.stem(of: name)
        let own = package.dataPackage?.title.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : String($0.prefix(200)) }
        let collection = try collections.make(
            id: options.id, title: options.title ?? own ?? stem, idFrom: stem, members: members,
            words: ArchiveMetadata(tags: options.tags), originalName: name)
        return (collection, true)
    }
}
