#if WITH_LIBZIP
import CLibzip

/// The content of a deflated entry, inflated by libzip, which checks its CRC; bounded by the declared size.
final class LibzipEntryStream: ByteStream {
    let name: String
    private let entry: ZIPEntry
    private let archive: LibzipArchive
    private let file: OpaquePointer
    private var produced: UInt64 = 0

    /// Opens the entry; `nil` when libzip cannot open the ZIP or sees another entry at this place.
    init?(_ entry: ZIPEntry, in directory: ZIPDirectory) throws(WebArchiveError) {
        var refusal = ""
        guard let archive = LibzipArchive(directory.source, refusal: &refusal),
            LibzipOpinion.agrees(with: entry, archive),
            let file = zip_fopen_index(archive.handle, UInt64(entry.index), 0)
        else { return nil }
        self.entry = entry
        self.archive = archive
        self.file = file
        name = directory.path(of: entry)
    }

    deinit { zip_fclose(file) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        let count = zip_fread(file, base, UInt64(buffer.count))
        guard count >= 0 else {
            let reason = LibzipArchive.text(of: zip_file_get_error(file))
            throw WebArchiveError(
                code: .corruptZIP, problem: "the data cannot be inflated after \(produced) bytes: \(reason)", file: name
            )
        }
        produced += UInt64(count)
        guard produced <= entry.uncompressedSize, count > 0 || produced == entry.uncompressedSize else {
            throw WebArchiveError(
                code: .corruptZIP,
                problem: "the data inflates to \(produced) bytes, \(entry.uncompressedSize) are declared",
                file: name)
        }
        return Int(count)
    }
}
#endif
