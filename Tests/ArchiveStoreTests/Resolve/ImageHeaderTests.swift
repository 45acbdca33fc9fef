import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The format and the size of images, from their first bytes.
struct ImageHeaderTests {
    /// The starts of 300 × 200 images that ffmpeg 5.1 wrote with libwebp and its own JPEG encoder.
    private static let ffmpeg: [String: [String]] = [
        "image/webp": [
            // lossy, lossless, and with alpha
            "52494646d80000005745425056503820cc000000d010009d012a2c01c8003e91",
            "5249464624000000574542505650384c170000002f2bc131000710f58ffe0700",
            "52494646fc00000057454250565038580a000000100000002b0100c70000414c",
        ],
        "image/jpeg": [
            "ffd8ffe000104a46494600010200000100010000fffe00104c61766335392e33372e31303000ffdb0043000804"
                + "040404040505050505050606060606060606060606060607070708080807070706060707080808080909090808"
                + "080809090a0a0a0c0c0b0b0e0e0e111114ffc4004d000101000000000000000000000000000000060101010100"
                + "000000000000000000000000000607100100000000000000000000000000000000110100000000000000000000"
                + "000000000000ffc000110800c8012c03012200021100031100"
        ],
    ]

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        stride(from: 0, to: hexadecimal.count, by: 2).compactMap {
            UInt8(hexadecimal.dropFirst($0).prefix(2), radix: 16)
        }
    }

    @Test func sizesAreRead() throws {
        for (type, starts) in Self.ffmpeg {
            for start in starts {
                let header = try #require(ImageHeader(Self.bytes(start)), "\(start)")
                #expect((header.type, header.width, header.height) == (type, 300, 200), "\(start)")
            }
        }
        // As `file` prints them.
        for (name, type, width, height) in [
            ("anemone.png", "image/png", 640, 440), ("shore.jpg", "image/jpeg", 960, 400),
            ("waves.jpg", "image/jpeg", 640, 360),
        ] {
            let header = try #require(ImageHeader(contents(of: Checkout.fixture("site/media/\(name)"))))
            #expect((header.type, header.width, header.height) == (type, width, height), "\(name)")
        }
    }

    /// A header is either complete or not read.
    @Test func truncatedHeaderIsNotRead() throws {
        let png = Array(try contents(of: Checkout.fixture("site/media/anemone.png")).prefix(24))
        for whole in Self.ffmpeg.values.joined().map(Self.bytes) + [png] {
            let end = (0...whole.count).first { ImageHeader(Array(whole.prefix($0))) != nil }
            let shortest = try #require(end)
            for count in 0..<shortest { #expect(ImageHeader(Array(whole.prefix(count))) == nil) }
            for count in shortest...whole.count {
                #expect(ImageHeader(Array(whole.prefix(count))) == ImageHeader(whole))
            }
        }
    }

    @Test func damagedHeaderIsHandled() throws {
        let png = Array(try contents(of: Checkout.fixture("site/media/anemone.png")).prefix(24))
        for whole in Self.ffmpeg.values.joined().map(Self.bytes) + [png] {
            for position in whole.indices {
                for bit in 0..<8 {
                    var damaged = whole
                    damaged[position] ^= 1 << bit
                    if let header = ImageHeader(damaged) { #expect(header.width > 0 && header.height > 0) }
                }
            }
        }
    }

    @Test(arguments: [
        "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "GIF89a\u{1}\u{0}\u{1}\u{0}", "<html>", "", "\u{0}PNG",
        "RIFF0000WAVEfmt ", "%PDF-1.7", "BM",
    ])
    func otherFormatsAreNotRead(_ text: String) {
        #expect(ImageHeader(Array(text.utf8)) == nil)
    }
}
