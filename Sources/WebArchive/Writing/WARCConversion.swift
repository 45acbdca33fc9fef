/// A file of captures before WACZ: WARC or ARC.
package struct WARCFormat: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case warc
        /// The format before WARC.
        case arc
    }

    package let kind: Kind
    /// Whether the first gzip member holds more or less than one record, so that records can't be read alone.
    let hasOtherMembers: Bool
    /// Whether records are gzip members.
    let isCompressed: Bool
    /// Whether the file is compressed with Zstandard, which programs that replay WACZ files can't read.
    let isZstandard: Bool

    /// Whether the file can be packed as it is.
    package var isPackable: Bool { kind == .warc && !hasOtherMembers && !isZstandard }

    /// Recognizes a file by its first bytes; `nil` for other files.
    ///
    /// - Throws: `io`; for a file of Zstandard frames also their errors, if none can be read; `unsupported`.
    package init?(_ source: any ByteSource, limits: Limits = .standard) throws(WebArchiveError) {
        let allowance = Allowance(archiveSize: source.size)
        let input = BufferedInput(SourceStream(source))
        let start = try input.peek(4)
        isCompressed = GzipMember.starts(start)
        isZstandard = ZstdFrame.starts(start)
        if isZstandard {
            guard let kind = try Self.kind(of: ZstdFrames(source, allowance)) else { return nil }
            (self.kind, hasOtherMembers) = (kind, false)
            return
        }
        do throws(WebArchiveError) {
            let content = isCompressed ? try Self.firstMember(in: input, allowance) : input
            _ = try content.skipLineEnds()
            guard let kind = Self.kind(try content.peek(9)) else { return nil }
            self.kind = kind
            hasOtherMembers = isCompressed && !Self.isOneRecord(content, kind, limits)
        } catch {
            guard error.isDamage, let kind = try Self.kind(afterDamage: source, limits, allowance) else {
                if error.isDamage { return nil }
                throw error
            }
            (self.kind, hasOtherMembers) = (kind, false)
        }
    }

    /// Returns the first gzip member that isn't empty.
    private static func firstMember(
        in input: BufferedInput, _ allowance: Allowance
    ) throws(WebArchiveError) -> BufferedInput {
        for _ in 0..<emptyMembersMax {
            let content = BufferedInput(try GzipMember(input, allowance))
            guard try content.isAtEnd(), GzipMember.starts(try input.peek(3)) else { return content }
        }
        return BufferedInput(try GzipMember(input, allowance))
    }

    /// The maximum number of empty gzip members at the start.
    private static let emptyMembersMax = 1000

    private static func kind(_ start: some Collection<UInt8>) -> Kind? {
        if WARCRecord.starts(start) { return .warc }
        return start.starts(with: "filedesc:".utf8) ? .arc : nil
    }

    /// Recognizes a file by the first frame that can be read and that begins with a record.
    private static func kind(of frames: ZstdFrames) throws(WebArchiveError) -> Kind? {
        var damage: WebArchiveError?
        for _ in 0..<framesMax {
            do throws(WebArchiveError) {
                let start = try BufferedInput(frames).peek(64)
                let kind = kind(start.drop { $0 == 0x0D || $0 == 0x0A })
                if kind != nil || damage == nil { return kind }
                if start.isEmpty { break }
            } catch {
                guard error.isDamage else { throw error }
                damage = damage ?? error
            }
        }
        if let damage { throw damage }
        return nil
    }

    /// The maximum number of frames, and of pieces of 64 KiB, to read before the file is refused.
    private static let framesMax = 1000

    /// Recognizes a file with a damaged start by the first record that can be read.
    private static func kind(
        afterDamage source: any ByteSource, _ limits: Limits, _ allowance: Allowance
    ) throws(WebArchiveError) -> Kind? {
        let start = try SubrangeByteSource(source, offset: 0, length: min(source.size, 4 << 20))
        if try WARCReader(start, limits: limits, allowance: allowance).makeScanner().next() != nil { return .warc }
        return try ARCReader(start, limits: limits, allowance).hasRecord() ? .arc : nil
    }

    /// Whether a gzip member holds exactly one record, as far as it can be read.
    private static func isOneRecord(_ content: BufferedInput, _ kind: Kind, _ limits: Limits) -> Bool {
        do throws(WebArchiveError) {
            let length: UInt64?
            switch kind {
            case .warc:
                let head = try content.readHead(bytesMax: limits.warcHeaderBytesMax, linesMax: limits.headLinesMax)
                length = head.fields["Content-Length"].flatMap { UInt64($0) }
            case .arc:
                length = try content.readLine(limit: limits.warcHeaderBytesMax).flatMap { ARCReader.Header($0)?.length }
            }
            guard let length else { return true }
            guard try content.skip(length) == length else { return false }
            return try !content.skipLineEnds()
        } catch {
            // A damaged member is a finding.
            return true
        }
    }
}

