/// Writes files into a new ZIP, stored.
package final class NewZIP {
    private let file: NewFile
    private let zip: ZIPWriter
    private var resources = ListedFiles()

    /// - Parameters:
    ///   - path: Where the file appears when it's complete. Nothing must be there.
    ///   - modified: The time of all files; `nil` for one that is always the same.
    package init(path: String, modified: CaptureTimestamp? = nil) throws(WebArchiveError) {
        file = try NewFile(path: path)
        zip = ZIPWriter(file.output, modified: modified)
    }

    /// Writes into an existing file, whose contents are replaced.
    package init(into path: String) throws(WebArchiveError) {
        file = try NewFile(into: path)
        zip = ZIPWriter(file.output, modified: nil)
    }

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - name: Its path in the ZIP, which must not be used yet.
    ///   - sizeMax: The maximum size in bytes, if it's known.
    ///   - modified: The time of this file; `nil` for that of all files.
    ///   - progress: Called regularly with the number of bytes copied; throws to stop.
    /// - Returns: The size in bytes, and the SHA-256 in hexadecimal digits.
    @discardableResult
    package func add(
        _ name: String, _ contents: any ByteStream, sizeMax: UInt64? = nil, modified: CaptureTimestamp? = nil,
        progress: (UInt64) throws -> Void = { _ in }
    ) throws -> (size: UInt64, sha256: String) {
        let sums = try zip.add(name, sizeMax: sizeMax, modified: modified) { entry in
            try contents.forEachChunk(chunkBytesMax: 1 << 20) {
                try entry.write($0)
                try progress(entry.count)
                return true
            }
        }
        resources.add(name, sums)
        return (sums.size, sums.sha256)
    }

    /// Adds a file.
    package func add(
        _ name: String, _ contents: any ByteSource, progress: (UInt64) throws -> Void = { _ in }
    ) throws {
        try add(name, SourceStream(contents), sizeMax: contents.size, progress: progress)
    }

    /// Completes the ZIP, and gives the file its name. Must be the last call.
    ///
    /// - Parameter description: Makes it a multi-WACZ file: the files are WACZ files, and `datapackage.json` lists them with the
    ///   profile `multi-wacz-package` of the Webrecorder tools.
    package func finish(multiWACZ description: PackageDescription? = nil) throws {
        if let description {
            _ = try zip.add("datapackage.json", description.json(resources.json, profile: "multi-wacz-package"))
        }
        try zip.finish()
        try file.commit()
    }
}
