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
    /// resources or isn't JSON. The simplified directory hides it, as the engine can replay without it. It also hides what the
    /// signature doesn't cover.
    ///
    /// - Throws: The errors of `ZIPDirectory.dataRange(of:)`.
    public func simplifiedDirectory() throws(WebArchiveError) -> ZIPTail? {
        let name = "datapackage.json"
        let aside = Set(uncoveredEntries.filter(isSetAside).map(\.name))
        guard directory.entry(named: name) != nil else { return try directory.simplifiedDirectory(hiding: aside) }
        let isUnderstood =
            dataPackage.map { [nil, "data-package", "wacz-package"].contains($0.profile) && !$0.resources.isEmpty }
            ?? false
        return try directory.simplifiedDirectory(hiding: isUnderstood ? aside : aside.union([name]))
    }
}

extension ZIPDirectory {
    /// Returns a simplified directory, or `nil` if simple readers read the original correctly.
    ///
    /// wabac.js 2.27.2 assumes that the local extra field is empty if the central one is (not so with `force_zip64` in
    /// Python's `zipfile`), that offsets count from the first byte of the file, and that the end record is in the last
    /// 64 KiB. If there are two end records, it can take the other one. The simplified directory gives each entry a zip64 extra field with its real offset.
    ///
    /// - Parameter hidden: The names of entries to leave out.
    /// - Throws: The errors of `dataRange(of:)`.
    func simplifiedDirectory(hiding hidden: Set<String> = []) throws(WebArchiveError) -> ZIPTail? {
        if hidden.isEmpty, try !isMisread() { return nil }
        let kept = entries.filter { !$0.isUnsafe && !$0.isDirectory && !hidden.contains($0.name) }
        var tail = LittleEndianBytes()
        for entry in kept { addCentralHeader(of: entry, to: &tail) }
        let size = UInt64(tail.bytes.count)
        tail.addZIP64End(count: UInt64(kept.count), size: size, start: end.directoryOffset)
        tail.addEnd(count: .max, size: .max, start: .max)
        return ZIPTail(offset: end.directoryOffset, bytes: tail.bytes)
    }

    private func isMisread() throws(WebArchiveError) -> Bool {
        if end.prefixLength > 0 || end.trailingLength > 0 || end.hasRival { return true }
        for entry in entries
        where entry.matters && !entry.isDirectory && !entry.isUnsafe && entry.centralExtraLength == 0 {
            let plainStart = entry.localHeaderOffset + 30 + UInt64(entry.rawNameLength)
            if try dataRange(of: entry).lowerBound != plainStart { return true }
        }
        return false
    }

    /// Adds a central header with sizes and offset in a zip64 extra field. APPNOTE §4.3.12, §4.5.3.
    private func addCentralHeader(of entry: ZIPEntry, to tail: inout LittleEndianBytes) {
        let method: UInt16 =
            switch entry.method {
            case .stored: 0
            case .deflated: 8
            case .other(let number): number
            }
        // Made by version 4.5, which zip64 needs. The time is midnight of 1 January 1980.
        tail.add(Self.centralSignature, 45 as UInt16, 45 as UInt16, entry.flags, method, 0x0021_0000 as UInt32)
        tail.add(entry.crc32, UInt32.max, UInt32.max, UInt16(entry.rawNameLength))
        // The length of the extra field; no comment, the first disk, no attributes.
        tail.add(28 as UInt16, 0 as UInt16, 0 as UInt16, 0 as UInt16, 0 as UInt32, UInt32.max)
        tail.bytes += entry.rawName
        tail.add(1 as UInt16, 24 as UInt16, entry.uncompressedSize, entry.compressedSize, entry.localHeaderOffset)
    }
}

extension LittleEndianBytes {
    /// Adds the zip64 end record and its locator. APPNOTE §4.3.14 and §4.3.15.
    mutating func addZIP64End(count: UInt64, size: UInt64, start: UInt64) {
        // 44 bytes follow the first two fields.
        add(0x0606_4B50 as UInt32, 44 as UInt64, 45 as UInt16, 45 as UInt16, 0 as UInt32, 0 as UInt32)
        add(count, count, size, start)
        add(0x0706_4B50 as UInt32, 0 as UInt32, start + size, 1 as UInt32)
    }

    /// Adds the end record, without a comment. APPNOTE §4.3.16.
    mutating func addEnd(count: UInt16, size: UInt32, start: UInt32) {
        add(0x0605_4B50 as UInt32, 0 as UInt16, 0 as UInt16, count, count)
        add(size, start, 0 as UInt16)
    }
}
