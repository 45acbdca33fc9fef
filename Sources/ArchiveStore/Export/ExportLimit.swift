import WebArchive

/// Limits what an export of an archive writes, so that a small file can't fill the disk: an index can name the same data
/// any number of times.
///
/// Real archives stay below: their documents compress 3 to 20 times.
struct ExportLimit {
    /// The maximum number of bytes to write.
    let bytesMax: UInt64
    /// The number of bytes of what is complete.
    private var bytes: UInt64 = 0
    private let archive: Archive

    init(_ archive: Archive) {
        self.archive = archive
        bytesMax = archive.size.multipliedSaturated(by: 32).addingSaturated(64 << 20)
    }

    /// Checks that there is space for another file or record.
    ///
    /// - Throws: `StoreError` `notPossible`.
    func check(_ more: UInt64) throws(StoreError) {
        guard bytes.addingSaturated(more) > bytesMax else { return }
        throw StoreError(
            .notPossible,
            "this export would be larger than \(ByteSize.text(bytesMax)), the limit for an archive of "
                + ByteSize.text(archive.size),
            hint: "save the file as it is, files of one type (--type), or single captures (`replayhost get URL`)")
    }

    /// Counts a file or record.
    ///
    /// - Throws: `StoreError` `notPossible`.
    mutating func add(_ more: UInt64) throws(StoreError) {
        try check(more)
        bytes += more
    }

    /// What opening a capture counts as, and a file at least: about the space that a small file takes.
    static let captureBytes: UInt64 = 4 << 10
}
