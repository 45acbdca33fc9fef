extension ZIPDirectory {
    /// Compares each entry's local header with its central one. APPNOTE.TXT 6.3.10, §4.3.7 and §4.3.12.
    ///
    /// CRC and sizes are compared unless they follow the data (bit 3 of the flags) or are in a zip64 field.
    func compareLocalHeaders(_ log: inout FindingLog) throws(WebArchiveError) {
        for entry in entries where !entry.isDirectory && !entry.isSymlink {
            let header: [UInt8]
            do throws(WebArchiveError) {
                _ = try dataRange(of: entry)
                header = try source.read(at: entry.localHeaderOffset, count: 30)
            } catch {
                guard error.isDamage else { throw error }
                // Reading the file finds the same.
                continue
            }
            var differing: [String] = []
            if header.uint16(at: 4) != entry.versionNeeded { differing.append("version") }
            if header.uint16(at: 6) != entry.flags { differing.append("flags") }
            if header.uint32(at: 10) != entry.modified { differing.append("time") }
            if entry.flags & 0x0008 == 0 {
                if !isSame(header.uint32(at: 14), UInt64(entry.crc32)) { differing.append("CRC-32") }
                if !isSame(header.uint32(at: 18), entry.compressedSize) { differing.append("size") }
                if !isSame(header.uint32(at: 22), entry.uncompressedSize) { differing.append("original size") }
            }
            guard !differing.isEmpty else { continue }
            log.add(
                .warning, "zip-headers-differ",
                "The two headers of a file in the ZIP differ: \(differing.joined(separator: ", ")).", at: entry.name,
                consequence: "Replay isn't affected, but other programs may read the file differently.")
        }
    }

    private func isSame(_ local: UInt32, _ central: UInt64) -> Bool { local == .max || UInt64(local) == central }
}
