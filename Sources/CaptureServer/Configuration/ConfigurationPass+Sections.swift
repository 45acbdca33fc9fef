import CaptureAPI
import EgressGuard

extension ConfigurationPass {
    mutating func readServer(_ root: ConfigurationSection, _ addresses: Set<String>) {
        let server = section("server", root, ["host", "port", "ssl", "name", "names", "wan"])
        set(\.server.name, "name", server, .text("the name that clients show"))
        set(\.server.port, "port", server, .integer(1...65_535))
        set(\.server.host, "host", server, Self.host(addresses))
        set(\.server.wan, "wan", server, Self.hostAndPort.then { $0.text }.orNothing)
        if let names = list("names", server, #"["server.local"]"#, Self.hostName) { configuration.server.names = names }
        readSSL(server)
    }

    private mutating func readSSL(_ server: ConfigurationSection) {
        let keys = ["enabled", "port", "cert_file", "key_file", "use_letsencrypt", "domain", "letsencrypt_email"]
        let ssl = section("ssl", server, keys)
        set(\.server.ssl.isEnabled, "enabled", ssl, .bool)
        set(\.server.ssl.port, "port", ssl, .integer(1...65_535))
        let isEnabled = configuration.server.ssl.isEnabled
        // Files of a configuration that isn't in use needn't exist: the published example has none.
        let (paths, text) = (paths, ConfigurationRule<String>.text("the path of a PEM file"))
        func file(_ title: String) -> ConfigurationRule<String?> {
            text.then { path throws(ConfigurationRefusal) in
                let path = paths.absolute(path)
                if isEnabled, let problem = paths.problem(ofPEM: path, title) {
                    throw ConfigurationRefusal(message: problem)
                }
                return path
            }.orNothing
        }
        set(\.server.ssl.certificateFile, "cert_file", ssl, file("CERTIFICATE"))
        set(\.server.ssl.keyFile, "key_file", ssl, file("PRIVATE KEY"))
        for (one, other) in [("cert_file", "key_file"), ("key_file", "cert_file")] {
            guard let entry = ssl.entry(one), !entry.node.isNull, ssl.entry(other)?.node.isNull ?? true else {
                continue
            }
            refuse(entry.place, "\(ssl.path).\(one)", "needs \(other) too; add it, or delete this line")
        }
        // Values of the published configuration that are only for Let's Encrypt.
        _ = value("domain", ssl, ConfigurationRule<String>.text("a host name").orNothing)
        _ = value("letsencrypt_email", ssl, ConfigurationRule<String>.text("an e-mail address").orNothing)
        if value("use_letsencrypt", ssl, .bool) == true, let entry = ssl.entry("use_letsencrypt") {
            refuse(
                entry.node.place, "\(ssl.path).use_letsencrypt",
                "this server requests no certificates; use certbot, set cert_file and key_file to its files, and write "
                    + "false here (docs/certificates.md)")
        }
    }

    private static func host(_ addresses: Set<String>) -> ConfigurationRule<String> {
        let what = "127.0.0.1 for this computer only, 0.0.0.0 for the network, or an IP address of this computer"
        return .text(what).then { text throws(ConfigurationRefusal) in
            if text == "localhost" { return text }
            guard let address = IPAddress(text) else {
                throw ConfigurationRefusal(
                    message: "“\(ConfigurationNode.short(text))” isn't an IP address; write \(what)")
            }
            let known = ["127.0.0.1", "::1", "0.0.0.0", "::"] + addresses
            guard address.bytes.starts(with: [127]) && address.bytes.count == 4 || known.contains(address.description)
            else {
                let own = addresses.filter { !$0.hasPrefix("127.") && $0 != "::1" }.sorted().joined(separator: ", ")
                throw ConfigurationRefusal(
                    message: "\(text) isn't an IP address of this computer; write 0.0.0.0"
                        + (own.isEmpty ? "" : ", or one of these: \(own)"))
            }
            return address.description
        }
    }

    private static let hostName = ConfigurationRule<String>.text("a host name").then {
        text throws(ConfigurationRefusal) in
        let name = text.lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isValid = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
        }
        // RFC 1123 §2.1
        guard isValid, name.utf8.count <= 253, labels.last?.allSatisfy(\.isNumber) == false else {
            throw ConfigurationRefusal(
                message: "“\(ConfigurationNode.short(text))” isn't a host name; write one such as server.local, "
                    + "without a scheme or a port")
        }
        return name
    }

    private struct HostAndPort: Hashable, Sendable {
        let text: String
        let exception: EgressRules.Exception
    }

