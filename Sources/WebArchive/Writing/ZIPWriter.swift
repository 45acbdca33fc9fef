import CZlib
import Crypto

/// Writes a ZIP whose files are stored, not compressed. APPNOTE.TXT 6.3.10.
final class ZIPWriter {
    /// The sums of a file in the ZIP.
    struct Sums: Sendable {
        fileprivate var checksum: UInt = 0
        fileprivate var hash = SHA256()
        /// The size in bytes.
        fileprivate(set) var size: UInt64 = 0

        var crc32: UInt32 { UInt32(truncatingIfNeeded: checksum) }
        /// The SHA-256 in hexadecimal digits.
        var sha256: String { hash.finalize().hexadecimal }

        fileprivate mutating func add(_ bytes: [UInt8]) {
            bytes.withUnsafeBytes { bytes in
                let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                checksum = CZlib.crc32(checksum, start, UInt32(bytes.count))
                hash.update(bufferPointer: bytes)
            }
            size += UInt64(bytes.count)
        }
    }

    /// A file that is being written. It's hashed on a thread of its own.
    final class Entry {
        private let output: FileOutput
        private let lane = Lane(Sums())
        private var piece: [UInt8] = []
        private static let pieceBytes = 1 << 20

        /// The number of bytes written so far.
        private(set) var count: UInt64 = 0

        fileprivate init(_ output: FileOutput) {
            self.output = output
        }

        func write(_ bytes: some Collection<UInt8>) throws(WebArchiveError) {
            piece.append(contentsOf: bytes)
            count += UInt64(bytes.count)
            if piece.count >= Self.pieceBytes { try writePiece() }
        }

        private func writePiece() throws(WebArchiveError) {
            let piece = piece
            self.piece = []
            self.piece.reserveCapacity(Self.pieceBytes + (256 << 10))
            try lane.add { $0.add(piece) }
            try output.write(piece)
        }

        fileprivate func finish() throws(WebArchiveError) -> Sums {
            try writePiece()
            return try lane.result()
        }
    }

    private struct Record {
        let name: [UInt8]
        let offset: UInt64
        let isZIP64: Bool
        let modified: UInt32
        let sums: Sums
    }

    private let output: FileOutput
    /// Date and time in MS-DOS format, §4.4.6.
    private let modified: UInt32
    private var records: [Record] = []
    private static let limit32 = UInt64(UInt32.max)

    /// - Parameter modified: The time of all files, so that the same contents give the same ZIP.
    init(_ output: FileOutput, modified: CaptureTimestamp?) {
        self.output = output
        self.modified = modified.map(Self.dosTime) ?? 0x0021_0000
    }

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - name: The path in the ZIP.
    ///   - sizeMax: The maximum size in bytes; `nil` if it isn't known, which makes the entry zip64.
    ///   - modified: The time of this file, in UTC; `nil` for that of all files.
    ///   - body: Writes the contents.
    /// - Throws: What `body` throws, after which the ZIP can't be used; `io`, `noSpace`.
    func add(
        _ name: String, sizeMax: UInt64?, modified: CaptureTimestamp? = nil, _ body: (Entry) throws -> Void
    ) throws -> Sums {
        let isZIP64 = sizeMax.map { $0 >= Self.limit32 } ?? true
        let modified = modified.map(Self.dosTime) ?? self.modified
        let (offset, name) = (output.count, Array(name.utf8))
        try output.write(localHeader(name, isZIP64: isZIP64, modified, Sums()))
        let entry = Entry(output)
        try body(entry)
        let sums = try entry.finish()
        guard isZIP64 || sums.size < Self.limit32 else {
            throw WebArchiveError(
                code: .tooLarge, problem: "the file grew to \(sums.size) bytes while it was packed",
                file: String(decoding: name, as: UTF8.self))
        }
        try output.overwrite(localHeader(name, isZIP64: isZIP64, modified, sums), at: offset)
        records.append(Record(name: name, offset: offset, isZIP64: isZIP64, modified: modified, sums: sums))
        return sums
    }

