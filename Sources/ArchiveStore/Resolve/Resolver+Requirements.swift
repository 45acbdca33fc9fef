import WebArchive

extension Resolver {
    /// Returns the archives in this store that an archive requires for its revisits, in the order in which it names
    /// them.
    ///
    /// Source: WACZ 1.2.0 draft, `relation.requires`. Files are identified by their SHA-256 only.
    func requiredArchives(of index: IndexedArchive) throws -> [Archive] {
        try requirements(of: index.archive, index.wacz.dataPackage).compactMap(\.archive)
    }

    /// Returns findings about required archives that the store doesn't have.
    ///
    /// They depend on the store, not on the file, so they aren't saved, and `--strict` ignores them.
    ///
    /// - Parameter wacz: The archive's file.
    func missingRequirements(of archive: Archive, _ wacz: WACZFile) throws -> [Finding] {
        let missing = try requirements(of: archive, wacz.dataPackage).filter { $0.archive == nil }.map(\.requirement)
        let named = try catalog.archives(originalNames: missing.prefix(Self.findingsMax).compactMap(\.filename))
        var findings = missing.prefix(Self.findingsMax).map { requirement in
            let same = named.first { $0.originalName == requirement.filename && $0.key != archive.key }
            return Self.finding(requirement, named: same)
        }
        if let last = findings.last, missing.count > findings.count {
            findings.append(
                Finding(
                    severity: last.severity, code: last.code,
                    what: "\(missing.count - findings.count) more issues of this kind, \(missing.count) in total.",
                    location: last.location, consequence: last.consequence))
        }
        return findings
    }

    /// Returns the files from which an archive was made, with the archives in the library that are these files.
    func sources(of wacz: WACZFile) throws -> [ArchiveSource] {
        let sources = wacz.dataPackage?.sources ?? []
        let known = try catalog.archives(sha256: Set(sources.compactMap { $0.hash?.sha256 }))
        return sources.map { source in
            ArchiveSource(
                title: source.title, path: source.path, sha256: source.hash?.sha256,
                archive: source.hash?.sha256.flatMap { sha256 in known.first { $0.sha256 == sha256 }?.id })
        }
    }

    func requirements(
        of archive: Archive, _ package: DataPackage?
    ) throws -> [(requirement: DataPackage.Requirement, archive: Archive?)] {
        var seen: Set<DataPackage.Requirement> = []
        let named = (package?.requirements ?? []).prefix(Self.requirementsMax).filter {
            $0.sha256 != archive.sha256 && seen.insert($0).inserted
        }
        let found = try catalog.archives(sha256: Set(named.compactMap(\.sha256)))
        // Of several archives of the same file, prefer one in the store, which is always available.
        let byHash = Dictionary(found.map { ($0.sha256 ?? $0.key, $0) }) { $0.storage.isLinked ? $1 : $0 }
        return named.map { ($0, $0.sha256.flatMap { byHash[$0] }) }
    }

    /// - Parameter named: An archive with the required name.
    private static func finding(_ requirement: DataPackage.Requirement, named: Archive?) -> Finding {
        let name = requirement.filename.map { "'\($0.prefix(200))'" } ?? "an unnamed archive"
        let isOther = requirement.sha256 != nil && named?.sha256 != nil
        let difference = isOther ? ", but other bytes" : "; whether it's the same file isn't known"
        let other = named.map { " The archive \($0.id) has the same name\(difference)." }
        guard let hash = requirement.sha256 else {
            return Finding(
                severity: .warning, code: "required-archive-unknown",
                what: "This archive requires \(name), but doesn't state its SHA-256.\(other ?? "")",
                location: "datapackage.json",
                consequence: "Captures whose content is stored there can't be replayed.")
        }
        return Finding(
            severity: .warning, code: "required-archive-missing",
            what: "This archive requires \(name) (SHA-256 \(hash)), which isn't in your library.\(other ?? "")",
            location: "datapackage.json",
            consequence: "Captures whose content is stored there can't be replayed until you import it.")
    }

    /// The maximum number of requirements of an archive; the rest is ignored.
    private static let requirementsMax = 1000
    private static let findingsMax = 20
}

extension DataPackage.Requirement {
    /// The SHA-256 of the file in hex; `nil` if another hash or none is stated.
    var sha256: String? { hash?.sha256 }
}

extension WARCDigest {
    /// The digest in hex; `nil` if it isn't a SHA-256.
    fileprivate var sha256: String? { algorithm == .sha256 ? hex : nil }
}
