package import Foundation

/// Long-running work that can outlive the process that started it. Its JSON is documented in `docs/json.md`.
package struct Job: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// Imports a file.
        case `import`
        /// Hashes a linked file.
        case hash
        /// Makes the text of an archive searchable.
        case text
        /// Verifies an archive.
        case verify
    }

    package enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// Queued.
        case waiting
        case running
        case paused
        case done
        case failed
        case cancelled

        package var isOver: Bool { self == .done || self == .failed || self == .cancelled }
    }

    package let id: Int64
    package let kind: Kind
    /// A file name, for people.
    package let subject: String
    /// The archive or collection, once there is one.
    package let archiveID: ArchiveID?
    package let state: State
    /// Why the job failed, was paused or cancelled, or is queued again.
    package let reason: String?
    /// The code of the error that made the job fail.
    package let errorCode: String?
    /// Progress in bytes.
    package let done: UInt64
    package internal(set) var total: UInt64?
    /// How often the job was started.
    package let attempt: Int
    package let createdAt: Date
    /// The last start.
    package let startedAt: Date?
    package let updatedAt: Date
    package let finishedAt: Date?
    /// Whether the file can be read again, so that the job can be paused, resumed and retried.
    package let isRepeatable: Bool
    /// Increases with every change of any job.
    package let revision: Int
}

extension Job: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, kind, subject, archive, state, reason, errorCode, done, total, attempt
        case isRepeatable = "repeatable"
        case createdAt, startedAt, updatedAt, finishedAt
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(kind, forKey: .kind)
        try container.encode(subject, forKey: .subject)
        try container.encodeIfPresent(archiveID?.text, forKey: .archive)
        try container.encode(state, forKey: .state)
        try container.encodeIfPresent(reason, forKey: .reason)
        try container.encodeIfPresent(errorCode, forKey: .errorCode)
        try container.encode(done, forKey: .done)
        try container.encodeIfPresent(total, forKey: .total)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(isRepeatable, forKey: .isRepeatable)
        try container.encode(RFC3339.text(of: createdAt), forKey: .createdAt)
        try container.encodeIfPresent(startedAt.map(RFC3339.text), forKey: .startedAt)
        try container.encode(RFC3339.text(of: updatedAt), forKey: .updatedAt)
        try container.encodeIfPresent(finishedAt.map(RFC3339.text), forKey: .finishedAt)
    }
}