    /// Adds a file that is in memory.
    func add(_ name: String, _ bytes: some Collection<UInt8>) throws -> Sums {
        try add(name, sizeMax: UInt64(bytes.count)) { try $0.write(bytes) }
    }

    /// Writes the central directory. Must be the last call.
    func finish() throws(WebArchiveError) {
        let start = output.count
        for record in records { try output.write(centralHeader(record)) }
        let size = output.count - start
        let count = UInt64(records.count)
        var end = LittleEndianBytes()
        if start >= Self.limit32 || size >= Self.limit32 || count >= 0xFFFF {
            end.addZIP64End(count: count, size: size, start: start)
        }
        end.addEnd(count: UInt16(clamping: count), size: UInt32(clamping: size), start: UInt32(clamping: start))
        try output.write(end.bytes)
    }

    /// §4.3.7
    private func localHeader(_ name: [UInt8], isZIP64: Bool, _ modified: UInt32, _ sums: Sums) -> [UInt8] {
        var header = LittleEndianBytes()
        header.add(ZIPDirectory.localSignature)
        addCommon(&header, name, isZIP64: isZIP64, modified, sums)
        header.add(UInt16(isZIP64 ? 20 : 0))
        header.bytes += name
        if isZIP64 { header.add(1 as UInt16, 16 as UInt16, sums.size, sums.size) }
        return header.bytes
    }

    /// §4.3.12
    private func centralHeader(_ record: Record) -> [UInt8] {
        let isFar = record.offset >= Self.limit32
        let extraSize = (record.isZIP64 ? 16 : 0) + (isFar ? 8 : 0)
        var header = LittleEndianBytes()
        // Made by version 4.5 on UNIX, so that the attributes are those of a readable file.
        header.add(ZIPDirectory.centralSignature, 3 << 8 | 45 as UInt16)
        addCommon(
            &header, record.name, isZIP64: record.isZIP64 || isFar, hasZIP64Sizes: record.isZIP64, record.modified,
            record.sums)
        header.add(UInt16(extraSize == 0 ? 0 : extraSize + 4), 0 as UInt16, 0 as UInt16, 0 as UInt16)
        header.add(0o100644 << 16 as UInt32, UInt32(clamping: record.offset))
        header.bytes += record.name
        if extraSize > 0 { header.add(1 as UInt16, UInt16(extraSize)) }
        if record.isZIP64 { header.add(record.sums.size, record.sums.size) }
        if isFar { header.add(record.offset) }
        return header.bytes
    }

    /// Adds the fields from the version needed to the length of the name.
    private func addCommon(
        _ header: inout LittleEndianBytes, _ name: [UInt8], isZIP64: Bool, hasZIP64Sizes: Bool? = nil,
        _ modified: UInt32, _ sums: Sums
    ) {
        let size = hasZIP64Sizes ?? isZIP64 ? UInt32.max : UInt32(clamping: sums.size)
        // Bit 11: the name is UTF-8. Method 0: stored.
        header.add(UInt16(isZIP64 ? 45 : 20), 1 << 11 as UInt16, 0 as UInt16, modified)
        header.add(sums.crc32, size, size, UInt16(name.count))
    }

    private static func dosTime(_ time: CaptureTimestamp) -> UInt32 {
        let digits = time.digits14.utf8.map { UInt32($0) - 0x30 }
        func number(_ range: Range<Int>) -> UInt32 { digits[range].reduce(0) { $0 * 10 + $1 } }
        let year = number(0..<4)
        guard (1980...2107).contains(year) else { return 0x0021_0000 }
        let date = (year - 1980) << 9 | number(4..<6) << 5 | number(6..<8)
        return date << 16 | number(8..<10) << 11 | number(10..<12) << 5 | number(12..<14) / 2
    }
}