    private static let hostAndPort = ConfigurationRule<String>.text("HOST:PORT").then {
        text throws(ConfigurationRefusal) in
        guard let exception = EgressRules.Exception(text) else {
            throw ConfigurationRefusal(
                message: "“\(ConfigurationNode.short(text))” isn't HOST:PORT; write a host and a port such as "
                    + "intranet.example:8080")
        }
        return HostAndPort(text: text, exception: exception)
    }

    mutating func readDownloads(_ root: ConfigurationSection) {
        let keys = ["root_directory", "max_concurrent", "max_retries", "allowed_platforms", "keep_media_file"]
        let downloads = section("downloads", root, keys)
        let paths = paths
        let folder = ConfigurationRule<String>.text("the path of a folder").then { text throws(ConfigurationRefusal) in
            let path = paths.absolute(text)
            if let problem = paths.problem(ofFolder: path) { throw ConfigurationRefusal(message: problem) }
            return path
        }
        set(\.downloads.rootDirectory, "root_directory", downloads, folder.orNothing)
        set(\.downloads.concurrentMax, "max_concurrent", downloads, .integer(1...16))
        set(\.downloads.retriesMax, "max_retries", downloads, .integer(0...20))
        set(\.downloads.keepsMediaFile, "keep_media_file", downloads, .bool)
        let genres = Genre.allCases.filter { $0 != .unknown }.map(\.rawValue)
        let platforms = list("allowed_platforms", downloads, "[tiktok, instagram]", .word(genres, ignoringCase: true))
        if let platforms { configuration.downloads.allowedPlatforms = platforms.compactMap { Genre(rawValue: $0) } }
    }

    mutating func readAttempt(_ root: ConfigurationSection) {
        let attempt = section(
            "attempt", root, ["bytes_per_second", "file_minutes", "media_minutes", "space_percent", "memory_percent"])
        let minutes = ConfigurationRule<Int>.integer(1...10_000).then { Duration.seconds(60 * $0) }
        set(\.attempt.bytesPerSecond, "bytes_per_second", attempt, .integer(0...1_000_000_000))
        set(\.attempt.fileTime, "file_minutes", attempt, minutes)
        set(\.attempt.mediaTime, "media_minutes", attempt, minutes)
        set(\.attempt.spacePercent, "space_percent", attempt, .integer(1...100))
        set(\.attempt.memoryPercent, "memory_percent", attempt, .integer(1...100))
    }

    mutating func readSecurity(_ root: ConfigurationSection) {
        let security = section("security", root, ["api_keys", "rate_limit_per_client", "require_key"])
        set(\.security.downloadsPerHour, "rate_limit_per_client", security, .integer(1...1_000_000, "per hour"))
        set(
            \.security.keyRule, "require_key", security,
            ConfigurationRule<String>.word(["true", "false", "always"]).then { .init(rawValue: $0) ?? .network })
        if let keys = list("api_keys", security, #"["KEY"], with keys of 16 characters or more"#, Self.apiKey) {
            configuration.security.apiKeys = keys
        }
        guard configuration.security.keyRule == .never, !configuration.server.isLoopback,
            let entry = security.entry("require_key")
        else { return }
        warnings.append(
            ConfigurationFault(
                line: entry.node.place.line, column: entry.node.place.column, key: "security.require_key",
                message: "everybody in your network can save URLs without a key; only private IP addresses are admitted"
            ))
    }

    /// Messages never contain the key.
    private static let apiKey = ConfigurationRule { node throws(ConfigurationRefusal) in
        guard let key = node.text else {
            throw ConfigurationRefusal(message: "this isn't text; write the key in quotes")
        }
        guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ConfigurationRefusal(
                message: "a key has only ASCII letters, digits and signs, and no spaces; write another one")
        }
        guard (16...256).contains(key.utf8.count) else {
            throw ConfigurationRefusal(
                message:
                    "the key has \(key.utf8.count) characters; write one of 16 to 256, from `openssl rand -hex 32` "
                    + "for example")
        }
        return key
    }

    mutating func readEgress(_ root: ConfigurationSection) {
        let egress = section("egress", root, ["ports", "allow"])
        if let ports = list("ports", egress, "[80, 443]", .integer(1...65_535)) {
            configuration.egress.ports = Set(ports)
            if ports.isEmpty, let node = egress.entry("ports")?.node, node.isNull || node.isEmptyList {
                refuse(node.place, "egress.ports", "the list is empty, so that nothing can be saved; write [80, 443]")
            }
        }
        if let allowed = list("allow", egress, #"["intranet.example:8080"]"#, Self.hostAndPort) {
            configuration.egress.allowed = Set(allowed.map(\.exception))
        }
    }
}
