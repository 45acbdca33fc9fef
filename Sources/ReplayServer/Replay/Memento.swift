import ArchiveStore
import HTTPTypes
import WebArchive

/// The fields and links of RFC 7089 for one URL in some archives.
struct Memento {
    /// Scheme, name and port that the client used, so that its links stay there.
    let origin: String
    /// `all` or the id of an archive.
    let scope: String
    /// The original resource. RFC 7089 §2.1.
    let url: String

    var timeGate: String { "\(origin)\(CaptureAddress.prefix)\(scope)/\(url)" }

    func timeMap(_ form: String) -> String { "\(origin)\(CaptureAddress.prefix)\(scope)/timemap/\(form)/\(url)" }

    /// A `Link` field with the relations that every answer has. RFC 7089 §2.2.
    ///
    /// - Parameter memento: Where the capture is, and when it was made.
    func links(memento: (address: String, time: CaptureTimestamp)? = nil) -> String {
        var links = [Self.link(url, "rel=\"original\"")]
        // curl and Python refuse a field of more than 64 kB. The URL is in here up to four times, perhaps escaped.
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

    /// One link. RFC 8288 §3; what a URL cannot hold and would end it is escaped.
    static func link(_ address: String, _ parameters: String) -> String {
        let escaped = address.utf8.map { byte in
            byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "<") && byte != UInt8(ascii: ">")
                && byte != UInt8(ascii: "\"")
                ? String(Character(Unicode.Scalar(byte)))
                : "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
        }
        return "<\(escaped.joined())>; \(parameters)"
    }

    private static let linkedURLBytesMax = 4 << 10
}
