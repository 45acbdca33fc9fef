/// The central directory of a ZIP, which locates its entries.
///
/// Source: APPNOTE.TXT 6.3.10. Nothing is extracted to disk. Entries whose paths lead outside a folder are marked
/// unsafe.
public struct ZIPDirectory: Sendable {
    /// The byte source of the ZIP.
    public internal(set) var source: any ByteSource
    /// All entries, in the order of the directory.
    public let entries: [ZIPEntry]
    /// The findings about the ZIP.
    public let findings: [Finding]

    let limits: Limits
    let end: ZIPEndRecord
    private let positions: [String: Int]

    static let centralSignature: UInt32 = 0x0201_4B50
    static let localSignature: UInt32 = 0x0403_4B50

    /// Reads the central directory of `source`, and checks the local headers of the entries that a WACZ needs.
    ///
    /// - Throws: `notZIP`, `truncated` or `empty` if the file isn't a complete ZIP; `corruptZIP`, `encrypted`,
    ///   `unsafeName`, `duplicateName`, `tooLarge` or `unsupported` if the ZIP is inconsistent or an attack.
    public init(source: any ByteSource, limits: Limits = .standard) throws(WebArchiveError) {
        let end = try ZIPEndRecord.find(in: source, limits: limits)
        guard end.entryCount <= UInt64(limits.entriesMax) else {
            throw WebArchiveError(
                code: .tooLarge,
                problem: "the ZIP contains \(end.entryCount) files, and the limit is \(limits.entriesMax)",
                file: source.name, offset: end.directoryOffset, hint: "create it again with fewer, larger WARC files")
        }
        guard end.directorySize <= limits.centralDirectoryBytesMax else {
            throw WebArchiveError(
                code: .tooLarge,
                problem: "the ZIP's directory is larger than \(ByteSize.text(limits.centralDirectoryBytesMax)), "
                    + "far larger than in real archives",
                file: source.name, offset: end.directoryOffset)
        }
        let bytes = try source.read(at: end.directoryOffset, count: Int(end.directorySize))
        var parser = ZIPDirectoryParser(bytes: bytes, end: end, file: source.name)
        let entries = try parser.entries()
        var log = FindingLog(perCodeMax: limits.findingsPerCodeMax)
        Self.note(end, in: &log)
        let positions = try Self.positions(of: entries, file: source.name, log: &log)
        self.source = source
        self.entries = entries
        self.limits = limits
        self.end = end
        self.positions = positions
        findings = log.findings
        try checkLayout(directoryOffset: end.directoryOffset)
    }

    /// Returns the entry with this exact name. Ignores folders, links and unsafe names.
    public func entry(named name: String) -> ZIPEntry? {
        positions[name].map { entries[$0] }
    }

    /// Returns the byte range of an entry's data in the file, which starts after its *local* header.
    ///
    /// The local header has its own name and extra field, so the central header isn't enough to locate the data.
    ///
    /// - Throws: `corruptZIP` if the local header is missing or belongs to another entry, or the data exceeds the file.
    public func dataRange(of entry: ZIPEntry) throws(WebArchiveError) -> Range<UInt64> {
        let offset = entry.localHeaderOffset
        let rawName = entry.rawName
        let wanted = 30 + rawName.count
        guard offset <= source.size, source.size - offset >= UInt64(wanted) else {
            throw corrupt(
                entry, "the local header needs \(wanted) bytes at offset \(offset), but the file has \(source.size)")
        }
        let header = try source.read(at: offset, count: wanted)
        guard header.uint32(at: 0) == Self.localSignature else {
            throw corrupt(entry, "no local header where the directory points")
        }
        guard Int(header.uint16(at: 26)) == rawName.count, header[30...].elementsEqual(rawName) else {
            throw corrupt(entry, "the local header has a different name")
        }
        guard ZIPEntry.Method(header.uint16(at: 8)) == entry.method else {
            throw corrupt(entry, "the local header has a different compression method")
        }
        let start = offset + UInt64(wanted) + UInt64(header.uint16(at: 28))
        let (stop, overflow) = start.addingReportingOverflow(entry.compressedSize)
        guard !overflow, stop <= source.size else {
            let left = source.size > start ? source.size - start : 0
            throw corrupt(entry, "\(entry.compressedSize) bytes are needed, but only \(left) are left")
        }
        return start..<stop
    }

