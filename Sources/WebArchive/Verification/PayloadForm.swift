/// What a payload digest was computed of. Writers differ in what they take for the payload of an HTTP message.
enum PayloadForm {
    /// The body without its transfer coding. WARC 1.1 §5.9 means this.
    case withoutTransferCoding
    /// The body without transfer and content coding.
    case decoded
}

/// Finds what payload digests were computed of that don't match the body as recorded.
struct PayloadFormFinder {
    let reader: WARCReader

    /// Returns what a record's payload digest was computed of.
    ///
    /// - Parameter check: Called often; throws to stop.
    /// - Returns: `nil` if no form of the body matches, or if it can't be read.
    /// - Throws: What `check` throws; `io` if the file can't be read.
    func form(of offset: UInt64, matching digest: WARCDigest, check: () throws -> Void) throws -> PayloadForm? {
        if try matches(digest, at: offset, isDecoded: false, check) { return .withoutTransferCoding }
        return try matches(digest, at: offset, isDecoded: true, check) ? .decoded : nil
    }

    private func matches(
        _ digest: WARCDigest, at offset: UInt64, isDecoded: Bool, _ check: () throws -> Void
    ) throws -> Bool {
        var hasher = DigestHasher(digest.algorithm)
        do {
            let message = try reader.record(at: offset).openHTTPMessage()
            guard let codings = isDecoded ? ContentCoding.applied(in: message.head.fields) : [],
                isDecoded ? !codings.isEmpty : message.head.isChunked
            else { return false }
            try ContentDecoder.decode(message, codings, reader.allowance).forEachChunk { bytes in
                try check()
                hasher.update(bytes)
                return true
            }
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            return false
        }
        return hasher.digest == digest
    }
}
