import ArchiveStore

extension FuzzReader {
    /// Reads the header of an image.
    static func readImageHeader(_ bytes: [UInt8]) throws {
        guard let header = ImageHeader(bytes) else { return }
        try require(header.width > 0 && header.height > 0, "the image has no size")
        try require(header.pixels >= max(header.width, header.height), "the number of pixels overflows")
        try require(ImageHeader(bytes + [0]) == header, "a longer image has another header")
    }
}
