import Foundation

/// The answer of `GET /config/connection`: how clients reach the server.
public struct ConnectionInfo: Sendable, Hashable, Codable {
    public struct Place: Sendable, Hashable, Codable {
        @NullWritten public var ip: String?
        @NullWritten public var url: String?
        public var available: Bool

        public init(ip: String?, url: String?, available: Bool) {
            (self.ip, self.url, self.available) = (ip, url, available)
        }

    }

    public var serverName: String
    /// The version of the contract.
    public var version = "2.0.0"
    public var lan: Place
    public var wan: Place
    public var port: Int
    /// `http` or `https`.
    public var `protocol`: String
    public var sslEnabled: Bool
    /// A household key, for the administrator only.
    @NullWritten public var apiKey: String?
    public var supportedGenres = ["tiktok", "instagram", "youtube", "pdf", "ebook"]
    public var setupTimestamp: String
    /// The SHA-256 of the root certificate; `nil` without TLS, and with a certificate of another authority.
    @NullWritten public var fingerprint: String?

    public init(
        serverName: String, lan: Place, wan: Place, port: Int, `protocol`: String, sslEnabled: Bool, apiKey: String?,
        setupTimestamp: String, fingerprint: String?
    ) {
        (self.serverName, self.lan, self.wan, self.port) = (serverName, lan, wan, port)
        (self.protocol, self.sslEnabled, self.apiKey) = (`protocol`, sslEnabled, apiKey)
        (self.setupTimestamp, self.fingerprint) = (setupTimestamp, fingerprint)
    }

    private enum CodingKeys: String, CodingKey {
        case version, lan, wan, port, `protocol`, fingerprint
        case serverName = "server_name"
        case sslEnabled = "ssl_enabled"
        case apiKey = "api_key"
        case supportedGenres = "supported_genres"
        case setupTimestamp = "setup_timestamp"
    }

}

/// The content of the QR code that connects a phone, as published. What is unset is left out.
public struct QRPayload: Sendable, Hashable, Codable {
    /// The SHA-256 of the root certificate.
    public var fp: String?
    public var key: String?
    /// `ip:port`.
    public var lan: String
    public var `protocol`: String
    public var v = "2.0"
    public var wan: String?

    public init(fp: String?, key: String?, lan: String, `protocol`: String, wan: String?) {
        (self.fp, self.key, self.lan, self.protocol, self.wan) = (fp, key, lan, `protocol`, wan)
    }

    /// - Returns: `nil` while only this computer can connect.
    public init?(_ connection: ConnectionInfo, key: String) {
        guard let lan = connection.lan.ip else { return nil }
        let wan = connection.wan.url.map { String($0.dropFirst("\(connection.protocol)://".count)) }
        self.init(
            fp: connection.fingerprint, key: key, lan: "\(lan):\(connection.port)", protocol: connection.protocol,
            wan: wan)
    }

    /// As compact JSON, its keys in order.
    public var text: String { DownloadOptions.json(of: self) }

    /// The link of a second code, for a phone's camera. The fragment is never sent to a server.
    public var link: String {
        let encoded = Data(text.utf8).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        return "\(`protocol`)://\(lan)/#connect=\(encoded)"
    }
}

/// A user of the server.
public struct UserDescription: Sendable, Hashable, Codable {
    public var username: String
    public var createdAt: String
    public var downloads: Int

    public init(username: String, createdAt: String, downloads: Int) {
        (self.username, self.createdAt, self.downloads) = (username, createdAt, downloads)
    }

    private enum CodingKeys: String, CodingKey {
        case username, downloads
        case createdAt = "created_at"
    }
}

/// A key of a device: what is kept of it.
public struct KeyDescription: Sendable, Hashable, Codable {
    public var id: Int64
    public var name: String
    /// The user whose downloads it adds and sees; `nil` for all.
    @NullWritten public var username: String?
    public var isAdministrator: Bool
    public var createdAt: String
    /// To the minute; `nil` if it was never used.
    @NullWritten public var lastUsedAt: String?
    @NullWritten public var revokedAt: String?

    public init(
        id: Int64, name: String, username: String?, isAdministrator: Bool, createdAt: String, lastUsedAt: String?,
        revokedAt: String?
    ) {
        (self.id, self.name, self.username, self.isAdministrator) = (id, name, username, isAdministrator)
        (self.createdAt, self.lastUsedAt, self.revokedAt) = (createdAt, lastUsedAt, revokedAt)
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, username
        case isAdministrator = "admin"
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
        case revokedAt = "revoked_at"
    }

}

/// The answer of `POST /config/setup`: what connects a phone. Nothing shows the key again.
public struct SetupAnswer: Sendable, Hashable, Codable {
    public var key: KeyDescription
    /// The key itself.
    public var secret: String
    /// The content of the published QR code.
    public var payload: String
    /// The link of the code for a phone's camera.
    public var link: String
    /// The codes of both, as SVG; `nil` on the terminal.
    public var payloadSVG: String?
    public var linkSVG: String?

    public init(
        _ key: KeyDescription, secret: String, _ payload: QRPayload, payloadSVG: String? = nil, linkSVG: String? = nil
    ) {
        (self.key, self.secret, self.payload, link) = (key, secret, payload.text, payload.link)
        (self.payloadSVG, self.linkSVG) = (payloadSVG, linkSVG)
    }

    private enum CodingKeys: String, CodingKey {
        case key, secret, payload, link
        case payloadSVG = "payload_svg"
        case linkSVG = "link_svg"
    }
}

/// A URL that plays one file without a key.
public struct FileTicket: Sendable, Hashable, Codable {
    public var url: String
    public var expiresAt: String

    public init(url: String, expiresAt: String) { (self.url, self.expiresAt) = (url, expiresAt) }

    private enum CodingKeys: String, CodingKey {
        case url
        case expiresAt = "expires_at"
    }
}

/// The answer of `GET /health` to those who have no key: what the published contract has.
public struct PublishedHealth: Sendable, Hashable, Codable {
    public var status = "healthy"
    public var timestamp: String
    public var version = "2.0.0"
    public var database: CaptureHealth.Database

    public init(timestamp: String, database: CaptureHealth.Database) {
        (self.timestamp, self.database) = (timestamp, database)
    }
}
