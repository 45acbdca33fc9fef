/// An entry of a ZIP's central directory. APPNOTE.TXT 6.3.10, §4.3.12.
public struct ZIPEntry: Sendable, Hashable {
    /// The compression method of an entry.
    public enum Method: Sendable, Hashable {
        /// Uncompressed (0).
        case stored
        /// Deflated (8).
        case deflated
        /// Another method, by its number.
        case other(UInt16)

        init(_ number: UInt16) {
            switch number {
            case 0: self = .stored
            case 8: self = .deflated
            default: self = .other(number)
            }
        }
    }

    /// The position in the central directory, counted from 0.
    public let index: Int
    /// The name as text. Bytes that aren't UTF-8 are replaced.
    public let name: String
    /// The stored bytes of the name if they aren't UTF-8, so that other names aren't kept twice.
    private let otherRawName: [UInt8]?
    /// The general purpose bit flags.
    public let flags: UInt16
    /// The compression method.
    public let method: Method
    /// The size of the entry in the ZIP, in bytes.
    public let compressedSize: UInt64
    /// The size of the contents in bytes.
    public let uncompressedSize: UInt64
    /// The CRC-32 of the contents.
    public let crc32: UInt32
    /// The byte offset of the local header in the file.
    public let localHeaderOffset: UInt64
    /// Whether the entry is a folder.
    public let isDirectory: Bool
    /// Whether the entry is a symbolic link. Links are never followed.
    public let isSymlink: Bool
    /// Whether the path leads outside a folder or the entry is a link. Unsafe entries are never used.
    public let isUnsafe: Bool
    /// The size of the extra field in the central directory, which may differ from that in the local header.
    let centralExtraLength: Int
    /// The version needed to extract, and the time of the last change in MS-DOS format, of the central header.
    let versionNeeded: UInt16
    let modified: UInt32

    /// The stored bytes of the name.
    public var rawName: [UInt8] { otherRawName ?? Array(name.utf8) }
    /// The number of stored bytes of the name.
    var rawNameLength: Int { otherRawName?.count ?? name.utf8.count }

    /// Whether the entry is encrypted. APPNOTE §4.4.4, bits 0 and 6.
    var isEncrypted: Bool { flags & 0x0041 != 0 }

    /// Whether readers of a WACZ need this entry.
    var matters: Bool {
        ["archive/", "indexes/", "pages/", "data/"].contains { name.hasPrefix($0) }
            || ["datapackage.json", "datapackage-digest.json", "webarchive.yaml"].contains(name)
    }

    init(
        index: Int, rawName: [UInt8], flags: UInt16, method: Method, compressedSize: UInt64, uncompressedSize: UInt64,
        crc32: UInt32, localHeaderOffset: UInt64, isDirectory: Bool, isSymlink: Bool, isUnsafe: Bool,
        centralExtraLength: Int, versionNeeded: UInt16, modified: UInt32
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
        self.versionNeeded = versionNeeded
        self.modified = modified
    }

    /// Returns whether a path could lead outside its folder or can't be displayed.
    static func isUnsafeName(_ name: [UInt8]) -> Bool {
        if name.isEmpty || name.first == UInt8(ascii: "/") { return true }
        if name.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) { return true }
        if name.count >= 2, name[1] == UInt8(ascii: ":") { return true }
        return name.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
    }
}

extension [ZIPEntry] {
    /// The total size of the contents. It saturates, as the sizes are declared by the file.
    package var uncompressedSize: UInt64 { reduce(0) { $0.addingSaturated($1.uncompressedSize) } }
}