    /// Returns a source for an uncompressed entry, to be read at any offset.
    ///
    /// - Throws: `unsupported` if the entry is compressed; the errors of `dataRange(of:)`.
    public func bytes(of entry: ZIPEntry) throws(WebArchiveError) -> SubrangeByteSource {
        guard entry.method == .stored else {
            throw WebArchiveError(
                code: .unsupported, problem: "the entry is compressed in the ZIP and can't be read at an offset",
                file: path(of: entry))
        }
        let range = try dataRange(of: entry)
        return try SubrangeByteSource(
            source, offset: range.lowerBound, length: range.upperBound - range.lowerBound, name: path(of: entry))
    }

    /// Returns a stream for the contents of an entry, decompressed if necessary.
    ///
    /// For a deflated entry, reading throws if the size or the CRC is wrong.
    ///
    /// - Parameter allowance: Charged with what is decompressed.
    public func stream(of entry: ZIPEntry, _ allowance: Allowance) throws(WebArchiveError) -> any ByteStream {
        switch entry.method {
        case .stored: return SourceStream(try bytes(of: entry))
        case .deflated: return try InflatedEntryStream(entry, in: self, allowance)
        case .other(let number):
            throw WebArchiveError(
                code: .unsupported, problem: "ZIP compression method \(number) isn't supported", file: path(of: entry))
        }
    }

    /// Returns the contents of a small entry.
    ///
    /// - Throws: `tooLarge`, before decompressing, if the declared size exceeds `limit`.
    public func contents(of entry: ZIPEntry, limit: UInt64) throws(WebArchiveError) -> [UInt8] {
        guard entry.uncompressedSize <= limit, entry.compressedSize <= limit else {
            throw WebArchiveError(
                code: .tooLarge, problem: "the entry has \(entry.uncompressedSize) bytes, and the limit is \(limit)",
                file: path(of: entry))
        }
        return try stream(of: entry, Allowance(bytes: limit)).readAll(
            limit: min(limit, entry.uncompressedSize), reserving: entry.uncompressedSize)
    }

    /// Returns the name of the file and the entry, for error messages.
    func path(of entry: ZIPEntry) -> String { "\(source.name)/\(entry.name)" }

    private func corrupt(_ entry: ZIPEntry, _ problem: String) -> WebArchiveError {
        WebArchiveError(code: .corruptZIP, problem: problem, file: path(of: entry), offset: entry.localHeaderOffset)
    }
}

extension ZIPDirectory {
    private static func note(_ end: ZIPEndRecord, in log: inout FindingLog) {
        if end.trailingLength > 0 {
            log.add(
                .warning, "zip-trailing-bytes", "\(end.trailingLength) bytes follow the end of the ZIP.",
                at: "end of the file", consequence: "Replay isn't affected, but other programs may refuse the file.")
        }
        if end.hasRival {
            log.add(
                .warning, "zip-readers-disagree", "The ZIP has a second end record, or a second list of files.",
                at: "end of the file",
                consequence:
                    "Programs may show different content for this file, so use it only if you trust its source.")
        }
        if end.prefixLength > 0 {
            log.add(
                .warning, "zip-prefix-bytes", "\(end.prefixLength) bytes come before the start of the ZIP.",
                at: "start of the file",
                consequence: "Replay by ranges may fail, because other programs don't expect these bytes."
            )
        }
    }

