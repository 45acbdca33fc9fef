import Crypto

/// Copies bytes to a new file.
package enum FileCopy {
    /// Copies to a path at which no file must be. The file appears there when it's complete.
    ///
    /// - Parameter progress: Called regularly with the number of bytes copied; throws to stop.
    /// - Returns: The SHA-256 in hexadecimal digits.
    package static func write(
        _ source: any ByteSource, to path: String, progress: (UInt64) throws -> Void = { _ in }
    ) throws -> String {
        try copy(SourceStream(source), to: NewFile(path: path), progress)
    }

    /// Copies into an existing file.
    package static func write(
        _ source: any ByteSource, into path: String, progress: (UInt64) throws -> Void
    ) throws -> String {
        try copy(SourceStream(source), to: NewFile(into: path), progress)
    }

    /// Copies a stream to a path at which no file must be.
    ///
    /// - Returns: The SHA-256 in hexadecimal digits.
    package static func write(
        _ stream: any ByteStream, to path: String, progress: (UInt64) throws -> Void = { _ in }
    ) throws -> String {
        try copy(stream, to: NewFile(path: path), progress)
    }

    private static func copy(
        _ stream: any ByteStream, to file: NewFile, _ progress: (UInt64) throws -> Void
    ) throws -> String {
        var hash = SHA256()
        try stream.forEachChunk(chunkBytesMax: 1 << 20) { bytes in
            hash.update(bufferPointer: bytes)
            try file.output.write(bytes)
            try progress(file.output.count)
            return true
        }
        try file.commit()
        return hash.finalize().hexadecimal
    }
}
