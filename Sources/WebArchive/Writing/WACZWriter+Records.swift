/// A capture to copy from one archive to another.
package struct CopiedCapture: Sendable {
    package let entry: CDXJEntry
    package let wacz: WACZFile

    package init(_ entry: CDXJEntry, of wacz: WACZFile) {
        (self.entry, self.wacz) = (entry, wacz)
    }
}

extension WACZWriter {
    /// Adds a WARC file with the records of captures, and the requests that follow them. Damaged records are left out, with a
    /// finding.
    ///
    /// Records that are gzip members are copied as they are; others are compressed.
    ///
    /// - Parameters:
    ///   - name: The name of the file in `archive/`.
    ///   - progress: Called after each capture; throws to stop.
    package func addRecords(
        _ captures: [CopiedCapture], name: String, progress: () throws -> Void = {}
    ) throws {
        let gzip = try GzipWriter()
        try add("archive/\(name)", sizeMax: nil) { output in
            for capture in captures {
                try progress()
                let start = output.count
                guard let length = try readableCopy(of: capture, to: output, gzip) else { continue }
                try add(capture.entry.moved(to: name, offset: start, length: length))
            }
        }
    }

    /// Copies a record; `nil` if it's damaged.
    private func readableCopy(
        of capture: CopiedCapture, to output: ZIPWriter.Entry, _ gzip: GzipWriter
    ) throws(WebArchiveError) -> UInt64? {
        do throws(WebArchiveError) {
            return try copy(capture, to: output, gzip)
        } catch {
            guard error.isDamage || [.badIndex, .tooLarge, .tooCostly].contains(error.code) else { throw error }
            log.add(
                .error, "warc-damaged", "A WARC record can't be read: \(error.problem).",
                at: "archive/\(capture.entry.filename) byte \(capture.entry.offset)",
                consequence: "The content of this record can't be replayed.")
            return nil
        }
    }

    /// Copies a record and the request that follows it.
    ///
    /// - Returns: The length of the record in the new file.
    private func copy(
        _ capture: CopiedCapture, to output: ZIPWriter.Entry, _ gzip: GzipWriter
    ) throws(WebArchiveError) -> UInt64 {
        guard let file = capture.wacz.warcEntry(named: capture.entry.filename) else {
            throw WebArchiveError(code: .badIndex, problem: "the WARC file is missing", file: capture.entry.filename)
        }
        let reader = try WARCReader(entry: file, of: capture.wacz.directory, capture.wacz.allowance)
        let scanner = try reader.makeScanner(min(capture.entry.offset, reader.size)..<reader.size)
        let whole = try scanner.next()
        let cut = whole == nil ? try scanner.nextCutItem() : nil
        guard let item = whole ?? cut, item.record.offset == capture.entry.offset else {
            throw WebArchiveError(
                code: .badRecord, problem: "no readable record begins here", file: reader.name,
                offset: capture.entry.offset)
        }
        let start = output.count
        recordCount += 1
        guard cut == nil else {
            try copyCut(item.record, in: reader, to: output, gzip)
            log.add(scanner.takeFindings())
            return output.count - start
        }
        try copy(item, in: reader, to: output, gzip)
        let length = output.count - start
        if let next = try scanner.next(), next.record.type == "request", next.record.targetURI == item.record.targetURI
        {
            try copy(next, in: reader, to: output, gzip)
            recordCount += 1
        }
        return length
    }

    private func copy(
        _ item: WARCScanner.Item, in reader: WARCReader, to output: ZIPWriter.Entry, _ gzip: GzipWriter
    ) throws(WebArchiveError) {
        if item.record.isCompressed, let source = reader.storedSource {
            let stream = SourceStream(
                try SubrangeByteSource(source, offset: item.record.offset, length: item.length))
            try stream.forEachPiece { bytes throws(WebArchiveError) in try output.write(bytes) }
            return
        }
        // Only the record itself: what follows it in its gzip member may be anything.
        var left = item.record.headerLength + item.record.contentLength
        let content = try reader.open(at: item.record.offset, length: nil).content
        let compressed: (UnsafeRawBufferPointer) throws(WebArchiveError) -> Void = { bytes throws(WebArchiveError) in
            try output.write(bytes)
        }
        while left > 0, try !content.isAtEnd() {
            let bytes = UnsafeRawBufferPointer(rebasing: content.unread.prefix(Int(clamping: left)))
            try gzip.add(bytes, compressed)
            content.consume(bytes.count)
            left -= UInt64(bytes.count)
        }
        try gzip.add(Array("\r\n\r\n".utf8), compressed)
        try gzip.end(compressed)
    }

    /// Copies the part of a record that is there.
    private func copyCut(
        _ record: WARCRecord, in reader: WARCReader, to output: ZIPWriter.Entry, _ gzip: GzipWriter
    ) throws(WebArchiveError) {
        let compressed: (UnsafeRawBufferPointer) throws(WebArchiveError) -> Void = { bytes throws(WebArchiveError) in
            try output.write(bytes)
        }
        var length: UInt64 = 0
        try forEachPiece(ofCut: record, in: reader) { length += UInt64($0.count) }
        try gzip.add(WARCWriter.header(ofCut: record, length: length), compressed)
        try forEachPiece(ofCut: record, in: reader) { bytes throws(WebArchiveError) in try gzip.add(bytes, compressed) }
        try gzip.add(Array("\r\n\r\n".utf8), compressed)
        try gzip.end(compressed)
    }

    private func forEachPiece(
        ofCut record: WARCRecord, in reader: WARCReader,
        _ body: (UnsafeRawBufferPointer) throws(WebArchiveError) -> Void
    ) throws(WebArchiveError) {
        let content = try reader.open(at: record.offset, length: nil).content
        var left = record.contentLength
        do throws(WebArchiveError) {
            guard try content.skip(record.headerLength) == record.headerLength else { return }
            while left > 0, try !content.isAtEnd() {
                let bytes = UnsafeRawBufferPointer(rebasing: content.unread.prefix(Int(clamping: left)))
                try body(bytes)
                content.consume(bytes.count)
                left -= UInt64(bytes.count)
            }
        } catch {
            guard [.truncated, .badGzip].contains(error.code) else { throw error }
        }
    }
}

extension CDXJEntry {
    /// Returns the entry with another place of its record.
    fileprivate func moved(to filename: String, offset: UInt64, length: UInt64) -> CDXJEntry {
        CDXJEntry(
            urlKey: urlKey, timestamp: timestamp, url: url, mime: mime, status: status, digest: digest,
            filename: filename, offset: offset, length: length, method: method, requestBody: requestBody)
    }
}
