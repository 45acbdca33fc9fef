/// A ZIP of files, which are stored as they are. APPNOTE.TXT 6.3.10.
package enum ZIPFile {
    /// Writes a new ZIP.
    ///
    /// - Parameters:
    ///   - files: For each file, its path in the ZIP and where it's read from.
    ///   - check: Called from time to time.
    /// - Throws: `WebArchiveError`; what `check` throws.
    package static func write(
        to path: String, files: [(name: String, path: String)], modified: CaptureTimestamp, check: () throws -> Void
    ) throws {
        let output = try FileOutput(path: path)
        let zip = ZIPWriter(output, modified: modified)
        for file in files {
            let source = try FileByteSource(path: file.path)
            _ = try zip.add(file.name, sizeMax: source.size) { entry in
                var offset: UInt64 = 0
                while offset < source.size {
                    let bytes = try source.read(at: offset, count: Int(min(1 << 20, source.size - offset)))
                    try entry.write(bytes)
                    offset += UInt64(bytes.count)
                    try check()
                }
            }
        }
        try zip.finish()
        try output.synchronize()
        try output.finish()
    }
}