    private static func positions(
        of entries: [ZIPEntry], file: String, log: inout FindingLog
    ) throws(WebArchiveError) -> [String: Int] {
        var positions: [String: Int] = [:]
        positions.reserveCapacity(entries.count)
        for entry in entries {
            if entry.isUnsafe {
                let kind = entry.isSymlink ? "is a symbolic link" : "has a path that leads outside the archive"
                log.add(
                    .warning, "zip-unsafe-name", "An entry \(kind).", at: printable(entry.name),
                    consequence:
                        "The entry is ignored; it may be an attack, so use the archive only if you trust its source.")
            } else if let first = positions[entry.name] {
                guard !entry.matters, !entry.isDirectory else {
                    throw WebArchiveError(
                        code: .duplicateName, problem: "entries \(first + 1) and \(entry.index + 1) have the same name",
                        file: "\(file)/\(entry.name)", offset: entry.localHeaderOffset)
                }
                log.add(
                    .warning, "zip-duplicate-name", "Two entries have the same name.", at: entry.name,
                    consequence: "Only the first one is used.")
            } else if !entry.isDirectory {
                positions[entry.name] = entry.index
            }
        }
        return positions
    }

    /// Returns a name that is safe to print on one line.
    private static func printable(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }))
    }

    /// Checks that entries don't overlap each other or the directory, and that those a WACZ needs have a local header.
    private func checkLayout(directoryOffset: UInt64) throws(WebArchiveError) {
        let sorted = entries.sorted { $0.localHeaderOffset < $1.localHeaderOffset }
        for (position, entry) in sorted.enumerated() {
            let next = position + 1 < sorted.count ? sorted[position + 1].localHeaderOffset : directoryOffset
            var stop = entry.localHeaderOffset
            if entry.matters, !entry.isDirectory, !entry.isUnsafe {
                if case .other(let number) = entry.method {
                    throw WebArchiveError(
                        code: .unsupported, problem: "ZIP compression method \(number) isn't supported",
                        file: path(of: entry))
                }
                stop = try dataRange(of: entry).upperBound
            } else {
                let (sum, overflow) = stop.addingReportingOverflow(entry.compressedSize)
                let (least, overflowToo) = sum.addingReportingOverflow(30 + UInt64(entry.rawNameLength))
                stop = overflow || overflowToo ? .max : least
            }
            guard stop <= next else {
                throw corrupt(entry, "the entry ends at byte \(stop), but the next part of the ZIP starts at \(next)")
            }
        }
    }
}

/// Parses the bytes of a central directory.
private struct ZIPDirectoryParser {
    let bytes: [UInt8]
    let end: ZIPEndRecord
    let file: String
    var position = 0

    mutating func entries() throws(WebArchiveError) -> [ZIPEntry] {
        var entries: [ZIPEntry] = []
        entries.reserveCapacity(Int(min(end.entryCount, UInt64(bytes.count / 46))))
        while UInt64(entries.count) < end.entryCount {
            entries.append(try next(index: entries.count))
        }
        return entries
    }

    private mutating func next(index: Int) throws(WebArchiveError) -> ZIPEntry {
        let start = position
        guard bytes.count - start >= 46, bytes.uint32(at: start) == ZIPDirectory.centralSignature else {
            throw corrupt("the central directory has \(index) entries, but its end record lists \(end.entryCount)")
        }
        let nameEnd = start + 46 + Int(bytes.uint16(at: start + 28))
        let extraEnd = nameEnd + Int(bytes.uint16(at: start + 30))
        let commentEnd = extraEnd + Int(bytes.uint16(at: start + 32))
        guard commentEnd <= bytes.count else {
            throw corrupt(
                "entry \(index + 1) needs \(commentEnd - start) bytes, but only \(bytes.count - start) are left")
        }
        position = commentEnd
        let rawName = [UInt8](bytes[start + 46..<nameEnd])
        guard !rawName.contains(0) else {
            throw WebArchiveError(
                code: .unsafeName, problem: "the name of entry \(index + 1) contains a NUL byte", file: file,
                offset: end.directoryOffset + UInt64(start))
        }
        let sizes = try wideSizes(at: start, extra: nameEnd..<extraEnd)
        return try entry(index: index, start: start, rawName: rawName, sizes: sizes)
    }

