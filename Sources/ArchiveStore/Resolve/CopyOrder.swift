import Foundation
import WebArchive

/// How good an archive's copies are of captures that other archives have, too. The best come first.
///
/// Intact archives come before those that weren't verified, and these before damaged ones; then the oldest member of the
/// library.
struct CopyOrder: Comparable {
    private let condition: Condition
    private let importedAt: Date
    private let id: String

    private enum Condition: Int {
        case verified, incomplete, unverified, damaged
    }

    init(_ archive: Archive) {
        condition = Self.condition(of: archive)
        (importedAt, id) = (archive.importedAt, archive.id.text)
    }

    /// Whether everything in the archive was verified, and nothing is wrong with it.
    var isKnownToBeIntact: Bool { condition == .verified }

    /// Whether something is known to be wrong with the archive.
    var isDamaged: Bool { condition == .damaged }

    private static func condition(of archive: Archive) -> Condition {
        if archive.findingCounts.error > 0 { return .damaged }
        switch archive.verified?.outcome {
        case .verified: return .verified
        case .incomplete: return .incomplete
        case .failed: return .damaged
        case nil: return .unverified
        }
    }

    static func < (left: CopyOrder, right: CopyOrder) -> Bool {
        (left.condition.rawValue, left.importedAt, left.id) < (right.condition.rawValue, right.importedAt, right.id)
    }
}

extension [Archive] {
    /// The archives with the best copies first.
    package var bestCopiesFirst: [Archive] {
        count < 2 ? self : map { ($0, CopyOrder($0)) }.sorted { $0.1 < $1.1 }.map(\.0)
    }
}
