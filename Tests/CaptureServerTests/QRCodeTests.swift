import ArchiveStore
import CaptureServer
import Foundation
import TestSupport
import Testing

/// The `zbarimg` program, which reads QR codes; `nil` if it isn't installed.
private let zbarimg: String? = ["/usr/bin/zbarimg", "/usr/local/bin/zbarimg", "/opt/homebrew/bin/zbarimg"].first {
    FileManager.default.isExecutableFile(atPath: $0)
}

struct QRCodeTests {
    /// Texts of exactly these sizes in UTF-8, and what clients get.
    static let texts: [String] =
        [20, 200, 1_000].flatMap { size in
            let plain = String(
                "{\"lan\":\"192.168.1.119:8443\",\"fp\":\"".appending(String(repeating: "a1", count: size)).prefix(size)
            )
            let word = "Grüße, 日本語, ключ "
            var mixed = ""
            while mixed.utf8.count + word.utf8.count <= size { mixed += word }
            mixed += String(repeating: "é", count: (size - mixed.utf8.count) / 2)
            return [plain, mixed + String(repeating: "-", count: size - mixed.utf8.count)]
        } + ["https://192.168.1.119:8443/#connect=%7B%22v%22%3A%222.0%22%7D"]

    @Test(.enabled(if: zbarimg != nil, "zbarimg isn't installed"), arguments: texts)
    func pngIsReadByZBar(text: String) async throws {
        let png = try QRCode(text).png()
        #expect(try await Self.read(png, name: "code.png") == text)
    }

    @Test(.enabled(if: zbarimg != nil, "zbarimg isn't installed"), arguments: texts)
    func svgIsReadByZBar(text: String) async throws {
        let svg = try QRCode(text).svg
        #expect(try await Self.read(Self.picture(Self.pixels(ofSVG: svg)), name: "code.pgm") == text)
        #expect(svg.components(separatedBy: "<path").count == 2 && !svg.contains("script"))
    }

    @Test(.enabled(if: zbarimg != nil, "zbarimg isn't installed"), arguments: texts, [true, false])
    func terminalTextIsReadByZBar(text: String, isColoured: Bool) async throws {
        let lines = try QRCode(text).terminalText(isColoured: isColoured)
        #expect(try await Self.read(Self.picture(Self.pixels(ofText: lines)), name: "code.pgm") == text)
        let black = "\u{1B}[38;5;16;48;5;231m"
        #expect(
            lines.split(separator: "\n").allSatisfy { $0.hasPrefix(black) && $0.hasSuffix("\u{1B}[0m") } == isColoured)
        #expect(lines.contains("\u{1B}") == isColoured)
    }

    /// ISO/IEC 18004 §6.3.8: 4 light modules on each side; version 1 has 21 modules.
    @Test func quietZoneHasFourModules() throws {
        let rows = Self.pixels(ofText: try QRCode("x").terminalText(isColoured: false))
        #expect(rows[0].count == 29 && rows.count == 30)
        #expect(rows.prefix(4).allSatisfy { !$0.contains(true) } && rows[25...].allSatisfy { !$0.contains(true) })
        #expect(rows.allSatisfy { !$0.prefix(4).contains(true) && !$0.suffix(4).contains(true) })
        #expect(rows[4][4] && rows[4][24] && rows[24][4])
    }

    @Test func textMustFit() throws {
        _ = try QRCode(String(repeating: "x", count: 2_331))
        for size in [0, 2_332] {
            let error = try #require(throws: StoreError.self) { try QRCode(String(repeating: "x", count: size)) }
            #expect(error.what == "can't make a QR code of \(size) bytes; 1 to about 2,330 are possible")
        }
    }

    private static func read(_ image: [UInt8], name: String) async throws -> String {
        let folder = try TemporaryFolder()
        let path = try folder.write(image, to: name)
        let result = try await run(
            zbarimg ?? "zbarimg", ["--quiet", "--raw", "--nodbus", "-Sdisable", "-Sqrcode.enable", path])
        try #require(result.code == 0, "\(result.errors)")
        return result.output.hasSuffix("\n") ? String(result.output.dropLast()) : result.output
    }

    /// Rows of pixels from the half blocks; true is dark.
    private static func pixels(ofText text: String) -> [[Bool]] {
        text.split(separator: "\n").flatMap { line in
            let blocks = line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
            return [blocks.map { "█▀".contains($0) }, blocks.map { "█▄".contains($0) }]
        }
    }

    /// Rows of pixels from the rectangles of the path.
    private static func pixels(ofSVG svg: String) -> [[Bool]] {
        let size = svg.firstMatch(of: /viewBox="0 0 (\d+) (\d+)"/).flatMap { Int($0.1) } ?? 0
        var rows = [[Bool]](repeating: [Bool](repeating: false, count: size), count: size)
        for match in svg.matches(of: /M(\d+) (\d+)h(\d+)v1h-(\d+)z/) {
            guard let x = Int(match.1), let y = Int(match.2), let length = Int(match.3) else { continue }
            for column in x..<x + length { rows[y][column] = true }
        }
        return rows
    }

    /// A greyscale picture (PGM) with 6 × 6 pixels for each.
    private static func picture(_ rows: [[Bool]]) -> [UInt8] {
        let scale = 6
        let header = "P5\n\(rows[0].count * scale) \(rows.count * scale)\n255\n"
        return Array(header.utf8)
            + rows.flatMap { row -> [UInt8] in
                let line = row.flatMap { [UInt8](repeating: $0 ? 0 : 255, count: scale) }
                return (0..<scale).flatMap { _ in line }
            }
    }
}
