/// One entry of a ZIP's central directory. APPNOTE.TXT 6.3.10, §4.3.12.
public struct ZIPEntry: Sendable, Hashable {
    /// How an entry's bytes are stored.
    public enum Method: Sendable, Hashable {
        /// As they are (0).
        case stored
        /// Deflated (8).
        case deflated
        /// Any other method, by its number.
        case other(UInt16)

        init(_ number: UInt16) {
            switch number {
            case 0: self = .stored
            case 8: self = .deflated
            default: self = .other(number)
            }
        }
    }

    /// Position in the central directory, counted from 0.
    public let index: Int
    /// The name as text; bytes that are not UTF-8 are replaced.
    public let name: String
    /// The name as stored, where it is not UTF-8. Of the others no second copy is kept.
    private let otherRawName: [UInt8]?
    /// General purpose bit flags.
    public let flags: UInt16
    /// How the bytes are stored.
    public let method: Method
    /// Bytes the entry occupies in the ZIP.
    public let compressedSize: UInt64
    /// Bytes of the content.
    public let uncompressedSize: UInt64
    /// CRC-32 of the content.
    public let crc32: UInt32
    /// Byte offset of the local header from the start of the file.
    public let localHeaderOffset: UInt64
    /// Whether the entry stands for a folder.
    public let isDirectory: Bool
    /// Whether the entry is a symbolic link. Links are never followed.
    public let isSymlink: Bool
    /// Whether the name could lead out of a folder, or the entry is a link. Such an entry is never looked up.
    public let isUnsafe: Bool
    /// Bytes of the extra field in the central directory. The one before the entry's bytes may have another length.
    let centralExtraLength: Int

    /// The name as stored.
    public var rawName: [UInt8] { otherRawName ?? Array(name.utf8) }
    /// Bytes of the name as stored.
    var rawNameLength: Int { otherRawName?.count ?? name.utf8.count }

    /// Whether the entry is encrypted, in either of the two ways. APPNOTE §4.4.4, bits 0 and 6.
    var isEncrypted: Bool { flags & 0x0041 != 0 }

    /// Whether a reader of a WACZ depends on this entry.
    var matters: Bool {
        name.hasPrefix("archive/") || name.hasPrefix("indexes/") || name.hasPrefix("pages/")
            || name == "datapackage.json" || name == "datapackage-digest.json" || name == "webarchive.yaml"
    }

    init(
        index: Int, rawName: [UInt8], flags: UInt16, method: Method, compressedSize: UInt64, uncompressedSize: UInt64,
        crc32: UInt32, localHeaderOffset: UInt64, isDirectory: Bool, isSymlink: Bool, isUnsafe: Bool,
        centralExtraLength: Int
    ) {
        self.index = index
        name = String(decoding: rawName, as: UTF8.self)
        otherRawName = name.utf8.elementsEqual(rawName) ? nil : rawName
        self.flags = flags
        self.method = method
        self.compressedSize = compressedSize
        self.uncompressedSize = uncompressedSize
        self.crc32 = crc32
        self.localHeaderOffset = localHeaderOffset
        self.isDirectory = isDirectory
        self.isSymlink = isSymlink
        self.isUnsafe = isUnsafe
        self.centralExtraLength = centralExtraLength
    }

    /// Whether `name` could lead out of the folder that it is used in, or cannot be shown.
    static func isUnsafeName(_ name: [UInt8]) -> Bool {
        if name.isEmpty || name.first == UInt8(ascii: "/") { return true }
        if name.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) { return true }
        if name.count >= 2, name[1] == UInt8(ascii: ":") { return true }
        return name.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
    }
}

extension [ZIPEntry] {
    /// Bytes of the content of all of them. The sizes are those that the file declares, so the sum is saturated.
    package var uncompressedSize: UInt64 { reduce(0) { $0.addingSaturated($1.uncompressedSize) } }
}
