package import Foundation
package import WebArchive

/// What was read from an archive's file. The sidecar of a linked file stores it, in case the file becomes unavailable.
package struct ArchiveSummary: Sendable, Hashable, Codable {
    package var createdAt: Date?
    package var description: String?
    package var software: String?
    package var waczVersion: String?
    package var mainPageURL: String?
    /// 14 digits, UTC.
    package var mainPageTimestamp: String?
    package var pageCount = 0
    package var captureCount = 0
    /// The times of the earliest and the latest capture, 14 or 17 digits.
    package var firstCapture: String?
    package var lastCapture: String?
    package var findingCounts = FindingCounts()
    private(set) var indexStrategy: ArchiveLookups.IndexStrategy?
    private(set) var lookupsReason: String?

    private enum CodingKeys: String, CodingKey {
        case createdAt, description, software, waczVersion, mainPageURL, mainPageTimestamp, pageCount, captureCount
        case firstCapture, lastCapture, lookupsReason
        case findingCounts = "findings"
        case indexStrategy = "lookups"
    }

    /// How captures are looked up; `nil` if that isn't known yet. In that case the order of the index is checked first.
    package var lookups: ArchiveLookups? {
        get { indexStrategy.map { ArchiveLookups(strategy: $0, reason: lookupsReason) } }
        set { (indexStrategy, lookupsReason) = (newValue?.strategy, newValue?.reason) }
    }
}

/// The number of an archive's findings, by severity.
package struct FindingCounts: Sendable, Hashable, Codable {
    package var notice = 0
    package var warning = 0
    package var error = 0
}

extension FindingCounts {
    package init(_ findings: [Finding]) {
        for finding in findings {
            switch finding.severity {
            case .notice: notice += 1
            case .warning: warning += 1
            case .error: error += 1
            }
        }
    }
}
