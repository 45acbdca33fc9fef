package import ArchiveStore
import CQRencode

/// A QR code of a text: ISO/IEC 18004, 8-bit mode, error correction level M.
package struct QRCode: Sendable, Hashable {
    /// The number of modules on a side, without the quiet zone.
    let side: Int
    private let modules: [Bool]

    /// The light modules on each side that readers need. ISO/IEC 18004 §6.3.8.
    static let quietZone = 4

    /// The number of modules on a side, with the quiet zone.
    var width: Int { side + 2 * Self.quietZone }

    /// - Throws: `StoreError` for an empty text, and for one of more than about 2,330 bytes in UTF-8.
    package init(_ text: String) throws(StoreError) {
        let bytes = Array(text.utf8)
        guard let code = Self.encode(bytes) else {
            throw StoreError(
                .failed, "can't make a QR code of \(bytes.count) bytes; 1 to about 2,330 are possible",
                hint: "use shorter names")
        }
        defer { QRcode_free(code) }
        side = Int(code.pointee.width)
        // The lowest bit of each byte is the colour: 1 is dark.
        modules = UnsafeBufferPointer(start: code.pointee.data, count: side * side).map { $0 & 1 == 1 }
    }

    /// Encodes bytes in the smallest version that is large enough; `nil` if none is.
    private static func encode(_ bytes: [UInt8]) -> UnsafeMutablePointer<QRcode>? {
        guard let input = QRinput_new2(0, QR_ECLEVEL_M) else { return nil }
        defer { QRinput_free(input) }
        // Without the number of UTF-8 (AIM ECI 26), readers guess the encoding.
        let isASCII = bytes.allSatisfy { $0 < 0x80 }
        guard isASCII || QRinput_appendECIheader(input, 26) == 0,
            QRinput_append(input, QR_MODE_8, Int32(bytes.count), bytes) == 0
        else { return nil }
        return QRcode_encodeInput(input)
    }

    /// Whether a module is dark; coordinates count from the corner of the quiet zone.
    func isDark(x: Int, y: Int) -> Bool {
        let (column, row) = (x - Self.quietZone, y - Self.quietZone)
        guard (0..<side).contains(column), (0..<side).contains(row) else { return false }
        return modules[row * side + column]
    }

    /// The code as lines of half blocks, two rows of modules to a line.
    ///
    /// - Parameter isColoured: Sets black on white, so that the code can be read on a dark terminal too. Without it, the text
    ///   must be shown dark on light.
    package func terminalText(isColoured: Bool) -> String {
        // Of the 256 colours, those that themes don't change.
        let (start, end) = isColoured ? ("\u{1B}[38;5;16;48;5;231m", "\u{1B}[0m\n") : ("", "\n")
        return stride(from: 0, to: width, by: 2).map { y in
            let line = (0..<width).map { x in
                switch (isDark(x: x, y: y), isDark(x: x, y: y + 1)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return start + line.joined() + end
        }.joined()
    }

    /// The code as an SVG image of one path, a unit for each module.
    package var svg: String {
        var path = ""
        for y in 0..<width {
            var x = 0
            while x < width {
                let length = (x..<width).prefix { isDark(x: $0, y: y) }.count
                if length > 0 { path += "M\(x) \(y)h\(length)v1h-\(length)z" }
                x += max(length, 1)
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(width)" shape-rendering="crispEdges" role="img">\
            <rect width="\(width)" height="\(width)" fill="#fff"/><path d="\(path)" fill="#000"/></svg>
            """
    }
}
