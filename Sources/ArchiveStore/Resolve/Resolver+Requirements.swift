import WebArchive

extension Resolver {
    /// The archives of this store that an archive needs for its revisits, in the order in which it names them.
    ///
    /// Source: WACZ 1.2.0 draft, `relation.requires`. A file is known by its SHA-256 alone, since names are no proof; what
    /// the store does not have is left out.
    func requiredArchives(of index: IndexedArchive) throws -> [Archive] {
        try requirements(of: index.archive, index.wacz.dataPackage).compactMap(\.archive)
    }

    /// What an archive needs and the store does not have, as findings that go once it is there.
    ///
    /// They are made anew at each look, and belong to no file: `--strict` does not refuse for them.
    ///
    /// - Parameter opened: The archive's file; `nil` to open it.
    /// - Throws: `StoreError` when the archive's file cannot be opened.
    func missingRequirements(of archive: Archive, _ opened: WACZFile?) throws -> [Finding] {
        let wacz = try opened ?? StoreError.refusingDamage { try openArchives.lookups(archive).wacz }
        let missing = try requirements(of: archive, wacz.dataPackage).filter { $0.archive == nil }.map(\.requirement)
        var findings = missing.prefix(Self.missingShownMax).map(Self.finding)
        if let last = findings.last, missing.count > findings.count {
            findings.append(
                Finding(
                    severity: last.severity, code: last.code,
                    what: "\(missing.count - findings.count) more of the same kind; \(missing.count) in all.",
                    location: last.location, consequence: last.consequence))
        }
        return findings
    }

    private func requirements(
        of archive: Archive, _ package: DataPackage?
    ) throws -> [(requirement: DataPackage.Requirement, archive: Archive?)] {
        var seen: Set<DataPackage.Requirement> = []
        let named = (package?.requirements ?? []).prefix(Self.requirementsMax).filter {
            $0.sha256 != archive.sha256 && seen.insert($0).inserted
        }
        let found = try catalog.archives(sha256: Set(named.compactMap(\.sha256)))
        // Of several that are the same file, one of the store's own is always there.
        let byHash = Dictionary(found.map { ($0.sha256 ?? $0.key, $0) }) { $0.storage.isLinked ? $1 : $0 }
        return named.map { ($0, $0.sha256.flatMap { byHash[$0] }) }
    }

    private static func finding(_ requirement: DataPackage.Requirement) -> Finding {
        let name = requirement.filename.map { "'\($0.prefix(200))'" } ?? "a file without a name"
        guard let hash = requirement.sha256 else {
            return Finding(
                severity: .warning, code: "required-archive-unknown",
                what: "The archive needs \(name), and does not state its SHA-256.", location: "datapackage.json",
                consequence: "Captures that repeat one of that file cannot be shown.")
        }
        return Finding(
            severity: .warning, code: "required-archive-missing",
            what: "The archive needs \(name) (SHA-256 \(hash)), which is not in the store.",
            location: "datapackage.json",
            consequence: "Captures that repeat one of that file cannot be shown until it is imported.")
    }

    /// Files of which one archive is believed to need them; more are not looked at.
    private static let requirementsMax = 1000
    private static let missingShownMax = 20
}

extension DataPackage.Requirement {
    /// The SHA-256 of the file in hex, which is its key in a store; `nil` when another hash or none is stated.
    fileprivate var sha256: String? { hash.flatMap { $0.algorithm == .sha256 ? $0.hex : nil } }
}
