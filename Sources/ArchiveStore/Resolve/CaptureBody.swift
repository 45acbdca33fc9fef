import Synchronization
package import WebArchive

/// The body of a capture: how long it is, how it is encoded, and the way to read it.
package struct CaptureBody: Sendable {
    private let content: RecordContent

    init(content: RecordContent) {
        self.content = content
    }

    /// The content codings in the order in which they were applied; empty when one of them is unknown and stays as it is.
    package var codings: [ContentCoding] { content.head.flatMap { ContentCoding.applied(in: $0.fields) } ?? [] }

    /// Bytes of the body with its codings kept; `nil` when only reading tells.
    package var storedLength: UInt64? { content.bodyLength }

    /// The part that an archived partial answer says it holds; `nil` when it does not say. RFC 9110 §14.4.
    package var storedRange: StoredRange? { content.head?.fields["Content-Range"].flatMap { StoredRange($0) } }

    /// A `Content-Range` that makes sense.
    package struct StoredRange: Sendable, Hashable {
        package let first: UInt64
        package let last: UInt64
        /// Bytes of the whole; `nil` for `*`.
        package let total: UInt64?

        init?(_ field: String) {
            let words = field.split(whereSeparator: { " -/".contains($0) })
            guard words.count == 4, words[0].lowercased() == "bytes", let first = UInt64(words[1]),
                let last = UInt64(words[2]), first <= last, last < .max
            else { return nil }
            total = UInt64(words[3])
            guard total != nil || words[3] == "*", last < total ?? .max else { return nil }
            (self.first, self.last) = (first, last)
        }

        /// Whether it is all there is.
        package var isWhole: Bool { first == 0 && total == last + 1 }

        package var totalText: String { total.map { "\($0)" } ?? "*" }
    }

    /// Opens the body at its first byte.
    ///
    /// - Parameter decoded: Whether the codings are undone.
    package func open(decoded: Bool, from offset: UInt64 = 0) throws(WebArchiveError) -> CaptureBodyReader {
        try CaptureBodyReader(content, codings: decoded ? codings : [], offset: offset)
    }
}

/// Reads a body once, piece by piece. Handed from thread to thread; one reads at a time.
package final class CaptureBodyReader: Sendable {
    private struct State {
        let stream: any ByteStream
        /// Bytes still to be passed over before the first one that is wanted.
        var ahead: UInt64
    }

    private let state: Mutex<State>

    fileprivate init(
        _ content: RecordContent, codings: [ContentCoding], offset: UInt64
    ) throws(WebArchiveError) {
        // Within codings every byte before the wanted one has to be decoded.
        let entered = codings.isEmpty && !content.record.isCompressed && content.bodyLength != nil ? offset : 0
        let stream = ContentDecoder.decode(try content.openBody(from: entered), codings)
        state = Mutex(State(stream: stream, ahead: offset - entered))
    }

    /// Passes over what lies before the wanted offset, a bounded step at a time.
    ///
    /// - Returns: Whether there is more to pass over.
    package func advance() throws(WebArchiveError) -> Bool {
        try state.withLock { (state) throws(WebArchiveError) -> Bool in
            guard state.ahead > 0 else { return false }
            let step = min(state.ahead, Self.stepBytes)
            try state.stream.skip(step)
            state.ahead -= step
            return state.ahead > 0
        }
    }

    /// The next bytes, at most `count`: none only at the end.
    package func read(upTo count: Int) throws(WebArchiveError) -> [UInt8] {
        try state.withLock { (state) throws(WebArchiveError) -> [UInt8] in try state.stream.next(count) }
    }

    private static let stepBytes: UInt64 = 8 << 20
}

extension ByteStream {
    /// The next bytes: as many as `count`, fewer only before the end or before damage.
    fileprivate func next(_ count: Int) throws(WebArchiveError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        var filled = 0
        while filled < count {
            do throws(WebArchiveError) {
                let found = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                if found == 0 { break }
                filled += found
            } catch {
                // What came before the damage is good; the next call meets the damage again.
                if filled > 0 { break }
                throw error
            }
        }
        return Array(buffer[..<filled])
    }
}