    private func entry(
        index: Int, start: Int, rawName: [UInt8], sizes: (uncompressed: UInt64, compressed: UInt64, offset: UInt64)
    ) throws(WebArchiveError) -> ZIPEntry {
        let (offset, overflow) = sizes.offset.addingReportingOverflow(end.prefixLength)
        // The upper half of the external attributes is a Unix mode if the entry was created on Unix (3) or macOS (19).
        let isUnix = [3, 19].contains(bytes[start + 5])
        let mode = bytes.uint32(at: start + 38) >> 16
        let isSymlink = isUnix && mode & 0xF000 == 0xA000
        let isDirectory = rawName.last == UInt8(ascii: "/")
        let entry = ZIPEntry(
            index: index, rawName: rawName, flags: bytes.uint16(at: start + 8),
            method: ZIPEntry.Method(bytes.uint16(at: start + 10)),
            compressedSize: sizes.compressed, uncompressedSize: sizes.uncompressed, crc32: bytes.uint32(at: start + 16),
            localHeaderOffset: offset, isDirectory: isDirectory, isSymlink: isSymlink,
            isUnsafe: isSymlink || ZIPEntry.isUnsafeName(rawName),
            centralExtraLength: Int(bytes.uint16(at: start + 30)), versionNeeded: bytes.uint16(at: start + 6),
            modified: bytes.uint32(at: start + 12))
        guard !overflow, offset < end.directoryOffset || offset < UInt64.max - end.directorySize else {
            throw corrupt("entry \(index + 1) has an impossible offset", entry: entry)
        }
        guard !entry.isEncrypted else {
            throw WebArchiveError(
                code: .encrypted, problem: "the entry is encrypted, which isn't supported",
                file: "\(file)/\(entry.name)",
                hint: "get a copy of it without a password")
        }
        guard entry.method != .stored || entry.compressedSize == entry.uncompressedSize else {
            throw corrupt(
                "the entry isn't compressed, but stores \(entry.uncompressedSize) bytes as \(entry.compressedSize)",
                entry: entry)
        }
        guard bytes.uint16(at: start + 34) == 0 || bytes.uint16(at: start + 34) == 0xFFFF else {
            throw WebArchiveError(
                code: .unsupported, problem: "the ZIP is split over several files", file: "\(file)/\(entry.name)")
        }
        return entry
    }

    /// Returns sizes and offset, from the zip64 extra field if the 32-bit fields are full. APPNOTE §4.5.3.
    private func wideSizes(
        at start: Int, extra: Range<Int>
    ) throws(WebArchiveError) -> (uncompressed: UInt64, compressed: UInt64, offset: UInt64) {
        let compressed = bytes.uint32(at: start + 20)
        let uncompressed = bytes.uint32(at: start + 24)
        let offset = bytes.uint32(at: start + 42)
        var wide: [UInt64] = [UInt64(uncompressed), UInt64(compressed), UInt64(offset)]
        let missing = [uncompressed, compressed, offset].indices.filter { wide[$0] == 0xFFFF_FFFF }
        guard !missing.isEmpty, var cursor = zip64Field(in: extra) else { return (wide[0], wide[1], wide[2]) }
        for field in missing {
            guard cursor.count >= 8 else {
                throw corrupt("a zip64 field has \(cursor.count) bytes where 8 are needed")
            }
            wide[field] = bytes.uint64(at: cursor.lowerBound)
            cursor = cursor.lowerBound + 8..<cursor.upperBound
        }
        return (wide[0], wide[1], wide[2])
    }

    private func zip64Field(in extra: Range<Int>) -> Range<Int>? {
        var position = extra.lowerBound
        while extra.upperBound - position >= 4 {
            let stop = position + 4 + Int(bytes.uint16(at: position + 2))
            guard stop <= extra.upperBound else { return nil }
            if bytes.uint16(at: position) == 0x0001 { return position + 4..<stop }
            position = stop
        }
        return nil
    }

    private func corrupt(_ problem: String, entry: ZIPEntry? = nil) -> WebArchiveError {
        WebArchiveError(
            code: .corruptZIP, problem: problem, file: entry.map { "\(file)/\($0.name)" } ?? file,
            offset: end.directoryOffset + UInt64(position))
    }
}
