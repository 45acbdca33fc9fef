import Foundation

/// `KEY.json` in `files/`: what the file itself cannot tell of an archive. The catalog is rebuilt from these.
struct Sidecar: Codable, Hashable {
    /// Of this file; a later version that adds keys counts on.
    var format = Self.formatWritten
    var id: String
    var title: String
    var originalName: String
    var source: String
    /// RFC 3339, UTC, to the microsecond.
    var importedAt: String
    var tags: [String]?
    var notes: String?
    var port: Int?
    /// The file outside of the store; `nil` when `KEY.wacz` is the archive.
    var reference: FileReference?
    /// The SHA-256 of a referenced file that keeps its provisional key, since the store has the same file already.
    var sha256: String?
    /// The key before the SHA-256 was known; that sidecar is obsolete.
    var provisionalKey: String?
    /// The key of the archive that this one took the place of; that one is obsolete when it has the same id.
    var replaces: String?
    /// What was read from a referenced file, for the time when it is away.
    var summary: Summary?

    /// What an examination found, without pages.
    struct Summary: Codable, Hashable {
        var createdAt: String?
        var description: String?
        var software: String?
        var waczVersion: String?
        var mainPageURL: String?
        var mainPageTimestamp: String?
        var pageCount: Int
        var captureCount: Int
        var firstCapture: String?
        var lastCapture: String?
        var findings: FindingCounts
        var lookups: String?
        var lookupsReason: String?
    }

    /// Formats that this version reads.
    private static let formatsKnown = 1...2
    static let formatWritten = 2

    /// The archives whose place this one took: what is left of them is to be cleared away.
    var supersededKeys: [String] { [provisionalKey, replaces].compactMap { $0 } }

    static func read(at path: String) throws -> Sidecar {
        try StoreDocument.read(Sidecar.self, at: path).checked(at: path)
    }

    /// - Throws: `StoreError` `unusable` for one that a later version wrote.
    func checked(at path: String) throws -> Sidecar {
        guard Self.formatsKnown.contains(format) else {
            throw StoreError(
                .unusable, "the sidecar has the format \(format), this version knows up to \(Self.formatWritten)",
                place: path, hint: "use the replayhost that wrote it")
        }
        return self
    }

    /// Written whole or not at all.
    func write(to path: String) throws {
        try StoreDocument.write(self, to: path)
    }
}

extension Sidecar {
    /// The sidecar of an archive as the catalog knows it.
    init(_ archive: Archive, replaces: String? = nil) {
        id = archive.id.text
        title = archive.title
        originalName = archive.originalName
        source = archive.source
        importedAt = RFC3339.preciseText(of: archive.importedAt)
        tags = archive.tags.isEmpty ? nil : archive.tags
        notes = archive.notes.isEmpty ? nil : archive.notes
        port = archive.port
        reference = archive.reference
        provisionalKey = archive.provisionalKey
        self.replaces = replaces
        guard archive.reference != nil else { return }
        if archive.sha256 != archive.key { sha256 = archive.sha256 }
        summary = Summary(
            createdAt: archive.createdAt.map(RFC3339.text), description: archive.description,
            software: archive.software, waczVersion: archive.waczVersion, mainPageURL: archive.mainPageURL,
            mainPageTimestamp: archive.mainPageTimestamp, pageCount: archive.pageCount,
            captureCount: archive.captureCount, firstCapture: archive.firstCapture, lastCapture: archive.lastCapture,
            findings: archive.findingCounts, lookups: archive.lookups?.way.rawValue,
            lookupsReason: archive.lookups?.reason)
    }

    /// An archive whose file cannot be read now, as far as the sidecar tells; `nil` when it tells too little.
    func archive(key: String, id: ArchiveID) -> Archive? {
        guard let reference, let summary else { return nil }
        var archive = Archive(
            key: key, id: id, title: title, sha256: sha256 ?? Self.hash(inKey: key), size: reference.size,
            originalName: originalName, source: source, importedAt: RFC3339.date(importedAt) ?? Date(),
            createdAt: summary.createdAt.flatMap(RFC3339.date), description: summary.description,
            software: summary.software, waczVersion: summary.waczVersion, mainPageURL: summary.mainPageURL,
            mainPageTimestamp: summary.mainPageTimestamp, pageCount: summary.pageCount,
            captureCount: summary.captureCount, firstCapture: summary.firstCapture, lastCapture: summary.lastCapture,
            findingCounts: summary.findings,
            lookups: summary.lookups.flatMap(ArchiveLookups.Way.init).map {
                ArchiveLookups(way: $0, reason: summary.lookupsReason)
            })
        apply(to: &archive)
        archive.isExamined = false
        return archive
    }

    /// Puts what people said into an archive.
    func apply(to archive: inout Archive) {
        archive.title = title
        archive.tags = tags ?? []
        archive.notes = notes ?? ""
        archive.port = port
        archive.reference = reference
        archive.provisionalKey = provisionalKey
        archive.originalName = originalName
        archive.source = source
        if let time = RFC3339.date(importedAt) { archive.importedAt = time }
        if reference != nil { archive.sha256 = sha256 ?? Self.hash(inKey: archive.key) }
    }

    /// The same words for a file that the store has itself.
    func takenIn() -> Sidecar {
        var sidecar = self
        (sidecar.reference, sidecar.summary, sidecar.sha256, sidecar.provisionalKey) = (nil, nil, nil, nil)
        return sidecar
    }

    /// The SHA-256 that a key is; `nil` for a provisional one.
    static func hash(inKey key: String) -> String? {
        key.hasPrefix(StoreLayout.referencePrefix) ? nil : key
    }
}
