/// The gzip members of a WARC file aren't its records, so that it must be converted.
package struct OtherMembers: Error {
    /// The name of the file.
    package let file: String
}

extension WACZWriter {
    /// Adds a WARC file as it is, with its captures and pages.
    ///
    /// Damaged records become findings, and stay in the file without being listed, except a last one that is cut.
    ///
    /// - Parameters:
    ///   - source: A WARC file whose records are gzip members or uncompressed.
    ///   - name: The name of the file in `archive/`. If it's used already, a number is added.
    ///   - detectsPages: Whether its documents are added to the page list, with titles and texts.
    ///   - progress: Called regularly with the number of bytes read; throws to stop.
    /// - Throws: What `progress` throws; `io`, `noSpace`.
    public func addWARC(
        _ source: any ByteSource, name: String, detectsPages: Bool = true, progress: (UInt64) throws -> Void = { _ in }
    ) throws {
        try addWARC(source, name: name, detectsPages: detectsPages, refusesOtherMembers: false, progress: progress)
    }

    /// - Parameter refusesOtherMembers: Whether to throw `OtherMembers` if a gzip member holds more or less than one record.
    func addWARC(
        _ source: any ByteSource, name: String, detectsPages: Bool, refusesOtherMembers: Bool,
        progress: (UInt64) throws -> Void
    ) throws {
        let name = freeWARCName(name)
        let reader = WARCReader(source, limits: limits)
        // Texts have an allowance of their own, so that they don't keep captures from being listed.
        let texts = detectsPages ? PageTexts(WARCReader(source, limits: limits), to: pages.output) : nil
        try withoutActuallyEscaping(progress) { progress in
            try add("archive/\(name)", sizeMax: source.size) { entry in
                let copy = CopiedStream(SourceStream(source), to: entry, progress)
                do {
                    let hasOtherMembers = try index(
                        reader, from: copy, filename: name, texts, stopsAtOtherMembers: refusesOtherMembers)
                    if hasOtherMembers, refusesOtherMembers { throw OtherMembers(file: source.name) }
                    try copy.finish()
                } catch {
                    throw copy.stopError ?? error
                }
            }
        }
        guard let texts else { return }
        try texts.finish()
        pages.endFile()
        if texts.leftOut > 0 {
            sourceLog.add(
                .notice, "page-text-left-out",
                "The titles and texts of \(texts.leftOut) \(texts.leftOut == 1 ? "page weren't" : "pages weren't") read: "
                    + "the documents expand far more than those of real archives.", at: name,
                consequence: "Replay isn't affected. The pages are listed by their URLs.")
        }
    }

    private func index(
        _ reader: WARCReader, from copy: CopiedStream, filename: String, _ texts: PageTexts?, stopsAtOtherMembers: Bool
    ) throws(WebArchiveError) -> Bool {
        let indexer = RecordIndexer(
            filename: filename, keepsDocuments: texts != nil, limits: limits, reader.allowance)
        let scanner = WARCScanner(reader, BufferedInput(copy, capacity: 256 << 10), receiver: indexer)
        while let item = try scanner.next() {
            recordCount += 1
            segments.note(item, in: reader, filename: filename)
            for capture in indexer.end(item) { try add(capture, texts) }
            if stopsAtOtherMembers, scanner.hasOtherMembers { return true }
        }
        if let item = try scanner.nextCutItem(), indexer.isInBody {
            recordCount += 1
            for capture in indexer.end(item) { try add(capture, texts) }
        }
        for capture in indexer.finish() { try add(capture, texts) }
        log.add(scanner.takeFindings())
        sourceLog.add(indexer.log)
        return scanner.hasOtherMembers
    }

    private func add(_ capture: RecordIndexer.Capture, _ texts: PageTexts?) throws(WebArchiveError) {
        let entry = capture.entry
        if !segments.keep(entry) { try add(entry) }
        guard let texts else { return }
        if let target = capture.redirectTarget { try pages.redirects.add(entry, to: target) }
        guard let time = entry.captureTime else { return }
        if entry.url.hasPrefix(DetectedPage.recordPrefix) {
            try pages.addRecorded(String(entry.url.dropFirst(DetectedPage.recordPrefix.count)), time)
        } else if capture.isPage, let length = entry.length, let mime = entry.mime {
            pages.note(entry.url, time)
            try pages.redirects.add(entry)
            try texts.add(
                .init(
                    url: entry.url, time: time, mime: mime, offset: entry.offset, length: length,
                    document: capture.document))
        }
    }
}

/// A stream that copies what is read into a file of the package.
private final class CopiedStream: ByteStream {
    var name: String { stream.name }
    /// What stopped the copy.
    private(set) var stopError: (any Error)?
    private let stream: any ByteStream
    private let entry: ZIPWriter.Entry
    private let progress: (UInt64) throws -> Void
    private var reported: UInt64 = 0

    init(_ stream: any ByteStream, to entry: ZIPWriter.Entry, _ progress: @escaping (UInt64) throws -> Void) {
        (self.stream, self.entry, self.progress) = (stream, entry, progress)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        let count = try stream.read(into: buffer)
        do {
            try entry.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            if entry.count - reported >= 1 << 20 {
                reported = entry.count
                try progress(entry.count)
            }
        } catch {
            stopError = error
            throw WebArchiveError(code: .io, problem: "stopped", file: name)
        }
        return count
    }

    /// Copies the rest.
    func finish() throws(WebArchiveError) { try forEachPiece { _ in } }
}
