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
        case intact, partlyChecked, unverified, damaged
    }

    init(_ archive: Archive, in layout: StoreLayout) {
        condition = Self.condition(of: archive.observed(in: layout).archive)
        (importedAt, id) = (archive.importedAt, archive.id.text)
    }

    /// Whether everything in the archive was compared with its hashes, and agrees.
    var isKnownToBeIntact: Bool { condition == .intact }

    /// Whether something is known to be wrong with the archive.
    var isDamaged: Bool { condition == .damaged }

    private static func condition(of archive: Archive) -> Condition {
        if archive.findingCounts.error > 0 { return .damaged }
        guard let verified = archive.verified else { return .unverified }
        if verified.code.isFailure { return .damaged }
        return verified.contents == .hashesAgree ? .intact : .partlyChecked
    }

    static func < (left: CopyOrder, right: CopyOrder) -> Bool {
        (left.condition.rawValue, left.importedAt, left.id) < (right.condition.rawValue, right.importedAt, right.id)
    }
}

extension [Archive] {
    /// The archives with the best copies first.
    package func bestCopiesFirst(in layout: StoreLayout) -> [Archive] {
        count < 2 ? self : map { ($0, CopyOrder($0, in: layout)) }.sorted { $0.1 < $1.1 }.map(\.0)
    }
}
