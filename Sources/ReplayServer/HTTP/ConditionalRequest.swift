import WebArchive

/// The preconditions of a GET or HEAD. RFC 9110 §13.
package struct ConditionalRequest: Sendable, Hashable {
    package var ifMatch: String?
    package var ifNoneMatch: String?
    package var ifModifiedSince: String?
    package var ifUnmodifiedSince: String?
    package var ifRange: String?
    package var range: String?

    package enum Answer: Sendable, Hashable {
        case whole
        case ranges([ByteRange])
        case notModified
        case preconditionFailed
        case rangeNotSatisfiable
    }

    /// Evaluates the preconditions in the order of RFC 9110 §13.2.2.
    ///
    /// - Parameters:
    ///   - size: The size of the complete body in bytes.
    ///   - modifiedAt: Seconds since 1970, as sent in `Last-Modified`.
    ///   - isHead: Ranges are ignored for HEAD: §14.2 defines them for GET only.
    package func answer(tag: ETag, modifiedAt: Int, size: UInt64, isHead: Bool) -> Answer {
        if let ifMatch {
            if !Self.matches(ifMatch, tag, by: ETag.isStronglyEqual) { return .preconditionFailed }
        } else if let limit = ifUnmodifiedSince.flatMap({ HTTPDate.seconds(of: $0) }), modifiedAt > limit {
            return .preconditionFailed
        }
        if let ifNoneMatch {
            if Self.matches(ifNoneMatch, tag, by: ETag.isWeaklyEqual) { return .notModified }
        } else if let since = ifModifiedSince.flatMap({ HTTPDate.seconds(of: $0) }), modifiedAt <= since {
            return .notModified
        }
        guard let range, !isHead, isRangeWanted(tag: tag, modifiedAt: modifiedAt) else { return .whole }
        do {
            return try ByteRange.parse(range, size: size).map { .ranges($0) } ?? .whole
        } catch {
            return .rangeNotSatisfiable
        }
    }

    /// Whether `If-Range` allows sending a range. RFC 9110 §13.1.5.
    private func isRangeWanted(tag: ETag, modifiedAt: Int) -> Bool {
        guard let ifRange else { return true }
        if let wanted = ETag(ifRange) { return wanted.isStronglyEqual(to: tag) }
        return HTTPDate.seconds(of: ifRange) == modifiedAt
    }

    private static func matches(_ field: String, _ tag: ETag, by isEqual: (ETag) -> (ETag) -> Bool) -> Bool {
        field == "*" || ETag.list(field).contains { isEqual($0)(tag) }
    }
}
