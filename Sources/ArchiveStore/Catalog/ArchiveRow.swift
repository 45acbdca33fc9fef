import Foundation
import GRDB
import WebArchive

/// An archive as a row of the table `archive`.
struct ArchiveRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "archive"

    var key: String
    var id: String
    var sha256: String?
    var storage: String
    var title: String
    var size: Int64
    var originalName: String
    var source: String
    var importedAt: String
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
    var notices: Int
    var warnings: Int
    var errors: Int
    var lookups: String?
    var lookupsReason: String?
    var tags: String
    var notes: String
    var port: Int?
    var referencePath: String?
    var referenceModifiedAt: Int64?
    var provisionalKey: String?
    var isExamined: Bool
    var sidecarStamp: String?

    /// - Parameter sidecarStamp: Of the sidecar that the row agrees with.
    init(_ archive: Archive, sidecarStamp: String?) {
        key = archive.key
        id = archive.id.text
        sha256 = archive.sha256
        storage = archive.reference == nil ? "managed" : "referenced"
        title = archive.title
        size = Int64(clamping: archive.size)
        originalName = archive.originalName
        source = archive.source
        importedAt = RFC3339.preciseText(of: archive.importedAt)
        createdAt = archive.createdAt.map(RFC3339.text)
        description = archive.description
        software = archive.software
        waczVersion = archive.waczVersion
        mainPageURL = archive.mainPageURL
        mainPageTimestamp = archive.mainPageTimestamp
        pageCount = archive.pageCount
        captureCount = archive.captureCount
        firstCapture = archive.firstCapture
        lastCapture = archive.lastCapture
        notices = archive.findingCounts.notice
        warnings = archive.findingCounts.warning
        errors = archive.findingCounts.error
        lookups = archive.lookups?.way.rawValue
        lookupsReason = archive.lookups?.reason
        tags = JSONText.of(archive.tags)
        notes = archive.notes
        port = archive.port
        referencePath = archive.reference?.path
        referenceModifiedAt = archive.reference?.modifiedAtNanoseconds
        provisionalKey = archive.provisionalKey
        isExamined = archive.isExamined
        self.sidecarStamp = sidecarStamp
    }

    func archive() throws -> Archive {
        guard let id = ArchiveID(id), let importedAt = RFC3339.date(importedAt) else {
            throw Catalog.damaged("it holds a row that no version of replayhost wrote")
        }
        return Archive(
            key: key, id: id, title: title, sha256: sha256, size: UInt64(clamping: size),
            originalName: originalName,
            source: source, importedAt: importedAt, createdAt: createdAt.flatMap(RFC3339.date),
            description: description,
            software: software, waczVersion: waczVersion, mainPageURL: mainPageURL,
            mainPageTimestamp: mainPageTimestamp,
            pageCount: pageCount, captureCount: captureCount, firstCapture: firstCapture, lastCapture: lastCapture,
            findingCounts: FindingCounts(notice: notices, warning: warnings, error: errors),
            lookups: lookups.flatMap(ArchiveLookups.Way.init).map { ArchiveLookups(way: $0, reason: lookupsReason) },
            tags: JSONText.texts(tags), notes: notes, port: port,
            reference: referencePath.map {
                FileReference(
                    path: $0, size: UInt64(clamping: size), modifiedAtNanoseconds: referenceModifiedAt ?? 0)
            },
            provisionalKey: provisionalKey, isExamined: isExamined)
    }
}

/// A list of texts in one column.
enum JSONText {
    static func of(_ texts: [String]) -> String {
        // An array of strings always has a JSON form.
        guard let data = try? JSONEncoder().encode(texts) else { return "[]" }
        return String(decoding: data, as: UTF8.self)
    }

    static func texts(_ json: String) -> [String] {
        (try? JSONDecoder().decode([String].self, from: Data(json.utf8))) ?? []
    }
}
