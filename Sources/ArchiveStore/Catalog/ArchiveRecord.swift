import Foundation
import GRDB

/// An archive as a row of the table `archive`.
struct ArchiveRecord: CatalogRecord {
    static let databaseTableName = "archive"

    let archive: Archive
    /// The version of the sidecar that the row matches.
    let sidecarStamp: String?

    private enum CodingKeys: String, CodingKey {
        case key, id, sha256, size, storage, linkedPath, linkedModifiedAt, isExamined, sidecarStamp
        case verification, knownState, detectedPageCount
    }

    init(_ archive: Archive, sidecarStamp: String?) {
        (self.archive, self.sidecarStamp) = (archive, sidecarStamp)
    }

    init(from decoder: any Decoder) throws {
        let row = try decoder.container(keyedBy: CodingKeys.self)
        let size = try row.decode(UInt64.self, forKey: .size)
        let linkedFile = try row.decodeIfPresent(String.self, forKey: .linkedPath).map {
            FileReference(
                path: $0, size: size,
                modifiedAtNanoseconds: try row.decode(Int64.self, forKey: .linkedModifiedAt))
        }
        var archive = Archive(
            key: try row.decode(String.self, forKey: .key), id: try row.decode(ArchiveID.self, forKey: .id),
            sha256: try row.decodeIfPresent(String.self, forKey: .sha256), size: size,
            storage: linkedFile.map(ArchiveStorage.linked) ?? .managed,
            isExamined: try row.decode(Bool.self, forKey: .isExamined),
            entry: try LibraryEntry(from: decoder), summary: try ArchiveSummary(from: decoder))
        let verified = try row.decodeIfPresent(VerificationSummary.self, forKey: .verification)
        archive.lastReading = try row.decodeIfPresent(String.self, forKey: .knownState).map {
            Archive.Reading(state: $0, verified: verified)
        }
        archive.detectedPageCount = try row.decode(Int.self, forKey: .detectedPageCount)
        self.archive = archive
        sidecarStamp = try row.decodeIfPresent(String.self, forKey: .sidecarStamp)
    }

    func encode(to encoder: any Encoder) throws {
        try archive.entry.encode(to: encoder)
        try archive.summary.encode(to: encoder)
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(archive.key, forKey: .key)
        try row.encode(archive.id, forKey: .id)
        try row.encode(archive.sha256, forKey: .sha256)
        try row.encode(Int64(clamping: archive.size), forKey: .size)
        try row.encode(archive.storage.name, forKey: .storage)
        try row.encode(archive.storage.linkedFile?.path, forKey: .linkedPath)
        try row.encode(archive.storage.linkedFile?.modifiedAtNanoseconds, forKey: .linkedModifiedAt)
        try row.encode(archive.isExamined, forKey: .isExamined)
        try row.encode(sidecarStamp, forKey: .sidecarStamp)
        try row.encode(archive.verified, forKey: .verification)
        try row.encode(archive.lastReading?.state, forKey: .knownState)
        try row.encode(archive.detectedPageCount, forKey: .detectedPageCount)
    }
}

extension ArchiveID: DatabaseValueConvertible {}
extension ArchiveLookups.IndexStrategy: DatabaseValueConvertible {}