/// Turns files that can't be packed as they are into WARC files with a gzip member for each record.
struct WARCConversion {
    let folder: String
    let limits: Limits
    let allowance: Allowance
    /// Called regularly with the number of bytes of the file whose records were converted; throws to stop.
    let progress: (UInt64) throws -> Void
    private(set) var log: FindingLog

    init(folder: String, limits: Limits, _ allowance: Allowance, progress: @escaping (UInt64) throws -> Void) {
        (self.folder, self.limits, self.allowance, self.progress) = (folder, limits, allowance, progress)
        log = FindingLog(perCodeMax: limits.findingsPerCodeMax)
    }

    /// The number of bytes that may still be written.
    private var bytesLeft: UInt64 = 0

    /// Returns a converted copy in a temporary file.
    ///
    /// - Parameter inflates: Whether its gzip members aren't its records.
    mutating func convert(_ source: any ByteSource, _ format: WARCFormat, inflates: Bool) throws -> any ByteSource {
        bytesLeft = limits.convertedBytesMax(compressed: source.size)
        let isPlain = !format.isZstandard && !format.hasOtherMembers && !inflates
        let parts =
            try isPlain ? [SubrangeByteSource(source, offset: 0, length: source.size)] : decompressed(source, format)
        let file = try TemporaryFile(in: folder)
        let writer = try WARCWriter(file.output)
        for part in parts {
            let scale = Double(source.size) / Double(max(part.base.size, 1))
            let report: (UInt64) throws -> Void = { [progress] offset in
                try progress(UInt64(Double(part.start + offset) * scale))
            }
            switch format.kind {
            case .arc: try convertARC(part, writer, report)
            case .warc: try compressRecords(of: part, writer, report)
            }
        }
        return try file.finish(name: source.name)
    }

    /// Decompresses a file.
    ///
    /// - Returns: The parts before, between and after damaged places. A record that is cut off ends with its part, so that
    ///   it doesn't hide the next one.
    private mutating func decompressed(_ source: any ByteSource, _ format: WARCFormat) throws -> [SubrangeByteSource] {
        let stream: any ByteStream =
            try format.isZstandard ? ZstdFrames(source, allowance) : GzipStream(SourceStream(source), allowance)
        let file = try TemporaryFile(in: folder)
        var starts: [UInt64] = [0]
        var (isDamaged, triesLeft) = (false, format.isZstandard ? Self.damagedFramesMax : 1)
        while triesLeft > 0 {
            do {
                try stream.forEachChunk { chunk in
                    isDamaged = false
                    try spend(chunk.count, source.name)
                    try file.output.write(chunk)
                    try progress(0)
                    return true
                }
                break
            } catch let error as WebArchiveError where error.isDamage || error.code == .tooLarge {
                triesLeft = error.isDamage ? triesLeft - 1 : 0
                // Within damaged data, what looks like a frame may be anything, so only the first error counts.
                if !isDamaged || triesLeft == 0 { note(error, isLast: triesLeft == 0, source.name) }
                isDamaged = true
                if file.output.count > starts[starts.count - 1] { starts.append(file.output.count) }
                try progress(0)
            }
        }
        let plain = try file.finish(name: source.name)
        return try zip(starts, starts.dropFirst() + [plain.size]).map {
            try SubrangeByteSource(plain, offset: $0, length: $1 - $0)
        }
    }

