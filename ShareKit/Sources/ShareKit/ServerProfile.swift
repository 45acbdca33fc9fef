import CaptureAPI
public import Foundation

/// How to reach one server.
public struct ServerProfile: Sendable, Hashable, Codable, Identifiable {
    /// How a server is reached.
    public enum Scheme: String, Sendable, Hashable, Codable, CaseIterable {
        case http, https
    }

    /// Names the profile on this device.
    public let id: UUID
    /// What the person calls it.
    public var name: String
    /// In the local network: `HOST:PORT`.
    public var lan: String
    /// From outside: `HOST:PORT`.
    public var wan: String?
    /// Whether the connection is encrypted.
    public var scheme: Scheme
    /// The SHA-256 of the server's root certificate, as 64 hexadecimal digits in lower case. The server must have a certificate
    /// of that root. `nil`: of one that the system trusts.
    public var fingerprint: String?
    /// Whether to connect from outside.
    public var usesWAN = false

    /// Creates a profile with an ID of its own.
    public init(name: String, lan: String, wan: String? = nil, scheme: Scheme, fingerprint: String? = nil) {
        (id, self.name, self.lan, self.wan) = (UUID(), name, lan, wan)
        (self.scheme, self.fingerprint) = (scheme, fingerprint)
    }

    /// The URL to which paths are added: `https://192.168.1.5:8443`.
    public var baseURL: String { "\(scheme.rawValue)://\(usesWAN ? wan ?? lan : lan)" }

    /// Whether this is a server that another profile describes: by its root, else by its place.
    func isSameServer(as other: ServerProfile) -> Bool {
        lan == other.lan || (fingerprint != nil && fingerprint == other.fingerprint)
    }
}

/// What a server's QR code says: the server, and the key of this device.
public struct ConnectionCode: Sendable, Hashable {
    /// The server.
    public var profile: ServerProfile
    /// The key of this device; `nil` for a server that needs none.
    public var key: String?

    /// The version of the codes that this client knows.
    private static let version = 2

    /// Reads the JSON of the code for apps, or the link of the code for cameras.
    ///
    /// - Throws: `ShareError` `foreignCode`, `laterCode`, `codeWithoutLAN` or `codeWithInvalidKey`.
    public init(_ text: String) throws(ShareError) {
        struct Payload: Decodable {
            var v: String
            var `protocol`: ServerProfile.Scheme
            var lan: String?
            var wan: String?
            var key: String?
            var fp: String?
        }
        let json = Self.decodedLink(text) ?? Data(text.utf8)
        guard let payload = try? JSONDecoder().decode(Payload.self, from: json),
            let major = Int(payload.v.prefix { $0 != "." }), payload.v.allSatisfy({ $0.isNumber || $0 == "." })
        else { throw ShareError(.foreignCode) }
        guard major <= Self.version else { throw ShareError(.laterCode) }
        guard let lan = payload.lan, Self.isPlace(lan) else { throw ShareError(.codeWithoutLAN) }
        let fingerprint = payload.fp.map { $0.lowercased().replacingOccurrences(of: ":", with: "") }
        guard fingerprint.map(Fingerprint.isValid) ?? true else { throw ShareError(.foreignCode) }
        guard payload.key.map(Self.isKey) ?? true else { throw ShareError(.codeWithInvalidKey) }
        key = payload.key
        profile = ServerProfile(
            name: lan, lan: lan, wan: payload.wan.flatMap { Self.isPlace($0) ? $0 : nil }, scheme: payload.protocol,
            fingerprint: payload.protocol == .https ? fingerprint : nil)
    }

    private static func decodedLink(_ text: String) -> Data? {
        guard let start = text.range(of: "#connect=") else { return nil }
        let encoded = text[start.upperBound...].trimmingCharacters(in: .whitespacesAndNewlines)
            .replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4)
        return Data(base64Encoded: encoded + padding)
    }

    /// Whether a text is a host and a port, and nothing else.
    private static func isPlace(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { character in
            (0x30...0x39).contains(character) || (0x41...0x5A).contains(character) || (0x61...0x7A).contains(character)
                || ".-:[]".utf8.contains(character)
        }
        return isPlain && WebURL("https://\(text)/") != nil
    }

    /// Whether a text can be a key: printable ASCII, as the server's keys are.
    static func isKey(_ text: String) -> Bool {
        (16...200).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
