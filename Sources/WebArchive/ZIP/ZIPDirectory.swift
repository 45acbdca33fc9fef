/// The central directory of a ZIP: what it holds, and where exactly each entry's bytes are.
///
/// Source: APPNOTE.TXT 6.3.10. Nothing is ever extracted: entries with names that lead out of a folder are only marked.
public struct ZIPDirectory: Sendable {
    /// The file.
    public internal(set) var source: any ByteSource
    /// Every entry, in the order of the directory.
    public let entries: [ZIPEntry]
    /// What is odd about the ZIP but does not stop it from being read.
    public let findings: [Finding]

    let limits: Limits
    let end: ZIPEndRecord
    private let positions: [String: Int]

    static let centralSignature: UInt32 = 0x0201_4B50
    static let localSignature: UInt32 = 0x0403_4B50

    /// Reads the end records and the central directory of `source`, and checks the local headers of what a WACZ needs.
    ///
    /// - Throws: `notZIP`, `truncated` or `empty` for what is no whole ZIP; `corruptZIP`, `encrypted`, `unsafeName`,
    ///   `duplicateName`, `tooLarge` or `unsupported` for one that contradicts itself or is an attack.
    public init(source: any ByteSource, limits: Limits = .standard) throws(WebArchiveError) {
        let end = try ZIPEndRecord.find(in: source, limits: limits)
        guard end.entryCount <= UInt64(limits.entriesMax) else {
            throw WebArchiveError(
                code: .tooLarge,
                problem: "the ZIP holds \(end.entryCount) files, at most \(limits.entriesMax) are read",
                file: source.name, offset: end.directoryOffset, hint: "pack it with fewer, larger WARC files")
        }
        guard end.directorySize <= limits.centralDirectoryBytesMax else {
            throw WebArchiveError(
                code: .tooLarge,
                problem: "the ZIP's directory has \(end.directorySize) bytes for \(end.entryCount) files, "
                    + "at most \(limits.centralDirectoryBytesMax) bytes are read",
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
        try checkPlaces(directoryOffset: end.directoryOffset)
    }

    /// The entry with exactly this name; folders, links and unsafe names are never found.
    public func entry(named name: String) -> ZIPEntry? {
        positions[name].map { entries[$0] }
    }

    /// The absolute byte offsets of an entry's bytes, which start after its *local* header.
    ///
    /// The local header has a name and an extra field of its own, so the central ones do not tell where bytes start.
    ///
    /// - Throws: `corruptZIP` when there is no local header, it is another entry's, or the bytes run past the end.
    public func dataRange(of entry: ZIPEntry) throws(WebArchiveError) -> Range<UInt64> {
        let offset = entry.localHeaderOffset
        let rawName = entry.rawName
        let wanted = 30 + rawName.count
        guard offset <= source.size, source.size - offset >= UInt64(wanted) else {
            throw corrupt(entry, "the local header needs \(wanted) bytes at \(offset), the file has \(source.size)")
        }
        let header = try source.read(at: offset, count: wanted)
        guard header.uint32(at: 0) == Self.localSignature else {
            throw corrupt(entry, "no local header at the place that the directory names")
        }
        guard Int(header.uint16(at: 26)) == rawName.count, header[30...].elementsEqual(rawName) else {
            throw corrupt(entry, "the local header has another name")
        }
        guard ZIPEntry.Method(header.uint16(at: 8)) == entry.method else {
            throw corrupt(entry, "the local header has another compression method")
        }
        let start = offset + UInt64(wanted) + UInt64(header.uint16(at: 28))
        let (stop, overflow) = start.addingReportingOverflow(entry.compressedSize)
        guard !overflow, stop <= source.size else {
            let left = source.size > start ? source.size - start : 0
            throw corrupt(entry, "\(entry.compressedSize) bytes are needed, \(left) are left")
        }
        return start..<stop
    }

    /// The bytes of a stored entry, to be read at any offset.
    ///
    /// - Throws: `unsupported` for a compressed entry; what `dataRange(of:)` throws.
    public func bytes(of entry: ZIPEntry) throws(WebArchiveError) -> SubrangeByteSource {
        guard entry.method == .stored else {
            throw WebArchiveError(
                code: .unsupported, problem: "the entry is compressed in the ZIP and cannot be read at an offset",
                file: path(of: entry))
        }
        let range = try dataRange(of: entry)
        return try SubrangeByteSource(
            source, offset: range.lowerBound, length: range.upperBound - range.lowerBound, name: path(of: entry))
    }

    /// The content of an entry from front to back, inflated when it is deflated.
    ///
    /// Reading past the declared size, or a wrong CRC of a deflated entry, throws.
    public func stream(of entry: ZIPEntry) throws(WebArchiveError) -> any ByteStream {
        switch entry.method {
        case .stored: return SourceStream(try bytes(of: entry))
        case .deflated: return try InflatedEntryStream(entry, in: self)
        case .other(let number):
            throw WebArchiveError(
                code: .unsupported, problem: "ZIP compression method \(number) is not supported", file: path(of: entry))
        }
    }

    /// The whole content of a small entry.
    ///
    /// - Throws: `tooLarge` when more than `limit` bytes are declared, before anything is inflated.
    public func contents(of entry: ZIPEntry, limit: UInt64) throws(WebArchiveError) -> [UInt8] {
        guard entry.uncompressedSize <= limit, entry.compressedSize <= limit else {
            throw WebArchiveError(
                code: .tooLarge, problem: "the entry holds \(entry.uncompressedSize) bytes, at most \(limit) are read",
                file: path(of: entry))
        }
        return try stream(of: entry).readAll(
            limit: min(limit, entry.uncompressedSize), reserving: entry.uncompressedSize)
    }

    /// The entry's name behind that of the file, for error texts.
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
                at: "end of the file", consequence: "None for replay; other programs may refuse the file.")
        }
        if end.prefixLength > 0 {
            log.add(
                .warning, "zip-prefix-bytes", "\(end.prefixLength) bytes come before the start of the ZIP.",
                at: "start of the file", consequence: "Replay by ranges may fail, as other programs do not expect them."
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
                let kind = entry.isSymlink ? "is a symbolic link" : "has a name that leads out of the package"
                log.add(
                    .warning, "zip-unsafe-name", "An entry \(kind).", at: shown(entry.name),
                    consequence: "The entry is ignored. A package should not hold one; be careful with its source.")
            } else if let first = positions[entry.name] {
                guard !entry.matters, !entry.isDirectory else {
                    throw WebArchiveError(
                        code: .duplicateName, problem: "entries \(first + 1) and \(entry.index + 1) have the same name",
                        file: "\(file)/\(entry.name)", offset: entry.localHeaderOffset)
                }
                log.add(
                    .warning, "zip-duplicate-name", "Two entries have the same name.", at: entry.name,
                    consequence: "Only the first is seen.")
            } else if !entry.isDirectory {
                positions[entry.name] = entry.index
            }
        }
        return positions
    }

    /// A name that is safe to print on one line.
    private static func shown(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }))
    }

    /// Checks that no entry overlaps another or the directory, and that those which matter have a local header.
    private func checkPlaces(directoryOffset: UInt64) throws(WebArchiveError) {
        let sorted = entries.sorted { $0.localHeaderOffset < $1.localHeaderOffset }
        for (position, entry) in sorted.enumerated() {
            let next = position + 1 < sorted.count ? sorted[position + 1].localHeaderOffset : directoryOffset
            var stop = entry.localHeaderOffset
            if entry.matters, !entry.isDirectory, !entry.isUnsafe {
                if case .other(let number) = entry.method {
                    throw WebArchiveError(
                        code: .unsupported, problem: "ZIP compression method \(number) is not supported",
                        file: path(of: entry))
                }
                stop = try dataRange(of: entry).upperBound
            } else {
                let (sum, overflow) = stop.addingReportingOverflow(entry.compressedSize)
                let (least, overflowToo) = sum.addingReportingOverflow(30 + UInt64(entry.rawNameLength))
                stop = overflow || overflowToo ? .max : least
            }
            guard stop <= next else {
                throw corrupt(entry, "ends at byte \(stop), but the next part of the ZIP starts at \(next)")
            }
        }
    }
}

