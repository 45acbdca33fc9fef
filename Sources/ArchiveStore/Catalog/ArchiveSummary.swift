package import Foundation
package import WebArchive

/// What reading an archive's file found. The sidecar of a linked file keeps it for the time when the file is unavailable.
package struct ArchiveSummary: Sendable, Hashable, Codable {
    package var createdAt: Date?
    package var description: String?
    package var software: String?
    package var waczVersion: String?
    package var mainPageURL: String?
    /// 14 digits.
    package var mainPageTimestamp: String?
    package var pageCount = 0
    package var captureCount = 0
    /// Earliest and latest capture, 14 or 17 digits.
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

    /// How captures are looked up; `nil` when that was not found out yet: then the index is checked before it is trusted.
    package var lookups: ArchiveLookups? {
        get { indexStrategy.map { ArchiveLookups(strategy: $0, reason: lookupsReason) } }
        set { (indexStrategy, lookupsReason) = (newValue?.strategy, newValue?.reason) }
    }
}

/// How many findings of each severity an archive has.
package struct FindingCounts: Sendable, Hashable, Codable {
    package var notice = 0
    package var warning = 0
    package var error = 0

    package init(notice: Int = 0, warning: Int = 0, error: Int = 0) {
        self.notice = notice
        self.warning = warning
        self.error = error
    }

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
