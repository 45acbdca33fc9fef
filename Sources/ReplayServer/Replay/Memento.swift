import ArchiveStore
import HTTPTypes
import WebArchive

/// The fields and links of RFC 7089 for a URL.
struct Memento {
    /// The origin that the client used, for links.
    let origin: String
    /// `all` or the id of an archive or a collection.
    let scope: String
    /// The original resource. RFC 7089 §2.1.
    let url: String

    var timeGate: String { "\(origin)\(CaptureAddress.prefix)\(scope)/\(url)" }

    func timeMap(_ form: String) -> String { "\(origin)\(CaptureAddress.prefix)\(scope)/timemap/\(form)/\(url)" }

    /// Returns a `Link` field. RFC 7089 §2.2.
    ///
    /// - Parameter memento: The path and the time of the capture.
    func links(memento: (address: String, time: CaptureTimestamp)? = nil) -> String {
        var links = [Self.link(url, "rel=\"original\"")]
        // curl and Python reject fields of more than 64 kB. The URL occurs up to four times, possibly escaped.
        if url.utf8.count <= Self.linkedURLBytesMax {
            links.append(Self.link(timeGate, "rel=\"timegate\""))
            links.append(Self.link(timeMap("link"), "rel=\"timemap\"; type=\"application/link-format\""))
        }
        if let memento {
            let time = memento.time.httpDate
            links.append(Self.link("\(origin)\(memento.address)", "rel=\"memento\"; datetime=\"\(time)\""))
        }
        return links.joined(separator: ", ")
    }

    /// Returns a link. RFC 8288 §3. Escapes characters that aren't allowed in URLs.
    static func link(_ address: String, _ parameters: String) -> String {
        guard !address.utf8.allSatisfy(isAllowed) else { return "<\(address)>; \(parameters)" }
        let escaped = address.utf8.map { byte in
            isAllowed(byte)
                ? String(Character(Unicode.Scalar(byte)))
                : "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
        }
        return "<\(escaped.joined())>; \(parameters)"
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""): false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    private static let linkedURLBytesMax = 4 << 10
}
