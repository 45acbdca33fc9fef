import Synchronization
package import WebArchive

/// The body of a capture.
package struct CaptureBody: Sendable {
    let content: RecordContent

    /// The content codings in the order in which they were applied; empty if one of them is unknown.
    package var codings: [ContentCoding] { content.codings ?? [] }

    /// The length of the encoded body in bytes; `nil` if it is only known after reading.
    package var storedLength: UInt64? { content.bodyLength }

    /// The `Content-Range` of an archived partial response.
    package var storedRange: ContentRange? { content.contentRange }

    /// Opens the body at an offset.
    ///
    /// - Parameter decoded: Whether to decode the content codings.
    package func open(decoded: Bool, from offset: UInt64 = 0) throws(WebArchiveError) -> CaptureBodyReader {
        try CaptureBodyReader(content, codings: decoded ? codings : [], offset: offset)
    }
}

/// Reads a body once, in pieces. Can be used from any thread, one at a time.
package final class CaptureBodyReader: Sendable {
    private struct State {
        let stream: any ByteStream
        /// The number of bytes to skip before the requested offset.
        var remaining: UInt64
    }

    private let state: Mutex<State>

    fileprivate init(
        _ content: RecordContent, codings: [ContentCoding], offset: UInt64
    ) throws(WebArchiveError) {
        // With codings, every byte before the offset has to be decoded.
        let start = codings.isEmpty && !content.record.isCompressed && content.bodyLength != nil ? offset : 0
        let stream = ContentDecoder.decode(try content.openBody(from: start), codings, content.record.allowance)
        state = Mutex(State(stream: stream, remaining: offset - start))
    }

    /// Skips bytes before the requested offset, a bounded number per call.
    ///
    /// - Returns: Whether there are more bytes to skip.
    package func advance() throws(WebArchiveError) -> Bool {
        try state.withLock { (state) throws(WebArchiveError) -> Bool in
            guard state.remaining > 0 else { return false }
            let step = min(state.remaining, Self.stepBytes)
            try state.stream.skip(step)
            state.remaining -= step
            return state.remaining > 0
        }
    }

    /// Returns the next bytes, at most `count`; empty at the end.
    package func read(upTo count: Int) throws(WebArchiveError) -> [UInt8] {
        try state.withLock { (state) throws(WebArchiveError) -> [UInt8] in try state.stream.next(count) }
    }

    /// Returns the body as a stream.
    func stream(named name: String) -> any ByteStream { BodyStream(self, name: name) }

    private static let stepBytes: UInt64 = 8 << 20

    private final class BodyStream: ByteStream {
        let name: String
        private let reader: CaptureBodyReader

        init(_ reader: CaptureBodyReader, name: String) {
            (self.reader, self.name) = (reader, name)
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
            let bytes = try reader.read(upTo: buffer.count)
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
    }
}

extension ByteStream {
    /// Returns the next `count` bytes, or fewer before the end or before damage.
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
                // Return the bytes before the damage. The next call throws.
                if filled > 0 { break }
                throw error
            }
        }
        return Array(buffer[..<filled])
    }
}
