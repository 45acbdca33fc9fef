/// The end of a ZIP, written anew: a central directory and end records that simple readers understand as well.
///
/// Put after the first `offset` bytes of the file it makes a ZIP of the same entries, each of them where it was.
public struct ZIPTail: Sendable, Hashable {
    /// Bytes of the file that come before it: all up to the central directory.
    public let offset: UInt64
    /// What then follows.
    public let bytes: [UInt8]
}

extension WACZFile {
    /// A plainer end of the file for the replay engine where it would go wrong with this one; `nil` where it would not.
    ///
    /// Besides what `ZIPDirectory` mends, wabac.js 2.27.2 refuses a `datapackage.json` whose profile is `wacz` (WACZ 1.2.0 draft),
    /// that lists no resources, or that is not JSON; it replays a package without one. Nothing it needs stands only there.
    ///
    /// - Throws: what `ZIPDirectory.dataRange(of:)` throws.
    public func simplifiedDirectory() throws(WebArchiveError) -> ZIPTail? {
        let name = "datapackage.json"
        guard directory.entry(named: name) != nil else { return try directory.simplifiedDirectory() }
        let isUnderstood =
            dataPackage.map { [nil, "data-package", "wacz-package"].contains($0.profile) && !$0.resources.isEmpty }
            ?? false
        return try directory.simplifiedDirectory(hiding: isUnderstood ? [] : [name])
    }
}

extension ZIPDirectory {
    /// A plainer end for a ZIP that simple readers go wrong with; `nil` when they read this one right.
    ///
    /// wabac.js 2.27.2 takes an entry whose central extra field is empty to have an empty local one too (seen in what Python's
    /// `zipfile` writes with `force_zip64`), takes offsets to count from the file's first byte, and looks for the end record in
    /// the last 64 KiB. Here every entry gets a zip64 extra field with its true place, so that none is empty.
    ///
    /// - Parameter hidden: Names of entries that are to be left out.
    /// - Throws: what `dataRange(of:)` throws.
    func simplifiedDirectory(hiding hidden: Set<String> = []) throws(WebArchiveError) -> ZIPTail? {
        if hidden.isEmpty, try !isMisread() { return nil }
        let kept = entries.filter { !$0.isUnsafe && !$0.isDirectory && !hidden.contains($0.name) }
        var bytes: [UInt8] = []
        for entry in kept { bytes += centralHeader(of: entry) }
        let size = UInt64(bytes.count)
        bytes += endRecords(count: UInt64(kept.count), size: size)
        return ZIPTail(offset: end.directoryOffset, bytes: bytes)
    }

    private func isMisread() throws(WebArchiveError) -> Bool {
        if end.prefixLength > 0 || end.trailingLength > 0 { return true }
        for entry in entries
        where entry.matters && !entry.isDirectory && !entry.isUnsafe && entry.centralExtraLength == 0 {
            let plainStart = entry.localHeaderOffset + 30 + UInt64(entry.rawNameLength)
            if try dataRange(of: entry).lowerBound != plainStart { return true }
        }
        return false
    }

    /// APPNOTE §4.3.12, with sizes and offset in the zip64 extra field of §4.5.3.
    private func centralHeader(of entry: ZIPEntry) -> [UInt8] {
        let method: UInt16 =
            switch entry.method {
            case .stored: 0
            case .deflated: 8
            case .other(let number): number
            }
        var header: [UInt8] = []
        header.append(Self.centralSignature)
        header.append(UInt16(45))  // made by
        header.append(UInt16(45))  // needs zip64
        header.append(entry.flags)
        header.append(method)
        header.append(UInt32(0x0021_0000))  // 1 January 1980, midnight
        header.append(entry.crc32)
        header.append(UInt32.max)
        header.append(UInt32.max)
        header.append(UInt16(entry.rawNameLength))
        header.append(UInt16(28))  // extra field
        header.append(UInt16(0))  // comment
        header.append(UInt16(0))  // disk
        header.append(UInt16(0))
        header.append(UInt32(0))
        header.append(UInt32.max)
        header += entry.rawName
        header.append(UInt16(0x0001))
        header.append(UInt16(24))
        header.append(entry.uncompressedSize)
        header.append(entry.compressedSize)
        header.append(entry.localHeaderOffset)
        return header
    }

    /// APPNOTE §4.3.14 to §4.3.16: the zip64 record, its locator, the end record.
    private func endRecords(count: UInt64, size: UInt64) -> [UInt8] {
        var records: [UInt8] = []
        records.append(UInt32(0x0606_4B50))
        records.append(UInt64(44))  // bytes that follow
        records.append(UInt16(45))
        records.append(UInt16(45))
        records.append(UInt32(0))
        records.append(UInt32(0))
        records.append(count)
        records.append(count)
        records.append(size)
        records.append(end.directoryOffset)
        records.append(UInt32(0x0706_4B50))
        records.append(UInt32(0))
        records.append(end.directoryOffset + size)
        records.append(UInt32(1))
        records.append(UInt32(0x0605_4B50))
        records.append(UInt32(0))
        records.append(UInt16.max)
        records.append(UInt16.max)
        records.append(UInt32.max)
        records.append(UInt32.max)
        records.append(UInt16(0))
        return records
    }
}

extension [UInt8] {
    /// Adds a number, little-endian.
    fileprivate mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
