/// A rewritten end of a ZIP: a central directory and end records that simple readers understand too.
///
/// Appended to the first `offset` bytes of the file, it makes a ZIP with the same entries at the same offsets.
public struct ZIPTail: Sendable, Hashable {
    /// The number of bytes of the file before the tail: everything up to the central directory.
    public let offset: UInt64
    /// The bytes of the tail.
    public let bytes: [UInt8]
}

extension WACZFile {
    /// Returns a simplified directory for the replay engine, or `nil` if the engine reads the original correctly.
    ///
    /// wabac.js 2.27.2 also refuses a `datapackage.json` that has the profile `wacz` (WACZ 1.2.0 draft), lists no
    /// resources or isn't JSON. The simplified directory hides it, as the engine can replay without it.
    ///
    /// - Throws: The errors of `ZIPDirectory.dataRange(of:)`.
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
    /// Returns a simplified directory, or `nil` if simple readers read the original correctly.
    ///
    /// wabac.js 2.27.2 assumes that the local extra field is empty if the central one is (not so with `force_zip64` in
    /// Python's `zipfile`), that offsets count from the first byte of the file, and that the end record is in the last
    /// 64 KiB. The simplified directory gives each entry a zip64 extra field with its real offset.
    ///
    /// - Parameter hidden: The names of entries to leave out.
    /// - Throws: The errors of `dataRange(of:)`.
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

    /// Returns a central header with sizes and offset in a zip64 extra field. APPNOTE §4.3.12, §4.5.3.
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

    /// Returns the zip64 end record, its locator and the end record. APPNOTE §4.3.14 to §4.3.16.
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
    /// Appends a number in little-endian order.
    fileprivate mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
