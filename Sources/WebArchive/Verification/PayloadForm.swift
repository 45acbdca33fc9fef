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
        do {
            let message = try reader.record(at: offset).openHTTPMessage()
            guard let codings = isDecoded ? ContentCoding.applied(in: message.head.fields) : [],
                isDecoded ? !codings.isEmpty : message.head.isChunked
            else { return false }
            return try ContentDecoder.decode(message, codings, reader.allowance).hash(digest.algorithm, check) == digest
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            return false
        }
    }
}

/// What comparing a record with the digests in its own header found.
package enum RecordComparison: String, Sendable, Encodable {
    /// It matches each of its digests that can be compared.
    case agrees
    /// It doesn't match one of its digests.
    case differs
    /// It has no digest that can be compared.
    case withoutDigest = "without-digest"
    /// It couldn't be read to its end.
    case unreadable
}

extension RecordContent {
    /// Reads the record to its end, and compares its block and its payload with the digests in its header (WARC 1.1 §5.8,
    /// §5.9). The payload of a revisit and that of a first segment are elsewhere.
    ///
    /// - Throws: `io`, `cancelled`.
    package func compareWithDigests(_ check: CancellationCheck) throws -> RecordComparison {
        do {
            let digests = RecordDigests()
            digests.begin(record)
            try record.openBlock().forEachChunk { bytes in
                try check.now()
                try digests.receive(bytes)
                return true
            }
            try digests.end()
            let results = try digests.takeResults()
            for mismatch in results.mismatches {
                guard !mismatch.isOfBlock, let payload = mismatch.payload else { return .differs }
                let forms = PayloadFormFinder(reader: record.reader)
                guard try forms.form(of: record.offset, matching: payload, check: check.now) != nil else {
                    return .differs
                }
            }
            return results.withDigest > 0 ? .agrees : .withoutDigest
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            return .unreadable
        }
    }

    /// Hashes the payload, and returns whether it has a digest in one of the forms that writers hash: as recorded, or a
    /// `PayloadForm`.
    ///
    /// - Returns: `false` if it can't be read to its end.
    /// - Throws: `io`, `cancelled`, `tooCostly`.
    package func hasPayload(_ digest: WARCDigest, _ check: CancellationCheck) throws -> Bool {
        do {
            let recorded = try record.openBlock(from: UInt64(head?.length ?? 0))
            if try recorded.hash(digest.algorithm, check.now) == digest { return true }
            if head?.isChunked == true, try openBody().hash(digest.algorithm, check.now) == digest { return true }
            guard let codings, !codings.isEmpty else { return false }
            let decoded = ContentDecoder.decode(try openBody(), codings, record.allowance)
            return try decoded.hash(digest.algorithm, check.now) == digest
        } catch let error as WebArchiveError where ![.io, .cancelled, .tooCostly].contains(error.code) {
            return false
        }
    }
}

extension ByteStream {
    /// Hashes the rest of the stream.
    ///
    /// - Parameter check: Called often; throws to stop.
    fileprivate func hash(_ algorithm: WARCDigest.Algorithm, _ check: () throws -> Void) throws -> WARCDigest {
        var hasher = DigestHasher(algorithm)
        try forEachChunk { bytes in
            try check()
            hasher.update(bytes)
            return true
        }
        return hasher.digest
    }
}
