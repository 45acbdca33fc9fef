import Foundation

/// The answer of `GET /config/connection`: how clients reach the server.
package struct ConnectionInfo: Sendable, Hashable, Codable {
    package struct Place: Sendable, Hashable, Codable {
        @NullWritten package var ip: String?
        @NullWritten package var url: String?
        package var available: Bool

        package init(ip: String?, url: String?, available: Bool) {
            (self.ip, self.url, self.available) = (ip, url, available)
        }

    }

    package var serverName: String
    /// The version of the contract.
    package var version = "2.0.0"
    package var lan: Place
    package var wan: Place
    package var port: Int
    /// `http` or `https`.
    package var `protocol`: String
    package var sslEnabled: Bool
    /// A household key, for the administrator only.
    @NullWritten package var apiKey: String?
    package var supportedGenres = ["tiktok", "instagram", "youtube", "pdf", "ebook"]
    package var setupTimestamp: String
    /// The SHA-256 of the root certificate; `nil` without TLS, and with a certificate of another authority.
    @NullWritten package var fingerprint: String?

    package init(
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
package struct QRPayload: Sendable, Hashable, Codable {
    /// The SHA-256 of the root certificate.
    package var fp: String?
    package var key: String?
    /// `ip:port`.
    package var lan: String
    package var `protocol`: String
    package var v = "2.0"
    package var wan: String?

    package init(fp: String?, key: String?, lan: String, `protocol`: String, wan: String?) {
        (self.fp, self.key, self.lan, self.protocol, self.wan) = (fp, key, lan, `protocol`, wan)
    }

    /// - Returns: `nil` while only this computer can connect.
    package init?(_ connection: ConnectionInfo, key: String) {
        guard let lan = connection.lan.ip else { return nil }
        let wan = connection.wan.url.map { String($0.dropFirst("\(connection.protocol)://".count)) }
        self.init(
            fp: connection.fingerprint, key: key, lan: "\(lan):\(connection.port)", protocol: connection.protocol,
            wan: wan)
    }

    /// As compact JSON, its keys in order.
    package var text: String { DownloadOptions.json(of: self) }

    /// The link of a second code, for a phone's camera. The fragment is never sent to a server.
    package var link: String {
        let encoded = Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        return "\(`protocol`)://\(lan)/#connect=\(encoded.replacing("=", with: ""))"
    }
}

/// A user of the server.
package struct UserDescription: Sendable, Hashable, Codable {
    package var username: String
    package var createdAt: String
    package var downloads: Int

    package init(username: String, createdAt: String, downloads: Int) {
        (self.username, self.createdAt, self.downloads) = (username, createdAt, downloads)
    }

    private enum CodingKeys: String, CodingKey {
        case username, downloads
        case createdAt = "created_at"
    }
}

/// A key of a device: what is kept of it.
package struct KeyDescription: Sendable, Hashable, Codable {
    package var id: Int64
    package var name: String
    /// The user whose downloads it adds and sees; `nil` for all.
    @NullWritten package var username: String?
    package var isAdministrator: Bool
    package var createdAt: String
    /// To the minute; `nil` if it was never used.
    @NullWritten package var lastUsedAt: String?
    @NullWritten package var revokedAt: String?

    package init(
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
package struct SetupAnswer: Sendable, Hashable, Codable {
    package var key: KeyDescription
    /// The key itself.
    package var secret: String
    /// The content of the published QR code.
    package var payload: String
    /// The link of the code for a phone's camera.
    package var link: String
    /// The codes of both, as SVG; `nil` on the terminal.
    package var payloadSVG: String?
    package var linkSVG: String?

    package init(
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
package struct FileTicket: Sendable, Hashable, Codable {
    package var url: String
    package var expiresAt: String

    package init(url: String, expiresAt: String) { (self.url, self.expiresAt) = (url, expiresAt) }

    private enum CodingKeys: String, CodingKey {
        case url
        case expiresAt = "expires_at"
    }
}

/// The answer of `GET /health` to those who have no key: what the published contract has.
package struct PublishedHealth: Sendable, Hashable, Codable {
    package var status = "healthy"
    package var timestamp: String
    package var version = "2.0.0"
    package var database: CaptureHealth.Database

    package init(timestamp: String, database: CaptureHealth.Database) {
        (self.timestamp, self.database) = (timestamp, database)
    }
}
