import CZlib

/// Writes a ZIP into memory, which is valid unless a test changes it. APPNOTE.TXT 6.3.10.
struct ZIPBuilder {
    struct Entry {
        var name: [UInt8]
        var content: [UInt8]
        var isDeflated = false
        var flags: UInt16 = 0
        var usesZip64 = false
        var hasDataDescriptor = false
        var localExtra: [UInt8] = []
        var externalAttributes: UInt32 = 0o100644 << 16
        var localName: [UInt8]?
        var declaredSize: UInt32?
        var declaredCRC: UInt32?
        var declaredOffset: UInt32?

        init(_ name: String, _ content: [UInt8]) {
            self.name = Array(name.utf8)
            self.content = content
        }

        init(_ name: String, _ content: String) {
            self.init(name, Array(content.utf8))
        }

        func with(_ change: (inout Entry) -> Void) -> Entry {
            var copy = self
            change(&copy)
            return copy
        }
    }

    var entries: [Entry]
    var prefix: [UInt8] = []
    var offsetsCountPrefix = true
    var comment: [UInt8] = []
    var trailing: [UInt8] = []
    var endRecordIsZip64 = false
    var declaredCount: UInt16?

    init(_ entries: [Entry]) {
        self.entries = entries
    }

    func bytes() -> [UInt8] {
        var out = prefix
        let base = offsetsCountPrefix ? 0 : prefix.count
        var central: [UInt8] = []
        for entry in entries {
            let data = entry.isDeflated ? Deflater.raw(entry.content) : entry.content
            let crc = entry.declaredCRC ?? Deflater.crc32(entry.content)
            let offset = out.count - base
            let flags = entry.flags | (entry.hasDataDescriptor ? 0x0008 : 0)
            let method: UInt16 = entry.isDeflated ? 8 : 0
            let localName = entry.localName ?? entry.name
            out += le32(0x0403_4B50) + le16(45) + le16(flags) + le16(method) + le32(0)
            let hides = entry.hasDataDescriptor
            out += le32(hides ? 0 : crc) + le32(hides ? 0 : UInt32(data.count))
            out += le32(hides ? 0 : UInt32(entry.content.count))
            out += le16(UInt16(localName.count)) + le16(UInt16(entry.localExtra.count)) + localName + entry.localExtra
            out += data
            if hides {
                out += le32(0x0807_4B50) + le32(crc) + le32(UInt32(data.count)) + le32(UInt32(entry.content.count))
            }
            central += centralHeader(entry, flags, method, crc, data.count, offset)
        }
        let start = out.count - base
        out += central
        return out + endRecords(start: start, size: central.count, base: base) + trailing
    }

    private func centralHeader(
        _ entry: Entry, _ flags: UInt16, _ method: UInt16, _ crc: UInt32, _ stored: Int, _ offset: Int
    ) -> [UInt8] {
        let size = entry.declaredSize ?? UInt32(entry.content.count)
        let storedSize = entry.isDeflated ? UInt32(stored) : size
        let wide = entry.usesZip64
        let extra =
            wide ? le16(1) + le16(24) + le64(UInt64(size)) + le64(UInt64(storedSize)) + le64(UInt64(offset)) : []
        var out = le32(0x0201_4B50) + le16(0x031E) + le16(45) + le16(flags) + le16(method) + le32(0) + le32(crc)
        out += le32(wide ? .max : storedSize) + le32(wide ? .max : size)
        out += le16(UInt16(entry.name.count)) + le16(UInt16(extra.count)) + le16(0) + le16(0) + le16(0)
        out += le32(entry.externalAttributes) + le32(wide ? .max : entry.declaredOffset ?? UInt32(offset))
        return out + entry.name + extra
    }

    private func endRecords(start: Int, size: Int, base: Int) -> [UInt8] {
        var out: [UInt8] = []
        let count = UInt64(entries.count)
        if endRecordIsZip64 {
            out += le32(0x0606_4B50) + le64(44) + le16(45) + le16(45) + le32(0) + le32(0) + le64(count) + le64(count)
            out += le64(UInt64(size)) + le64(UInt64(start))
            out += le32(0x0706_4B50) + le32(0) + le64(UInt64(start + size)) + le32(1)
        }
        let wide = endRecordIsZip64
        let shortCount = wide ? .max : declaredCount ?? UInt16(count)
        out += le32(0x0605_4B50) + le16(0) + le16(0) + le16(shortCount) + le16(shortCount)
        out += le32(wide ? .max : UInt32(size)) + le32(wide ? .max : UInt32(start))
        return out + le16(UInt16(comment.count)) + comment
    }
}

func le16(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) } }
func le32(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) } }
func le64(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) } }

/// Compresses with zlib.
enum Deflater {
    static func raw(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: -MAX_WBITS) }
    static func gzip(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: MAX_WBITS + 16) }
    static func zlib(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: MAX_WBITS) }

    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        UInt32(truncatingIfNeeded: CZlib.crc32(0, bytes, UInt32(bytes.count)))
    }

    private static func deflated(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
        let size = output.count
        let produced = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(bytes.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(size)
                _ = deflate(&stream, Z_FINISH)
                return size - Int(stream.avail_out)
            }
        }
        return Array(output.prefix(produced))
    }
}
