import Foundation

extension GeneratedArchive {
    /// Writes the archive with a sparse hole of `hole` bytes before its directory, which is slow to read but fast to
    /// write.
    package func write(withHole hole: Int, to path: String) throws {
        let bytes = bytes()
        // APPNOTE.TXT 6.3.10, §4.3.16: the end record, without a comment, contains the offset of the directory.
        let end = bytes.count - 22
        let offset = (0..<4).reduce(0) { $0 | Int(bytes[end + 16 + $1]) << (8 * $1) }
        let moved = UInt32(offset + hole).littleEndian
        var record = Array(bytes[end...])
        withUnsafeBytes(of: moved) { record.replaceSubrange(16..<20, with: $0) }
        let target = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes[..<offset]).write(to: target)
        let file = try FileHandle(forWritingTo: target)
        try file.truncate(atOffset: UInt64(offset + hole))
        try file.seekToEnd()
        try file.write(contentsOf: Data(bytes[offset..<end] + record))
        try file.close()
    }
}