    private mutating func note(_ error: WebArchiveError, isLast: Bool, _ name: String) {
        log.add(
            .error, "warc-damaged",
            "\(isLast ? "The rest" : "A part") of the file can't be read: \(error.problem).",
            at: error.offset.map { "\(name) byte \($0)" } ?? name,
            consequence: "The records in that part can't be replayed.")
    }

    /// The maximum number of damaged frames of a file.
    private static let damagedFramesMax = 100_000

    /// - Throws: `tooLarge` if the file expands far more than real archives do.
    private mutating func spend(_ count: Int, _ name: String) throws(WebArchiveError) {
        guard bytesLeft >= UInt64(count) else {
            throw WebArchiveError(
                code: .tooLarge, problem: "the file expands far more than real archives do", file: name)
        }
        bytesLeft -= UInt64(count)
    }

    /// Compresses each record as it is.
    private mutating func compressRecords(
        of source: any ByteSource, _ writer: WARCWriter, _ report: (UInt64) throws -> Void
    ) throws {
        let scanner = try WARCReader(source, limits: limits, allowance: allowance).makeScanner()
        while let item = try scanner.next() {
            let record = try SubrangeByteSource(source, offset: item.record.offset, length: item.length)
            try writer.write([], SourceStream(record))
            try report(scanner.offset)
        }
        if let item = try scanner.nextCutItem() { try writeCut(item.record, in: source, writer) }
        log.add(scanner.takeFindings())
    }

    /// Writes the part of a record that is there.
    private func writeCut(
        _ record: WARCRecord, in source: any ByteSource, _ writer: WARCWriter
    ) throws(WebArchiveError) {
        let start = record.offset + record.headerLength
        guard start < source.size else { return }
        let block = try SubrangeByteSource(source, offset: start, length: source.size - start)
        if record.holdsHTTP, record.type == "response", try !hasHead(block) { return }
        try writer.write(WARCWriter.header(ofCut: record, length: block.size), SourceStream(block))
    }

    /// Whether a block begins with a whole HTTP head.
    private func hasHead(_ block: any ByteSource) throws(WebArchiveError) -> Bool {
        var end = HTTPHeadEnd()
        let bytes = try block.read(at: 0, count: Int(min(block.size, UInt64(limits.httpHeadBytesMax))))
        return bytes.withUnsafeBytes { end.find(in: $0) } != nil
    }

    // WARC 1.1, Annex C.4 has no rules for the conversion; the fields are those that warcio's `recompress` writes.
    private mutating func convertARC(
        _ source: any ByteSource, _ writer: WARCWriter, _ report: (UInt64) throws -> Void
    ) throws {
        let reader = try ARCReader(source, limits: limits, allowance)
        try reader.forEachRecord { header, stream, isCut in
            let block = try spooled(stream)
            try write(header, block, isCut: isCut, source.name, writer)
            try report(reader.offset)
        }
        log.add(reader.log)
    }

    private func write(
        _ header: ARCReader.Header, _ block: any ByteSource, isCut: Bool, _ name: String, _ writer: WARCWriter
    ) throws(WebArchiveError) {
        guard !header.isDescription else {
            let text = "software: replayhost\r\ndescription: Converted from the ARC file \(name)\r\n"
            var record = WARCWriter.Record(
                type: "warcinfo", targetURI: nil, date: header.time, contentType: "application/warc-fields")
            record.fields = [.init(name: "WARC-Filename", value: name)]
            try writer.write(record, block: MemoryByteSource(Array(text.utf8), name: name), payloadStart: nil)
            return
        }
        let input = BufferedInput(SourceStream(block))
        let start = try input.peek(5)
        let isHTTP = header.url.hasPrefix("http") && HTTPMessageHead.begins(start)
        let head = isHTTP ? try? HTTPMessageHead.read(from: input, limits: limits) : nil
        if isCut {
            guard block.size > 0 else { return }
            if isHTTP { guard try hasHead(block) else { return } }
        }
        var record = WARCWriter.Record(
            type: head == nil ? "resource" : "response", targetURI: header.url, date: header.time,
            contentType: head == nil ? header.type : "application/http; msgtype=response")
        if header.address != "0.0.0.0", header.address.contains(where: \.isNumber) {
            record.fields = [.init(name: "WARC-IP-Address", value: header.address)]
        }
        if isCut { record.fields.append(.init(name: "WARC-Truncated", value: "unspecified")) }
        try writer.write(record, block: block, payloadStart: UInt64(head?.length ?? 0))
    }

