import ArchiveStore
import HTTPTypes
import Hummingbird
import WebArchive

extension CaptureAnswer {
    /// Determines which part of the body to send, and whether to decode it. RFC 9110 §13.2.2, §14.2. A request for
    /// several ranges gets the complete body.
    func part() async throws -> Part {
        let stored = capture.body
        let partial = capture.status == 206 ? stored.storedRange : nil
        // Part of an encoded body can't be decoded and is sent as archived.
        let canBeDecoded = partial.map { $0.isWhole } ?? true
        let isDecoded =
            !stored.codings.isEmpty && canBeDecoded && !Self.accepts(stored.codings, request.headers[.acceptEncoding])
        var part = Part(
            status: Self.status(capture.status ?? 200), fields: fields(isDecoded: isDecoded),
            length: isDecoded ? nil : stored.storedLength, isDecoded: isDecoded)
        switch part.status.code {
        case 204, 205:
            // These have no body, whatever the archive contains. RFC 9110 §15.3.5, §15.3.6.
            part.fields = [.eTag: tag(isDecoded: false).description, .cacheControl: "no-cache"]
            (part.length, part.hasBody) = (part.status.code == 205 ? 0 : nil, false)
        case 200, 206:
            try await choose(&part, partial)
        default:
            part.fields[.acceptRanges] = nil
        }
        return part
    }

    private func fields(isDecoded: Bool) -> HTTPFields {
        var fields: HTTPFields = [
            .eTag: tag(isDecoded: isDecoded).description, .cacheControl: "no-cache", .vary: "Accept-Encoding",
            .acceptRanges: "bytes",
        ]
        if !isDecoded, !capture.body.codings.isEmpty {
            fields[.contentEncoding] = capture.body.codings.map(\.rawValue).joined(separator: ", ")
        }
        return fields
    }

    private func choose(_ part: inout Part, _ partial: ContentRange?) async throws {
        let conditions = ConditionalRequest(
            ifNoneMatch: request.headers[.ifNoneMatch], ifRange: request.headers[.ifRange],
            range: request.method == .get ? request.headers[.range] : nil)
        let tag = tag(isDecoded: part.isDecoded)
        if conditions.answer(tag: tag, modifiedAt: -1, size: 0, isHead: true) == .notModified {
            part.status = .notModified
            part.hasBody = false
            return
        }
        if let partial, !partial.isWhole { return try await choose(&part, of: partial, conditions, tag) }
        part.status = .ok
        guard let range = conditions.range,
            let (size, isWhole) = try await size(isDecoded: part.isDecoded, beyond: ByteRange.last(of: range))
        else { return }
        switch conditions.answer(tag: tag, modifiedAt: -1, size: size, isHead: false) {
        case .ranges(let ranges) where ranges.count == 1:
            part.status = .partialContent
            part.fields[.contentRange] = ranges[0].contentRange(size: isWhole ? size : nil)
            (part.offset, part.length) = (ranges[0].first, ranges[0].length)
        case .rangeNotSatisfiable: refuseRange(&part, size: "\(size)")
        default: if isWhole { part.length = size }
        }
    }

    /// Selects a range of an archived partial response, which has only part of the body.
    private func choose(
        _ part: inout Part, of partial: ContentRange, _ conditions: ConditionalRequest, _ tag: ETag
    ) async throws {
        guard let (length, _) = try await size(isDecoded: false), length > 0 else {
            return refuseRange(&part, size: lengthText(partial))
        }
        // What the record contains, which may be less than its Content-Range.
        let archived = ByteRange(
            first: partial.first, last: partial.first + min(length - 1, partial.last - partial.first))
        let total = partial.total ?? archived.last + 1
        var sent = archived
        switch conditions.answer(tag: tag, modifiedAt: -1, size: total, isHead: false) {
        case .ranges(let ranges) where ranges.count == 1:
            // A shorter response is allowed, but not one that starts elsewhere.
            guard archived.first...archived.last ~= ranges[0].first else {
                return refuseRange(&part, size: lengthText(partial))
            }
            sent = ByteRange(first: ranges[0].first, last: min(ranges[0].last, archived.last))
        case .rangeNotSatisfiable: return refuseRange(&part, size: lengthText(partial))
        default: break
        }
        part.status = .partialContent
        part.fields[.contentRange] = "bytes \(sent.first)-\(sent.last)/\(lengthText(partial))"
        (part.offset, part.length) = (sent.first - archived.first, sent.length)
    }

    private func lengthText(_ range: ContentRange) -> String { range.total.map { "\($0)" } ?? "*" }

    private func refuseRange(_ part: inout Part, size: String) {
        part.status = .rangeNotSatisfiable
        part.fields[.contentRange] = "bytes */\(size)"
        (part.length, part.hasBody) = (nil, false)
    }

    /// Returns the length of the body as it is sent. Reads the body if necessary; `nil` if it is too long for that.
    ///
    /// - Parameter last: A position in the body: what is after it need not be read.
    /// - Returns: Also whether it's the whole length; if not, the position is before it.
    private func size(isDecoded: Bool, beyond last: UInt64? = nil) async throws -> (UInt64, isWhole: Bool)? {
        let body = capture.body
        if !isDecoded, let length = body.storedLength { return (length, true) }
        let reader = try await blocking.step { try body.open(decoded: isDecoded) }
        var size: UInt64 = 0
        while size < Self.measuredMax {
            try checkClient()
            let count = try await blocking.step { try reader.read(upTo: Self.measuredBytes).count }
            size += UInt64(count)
            if count == 0 { return (size, true) }
            // Fewer bytes mean that the body ends.
            if let last, size > last, count == Self.measuredBytes { return (size, false) }
        }
        return nil
    }

    private static let measuredBytes = 1 << 20
    /// The maximum number of bytes to read to determine a length. Longer bodies don't support ranges.
    private static let measuredMax: UInt64 = 4 << 30
}
