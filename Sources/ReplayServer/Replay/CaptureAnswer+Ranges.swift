import ArchiveStore
import HTTPTypes
import Hummingbird
import WebArchive

extension CaptureAnswer {
    /// Which part of the body is sent, decoded or not. RFC 9110 §13.2.2 and §14.2; of several ranges the whole is sent.
    func part() async throws -> Part {
        let stored = capture.body
        let partial = capture.status == 206 ? stored.storedRange : nil
        // A part of encoded data cannot be decoded: it is passed on.
        let canBeDecoded = partial.map { $0.isWhole } ?? true
        let isDecoded =
            !stored.codings.isEmpty && canBeDecoded && !Self.accepts(stored.codings, request.headers[.acceptEncoding])
        var part = Part(
            status: Self.status(capture.status), fields: fields(isDecoded: isDecoded),
            length: isDecoded ? nil : stored.storedLength, isDecoded: isDecoded)
        switch part.status.code {
        case 204, 205:
            // Whatever the archive holds behind such a head, there is no body. RFC 9110 §15.3.5, §15.3.6.
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

    private func choose(_ part: inout Part, _ partial: CaptureBody.StoredRange?) async throws {
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
        guard conditions.range != nil, let size = try await size(isDecoded: part.isDecoded) else { return }
        switch conditions.answer(tag: tag, modifiedAt: -1, size: size, isHead: false) {
        case .ranges(let ranges) where ranges.count == 1:
            part.status = .partialContent
            part.fields[.contentRange] = ranges[0].contentRange(size: size)
            (part.offset, part.length) = (ranges[0].first, ranges[0].length)
        case .rangeNotSatisfiable: refuseRange(&part, size: "\(size)")
        default: part.length = size
        }
    }

    /// A range of an archived partial answer, of which nothing but its part is there.
    private func choose(
        _ part: inout Part, of partial: CaptureBody.StoredRange, _ conditions: ConditionalRequest, _ tag: ETag
    ) async throws {
        guard let length = try await size(isDecoded: false), length > 0 else {
            return refuseRange(&part, size: partial.totalText)
        }
        // What the record holds, however much its field had promised.
        let held = ByteRange(
            first: partial.first, last: partial.first + min(length - 1, partial.last - partial.first))
        let total = partial.total ?? held.last + 1
        var given = held
        switch conditions.answer(tag: tag, modifiedAt: -1, size: total, isHead: false) {
        case .ranges(let ranges) where ranges.count == 1:
            // A shorter answer is allowed, one that begins elsewhere is not.
            guard held.first...held.last ~= ranges[0].first else { return refuseRange(&part, size: partial.totalText) }
            given = ByteRange(first: ranges[0].first, last: min(ranges[0].last, held.last))
        case .rangeNotSatisfiable: return refuseRange(&part, size: partial.totalText)
        default: break
        }
        part.status = .partialContent
        part.fields[.contentRange] = "bytes \(given.first)-\(given.last)/\(partial.totalText)"
        (part.offset, part.length) = (given.first - held.first, given.length)
    }

    private func refuseRange(_ part: inout Part, size: String) {
        part.status = .rangeNotSatisfiable
        part.fields[.contentRange] = "bytes */\(size)"
        (part.length, part.hasBody) = (nil, false)
    }

    /// Bytes of the body as it is sent. What only reading tells is read through once; `nil` when that takes too long.
    private func size(isDecoded: Bool) async throws -> UInt64? {
        let body = capture.body
        if !isDecoded, let length = body.storedLength { return length }
        let reader = try await blocking.long { try body.open(decoded: isDecoded) }
        var size: UInt64 = 0
        while size < Self.measuredMax {
            try checkClient()
            let count = try await blocking.long { try reader.read(upTo: Self.measuredBytes).count }
            size += UInt64(count)
            if count == 0 { return size }
        }
        return nil
    }

    private static let measuredBytes = 4 << 20
    /// Bytes that are read to learn a length, at most; of a longer body ranges are not given.
    private static let measuredMax: UInt64 = 4 << 30
}
