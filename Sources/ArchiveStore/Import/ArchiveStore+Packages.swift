import Foundation
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What became of an import of any file.
package enum ImportResult: Sendable, Hashable {
    case archive(ImportOutcome)
    /// The file held several archives.
    case package(PackageOutcome)
}

/// What became of a package of packages: its members, and the group that they make.
package struct PackageOutcome: Sendable, Hashable {
    package let group: ArchiveGroup
    package let members: [ImportOutcome]
    /// Whether the store had all of it.
    package let isDuplicate: Bool
    /// What is wrong with the package itself, in words.
    package let remarks: [String]
}

/// How a file comes into the store.
package enum ImportMode: String, Sendable, Hashable, Codable, CaseIterable {
    case copy
    /// The original is deleted once the store has it.
    case move
    /// The file stays where it is.
    case reference
}

extension ArchiveStore {
    /// Brings in whatever a file holds: an archive, or several that become a group.
    ///
    /// - Throws: As `importFile`, `moveFile` and `importReference`.
    package func importAny(
        at path: String, mode: ImportMode = .copy, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        do {
            switch mode {
            case .copy: return .archive(try importFile(at: path, options: options, progress: progress))
            case .move: return .archive(try moveFile(at: path, options: options, progress: progress))
            case .reference: return .archive(try importReference(to: path, options: options, progress: progress))
            }
        } catch let error as StoreError where error.code == .refused {
            guard let package = try package(at: path) else { throw error }
            guard mode != .reference else {
                throw StoreError(
                    .refused, "the package holds \(package.members.count) archives, which cannot stay inside of it",
                    place: path, hint: "import it without --reference")
            }
            let original = mode == .move ? try MovedFile(path, storeRoot: Self.absolute(layout.root)) : nil
            let outcome = try importMembers(
                of: package, at: path, source: Self.absolute(path), options: options, progress: progress)
            if let original {
                try original.checkUnchanged()
                for member in outcome.members where member.isDuplicate { try checkOwnCopy(of: member, path, progress) }
                try original.delete(archive: outcome.group.id)
            }
            return .package(outcome)
        }
    }

    /// The same, of what was written to `incoming`.
    package func finishAny(
        _ incoming: IncomingArchive, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        do {
            return .archive(try finish(incoming, options: options, progress: progress))
        } catch let error as StoreError where error.code == .refused {
            return .package(try importMembers(ofRefused: incoming, error, options: options, progress: progress))
        }
    }

    /// The archives inside of a file that was refused as an archive itself.
    ///
    /// - Throws: `error` when there are none.
    func importMembers(
        ofRefused incoming: IncomingArchive, _ error: StoreError, options: ImportOptions,
        progress: (ImportProgress) throws -> Void
    ) throws -> PackageOutcome {
        let path = incoming.file.path
        guard let package = try package(at: path, displayName: incoming.originalName) else { throw error }
        return try importMembers(
            of: package, at: path, source: incoming.source, options: options, progress: progress)
    }

    /// The package in a file that is no archive itself; `nil` when it is none either.
    ///
    /// - Throws: `StoreError` `refused` for a package that is an attack.
    private func package(at path: String, displayName: String? = nil) throws(StoreError) -> PackageOfPackages? {
        do throws(WebArchiveError) {
            return try PackageOfPackages.open(path: path, displayName: displayName)
        } catch {
            guard error.code == .tooLarge else { return nil }
            throw StoreError.refused(error)
        }
    }

    private func checkOwnCopy(
        of member: ImportOutcome, _ path: String, _ progress: (ImportProgress) throws -> Void
    ) throws {
        try checkOwnCopy(of: member.archive, before: path, progress)
    }

    /// Copies each member out of the package, once, and makes a group of them last: who is stopped before has whole archives, and
    /// the next import of the package completes them.
    private func importMembers(
        of package: PackageOfPackages, at path: String, source: String, options: ImportOptions,
        progress: (ImportProgress) throws -> Void
    ) throws -> PackageOutcome {
        guard options.replaces == nil else {
            throw StoreError(
                .refused, "the package holds \(package.members.count) archives, which cannot replace one",
                place: package.name)
        }
        try checkSpace(for: package, in: path)
        let file = try Descriptor(path: path, flags: O_RDONLY)
        var outcomes: [ImportOutcome] = []
        var remarks: [String] = []
        for member in package.members {
            var own = options
            (own.title, own.id) = (nil, nil)
            let (incoming, size, sha256) = try copy(member, of: package, from: file, source: source, progress)
            if let stated = package.statedHash(of: member), stated.hex != sha256 {
                let what = "the SHA-256 of \(member.name) is not the one that the package states"
                guard !options.isStrict else {
                    throw StoreError(.refused, "refused because of --strict: \(what)", place: package.name)
                }
                remarks.append("\(what): it was changed or damaged after the package was made")
            }
            outcomes.append(try commit(incoming, size: size, sha256: sha256, options: own, progress: progress))
        }
        let (group, isNew) = try group(of: outcomes, package, options)
        return PackageOutcome(
            group: group, members: outcomes, isDuplicate: !isNew && outcomes.allSatisfy(\.isDuplicate), remarks: remarks
        )
    }

    private func checkSpace(for package: PackageOfPackages, in path: String) throws {
        // What lies in the store's own folder already is only passing through.
        try layout.checkSpace(for: package.members.uncompressedSize, what: "the archives in the package")
    }

    private func copy(
        _ member: ZIPEntry, of package: PackageOfPackages, from file: Descriptor, source: String,
        _ progress: (ImportProgress) throws -> Void
    ) throws -> (incoming: IncomingArchive, size: UInt64, sha256: String) {
        let total = member.uncompressedSize
        let incoming = try IncomingArchive(
            layout: layout, originalName: member.name, source: "\(source), \(member.name)", expectedSize: total)
        if let range = try refusingDamage({ try package.storedRange(of: member) }) {
            guard lseek(file.number, off_t(range.lowerBound), SEEK_SET) >= 0 else {
                throw StoreError.system(errno, doing: "reading", path: file.path)
            }
            let (size, sha256) = try incoming.copy(from: file, limit: total) {
                try progress(.copying(done: $0, total: total))
            }
            return (incoming, size, sha256)
        }
        var done: UInt64 = 0
        try refusingDamage {
            try package.directory.stream(of: member).forEachChunk(chunkBytesMax: 1 << 20) {
                try incoming.write($0)
                done += UInt64($0.count)
                try progress(.copying(done: done, total: total))
                return true
            }
        }
        let (size, sha256) = incoming.writtenSoFar()
        return (incoming, size, sha256)
    }

    /// The group that the members make: one that has these very members, else a new one.
    private func group(
        of outcomes: [ImportOutcome], _ package: PackageOfPackages, _ options: ImportOptions
    ) throws -> (group: ArchiveGroup, isNew: Bool) {
        let members = outcomes.map(\.archive.id)
        let known = try collections.all().first { Set($0.members) == Set(members) }
        if let known { return (known, false) }
        let stem = Self.stem(of: IncomingArchive.cleanName(package.name))
        let own = package.dataPackage?.title.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : String($0.prefix(200)) }
        let group = try collections.make(
            id: options.id, title: options.title ?? own ?? stem, idFrom: stem, members: members,
            words: ArchiveWords(tags: options.tags), originalName: IncomingArchive.cleanName(package.name))
        return (group, true)
    }
}