/// Walks through the bytes of a central directory.
private struct ZIPDirectoryParser {
    let bytes: [UInt8]
    let end: ZIPEndRecord
    let file: String
    private var position = 0

    init(bytes: [UInt8], end: ZIPEndRecord, file: String) {
        self.bytes = bytes
        self.end = end
        self.file = file
    }

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
            throw corrupt("the central directory has \(index) entries, its end record says \(end.entryCount)")
        }
        let nameEnd = start + 46 + Int(bytes.uint16(at: start + 28))
        let extraEnd = nameEnd + Int(bytes.uint16(at: start + 30))
        let commentEnd = extraEnd + Int(bytes.uint16(at: start + 32))
        guard commentEnd <= bytes.count else {
            throw corrupt("entry \(index + 1) needs \(commentEnd - start) bytes, \(bytes.count - start) are left")
        }
        position = commentEnd
        let rawName = [UInt8](bytes[start + 46..<nameEnd])
        guard !rawName.contains(0) else {
            throw WebArchiveError(
                code: .unsafeName, problem: "the name of entry \(index + 1) has a NUL byte", file: file,
                offset: end.directoryOffset + UInt64(start))
        }
        let sizes = try wideSizes(at: start, extra: nameEnd..<extraEnd)
        return try entry(index: index, start: start, rawName: rawName, sizes: sizes)
    }

    private func entry(
        index: Int, start: Int, rawName: [UInt8], sizes: (uncompressed: UInt64, compressed: UInt64, offset: UInt64)
    ) throws(WebArchiveError) -> ZIPEntry {
        let (offset, overflow) = sizes.offset.addingReportingOverflow(end.prefixLength)
        // The upper half of the external attributes is a Unix mode when the entry was made on Unix (3) or macOS (19).
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
            centralExtraLength: Int(bytes.uint16(at: start + 30)))
        guard !overflow, offset < end.directoryOffset || offset < UInt64.max - end.directorySize else {
            throw corrupt("entry \(index + 1) has an impossible offset", entry: entry)
        }
        guard !entry.isEncrypted else {
            throw WebArchiveError(
                code: .encrypted, problem: "the entry is encrypted, which is not supported",
                file: "\(file)/\(entry.name)",
                hint: "save the package again without a password")
        }
        guard entry.method != .stored || entry.compressedSize == entry.uncompressedSize else {
            throw corrupt(
                "the entry is stored, but has \(entry.compressedSize) bytes for a content of \(entry.uncompressedSize)",
                entry: entry)
        }
        guard bytes.uint16(at: start + 34) == 0 || bytes.uint16(at: start + 34) == 0xFFFF else {
            throw WebArchiveError(
                code: .unsupported, problem: "the ZIP is split over several files", file: "\(file)/\(entry.name)")
        }
        return entry
    }

    /// Sizes and offset, from the zip64 extra field where the short fields are full. APPNOTE §4.5.3.
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