    /// Returns a block that can be read twice: from memory, or from a temporary file if it's large.
    private mutating func spooled(_ stream: any ByteStream) throws -> any ByteSource {
        var start: [UInt8] = []
        var file: TemporaryFile?
        try stream.forEachChunk { chunk in
            try spend(chunk.count, stream.name)
            try progress(0)
            if let file {
                try file.output.write(chunk)
            } else if start.count + chunk.count > Self.memoryBytesMax {
                let made = try TemporaryFile(in: folder)
                try made.output.write(start)
                try made.output.write(chunk)
                file = made
            } else {
                start.append(contentsOf: chunk)
            }
            return true
        }
        return try file?.finish(name: stream.name) ?? MemoryByteSource(start, name: stream.name)
    }

    private static let memoryBytesMax = 4 << 20
}

extension FindingLog {
    /// Returns the log with what the errors mean for an archive that is made from the readable records.
    fileprivate func asLost() -> FindingLog {
        mapped { finding in
            guard finding.severity == .error else { return finding }
            return finding.with(
                consequence:
                    "What couldn't be read isn't in the archive, which was made from what could be read of this file.")
        }
    }
}

extension WACZWriter {
    /// Adds a WARC or ARC file of any form.
    ///
    /// A WARC file whose records can be read one by one is added as it is. Others are converted first: WARC files whose
    /// gzip members aren't its records, WARC files of Zstandard frames, and ARC files.
    ///
    /// - Parameters:
    ///   - converts: Whether the file is converted although its first gzip member is a record.
    ///   - keepsName: Whether the name stays as it is, unless the file is converted.
    ///   - progress: Called regularly with the number of bytes read; throws to stop.
    /// - Returns: `false` if it's neither a WARC nor an ARC file.
    /// - Throws: What `progress` throws; `io`, `noSpace`; the errors of `WARCFormat.init`; `OtherMembers` if a later gzip
    ///   member isn't a record, after which this writer can't be used: the archive has to be written again, and the file
    ///   converted.
    package func addCaptures(
        _ source: any ByteSource, name: String, converts: Bool = false, keepsName: Bool = false,
        detectsPages: Bool = true,
        progress: (UInt64) throws -> Void = { _ in }
    ) throws -> Bool {
        guard let format = try WARCFormat(source, limits: limits) else { return false }
        let stem = Self.warcStem(of: name)
        guard !format.isPackable || converts else {
            try addWARC(
                source, name: keepsName ? name : stem + (format.isCompressed ? ".warc.gz" : ".warc"),
                detectsPages: detectsPages,
                refusesOtherMembers: true, progress: progress)
            return true
        }
        let allowance = Allowance(archiveSize: source.size)
        try withoutActuallyEscaping(progress) { progress in
            var conversion = WARCConversion(folder: folder, limits: limits, allowance, progress: progress)
            let converted = try conversion.convert(source, format, inflates: converts)
            sourceLog.add(conversion.log.asLost())
            try addWARC(converted, name: stem + ".warc.gz", detectsPages: detectsPages) { _ in try progress(source.size)
            }
        }
        return true
    }

    /// Returns a file name without its extensions.
    package static func warcStem(of name: String) -> String {
        for ending in [".warc.gz", ".warc.zst", ".arc.gz", ".warc", ".arc", ".gz", ".zst"]
        where name.lowercased().hasSuffix(ending) && name.count > ending.count {
            return String(name.dropLast(ending.count))
        }
        return name
    }
}
