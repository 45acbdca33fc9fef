/// Several sources, one after the other, as one.
package struct JoinedByteSource: ByteSource {
    package let name: String
    package let size: UInt64
    private let parts: [(start: UInt64, source: any ByteSource)]

    package init(_ sources: [any ByteSource], name: String) {
        self.name = name
        var end: UInt64 = 0
        parts = sources.map { source in
            defer { end += source.size }
            return (end, source)
        }
        size = end
    }

    package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        var done = 0
        for (start, source) in parts {
            let position = offset + UInt64(done)
            guard position >= start, position < start + source.size else { continue }
            let count = Int(min(UInt64(buffer.count - done), start + source.size - position))
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
            let found = try source.read(at: position - start, into: target)
            done += found
            guard found == count, done < buffer.count else { break }
        }
        return done
    }
}
