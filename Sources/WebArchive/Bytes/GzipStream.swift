/// Inflates one gzip member and leaves the input right after it. RFC 1952 §2.2.
final class GzipMember: ByteStream {
    let name: String
    private let input: BufferedInput
    private let inflater: Inflater
    private let allowance: Allowance
    /// Whether the member's trailer was reached and its checksum is correct.
    private(set) var isFinished = false

    init(_ input: BufferedInput, _ allowance: Allowance) throws(WebArchiveError) {
        (self.input, self.allowance) = (input, allowance)
        name = input.name
        inflater = try Inflater(format: .gzip, file: input.name)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        var consumed = 0
        while !isFinished {
            let isAtEnd = try input.isAtEnd()
            // Also at the end of the input: zlib may still have bytes that didn't fit into the last buffer.
            let step = try inflater.inflate(input.unread, into: buffer, offset: input.offset)
            input.consume(step.consumed)
            consumed += step.consumed
            guard consumed < WebArchiveError.bytesWithoutContentMax else { throw .noContent(file: name) }
            isFinished = step.isFinished
            try allowance.charge(step.produced, file: name)
            if step.produced > 0 { return step.produced }
            guard !isAtEnd || isFinished else {
                throw WebArchiveError(
                    code: .truncated, problem: "the gzip data ends early", file: name, offset: input.offset)
            }
        }
        return 0
    }

    /// Inflates the rest of the member and discards it.
    ///
    /// - Throws: `badGzip` if more than `limit` bytes are left.
    func drain(limit: Int) throws(WebArchiveError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var total = 0
        while case let count = try read(into: buffer), count > 0 {
            total += count
            guard total <= limit else {
                throw WebArchiveError(
                    code: .badGzip, problem: "more than \(limit) bytes follow the record in its gzip member",
                    file: name,
                    offset: input.offset)
            }
        }
    }

    /// Returns whether `bytes` begin with the header of a gzip member that this type can inflate. RFC 1952 §2.3.1.
    static func starts(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: [0x1F, 0x8B, 0x08])
    }
}

/// Inflates consecutive gzip members as one stream. Zero bytes after the last member are ignored.
package final class GzipStream: ByteStream {
    package var name: String { input.name }
    private let input: BufferedInput
    /// Whether it's the body of an HTTP message, which ends at other data: some servers append it, and browsers ignore it.
    private let isBody: Bool
    private let allowance: Allowance
    private var member: GzipMember?

    /// The maximum number of consecutive empty members of a body, which would otherwise keep a reader busy.
    private static let emptyMembersMax = 1000

    package init(_ stream: any ByteStream, _ allowance: Allowance) {
        (input, isBody, self.allowance) = (BufferedInput(stream), false, allowance)
    }

    /// Creates a stream for a body.
    init(body: BufferedInput, _ allowance: Allowance) {
        (input, isBody, self.allowance) = (body, true, allowance)
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        var emptyMembers = 0
        while true {
            if let member {
                let count = try member.read(into: buffer)
                if count > 0 { return count }
                self.member = nil
                emptyMembers += 1
                guard !isBody || emptyMembers < Self.emptyMembersMax else { throw .noContent(file: name) }
            }
            let head = try input.peek(3)
            guard GzipMember.starts(head) else {
                guard isBody || head.allSatisfy({ $0 == 0 }) else {
                    throw WebArchiveError(
                        code: .badGzip, problem: "unexpected data follows a gzip member", file: name,
                        offset: input.offset)
                }
                return 0
            }
            member = try GzipMember(input, allowance)
        }
    }
}
