import ArchiveStore
import CaptureAPI
import CaptureWorker
import EgressGuard
import Foundation
import Logging
import TestSupport
import Testing

@testable import CaptureServer

/// config.yaml. The expected values are those of YAML 1.1 and 1.2, and of the published configuration.
struct ConfigurationTests {
    private static let addresses: Set<String> = ["127.0.0.1", "::1", "192.0.2.7"]

    private static func read(_ text: String, home: String = "/nonexistent") -> ConfigurationReading {
        read(Array(text.utf8), home: home)
    }

    private static func read(_ bytes: [UInt8], home: String = "/nonexistent") -> ConfigurationReading {
        ConfigurationReader(folder: "/nonexistent", home: home, addresses: addresses).read(bytes)
    }

    struct Invalid: Sendable {
        let text: String
        /// `LINE:COLUMN: KEY: MESSAGE` of each fault; the message may be only its beginning.
        let faults: [String]

        init(_ text: String, _ faults: String...) { (self.text, self.faults) = (text, faults) }
    }

    @Test(arguments: [
        Invalid("server:\n  prot: 1", "2:3: server.prot: unknown key; did you mean “port”?"),
        Invalid("servers:\n", "1:1: servers: unknown key; did you mean “server”?"),
        Invalid("<<: {}\n", "1:1: <<: unknown key; the keys here are: server, downloads"),
        Invalid("server:\n  port: 70000", "2:9: server.port: 70000 is out of range; write a number from 1 to 65535"),
        Invalid("server:\n  port: \"80\"", "2:9: server.port: the text \"80\" isn't valid here; write a number from 1"),
        Invalid("server:\n  port: 0x50", "2:9: server.port: the number 0x50 isn't valid here; write a number"),
        Invalid("server:\n  port: 010", "2:9: server.port: the number 010 isn't valid here; write a number"),
        Invalid("server:\n  port: 8_080", "2:9: server.port: the number 8_080 isn't valid here; write a number"),
        Invalid("server:\n  port:\n", "2:8: server.port: nothing isn't valid here; write a number"),
        Invalid("server:\n  port: [1]", "2:9: server.port: a list isn't valid here; write a number"),
        Invalid("server: 5", "1:9: server: the number 5 isn't valid here; write keys below it: host, port"),
        Invalid("- server", "1:1: a list isn't valid here; write keys below it: server"),
        Invalid("server:\n  port: 1\n  port: 2\n", "3:3: server.port: set twice, first in line 2; keep one"),
        Invalid(
            "server: {port: 1, port: 2}\nserver:\n  x: 1\n", "1:19: server.port: set twice, first in line 1",
            "2:1: server: set twice, first in line 1"),
        Invalid("server:\n\tport: 1\n", "2:1: YAML doesn't allow tabs for indentation; use spaces"),
        Invalid("server:\n  name: \"\"", "2:9: server.name: the text is empty; write the name that clients show"),
        Invalid("server:\n  name: 2024", "2:9: server.name: the number 2024 isn't valid here; write the name that "),
        Invalid("server:\n  name: \"a\\nb\"", "2:9: server.name: the text has a line break or a control character"),
        Invalid("server:\n  name: \"a", "2:9: a quote isn't closed"),
        Invalid("server:\n  name: a: b", "2:10: “:” isn't expected here; put text that contains “: ” in quotes"),
        Invalid("server:\n  host: 192.0.2.8", "2:9: server.host: 192.0.2.8 isn't an IP address of this computer; "),
        Invalid("server:\n  host: example.org", "2:9: server.host: “example.org” isn't an IP address; write 127.0.0.1"),
        Invalid("server:\n  names: [https://x]", "2:11: server.names[0]: “https://x” isn't a host name; write one"),
        Invalid("server:\n  names: server.local", "2:10: server.names: the text “server.local” isn't a list; write"),
        Invalid("server:\n  wan: 203.0.113.1", "2:8: server.wan: “203.0.113.1” isn't HOST:PORT; write a host and"),
        Invalid("server:\n  ssl:\n    cert_file: a.pem", "3:5: server.ssl.cert_file: needs key_file too; add it"),
        Invalid(
            "server:\n  ssl:\n    enabled: true\n    cert_file: a.pem\n    key_file: /b.pem\n",
            "4:16: server.ssl.cert_file: /nonexistent/a.pem doesn't exist; write the path of a PEM file",
            "5:15: server.ssl.key_file: /b.pem doesn't exist; write the path of a PEM file"),
        Invalid(
            "server:\n  ssl:\n    use_letsencrypt: true",
            "3:22: server.ssl.use_letsencrypt: this server requests no certificates; use certbot, set cert_file"),
        Invalid(
            "downloads:\n  root_directory: /nonexistent/x",
            "2:19: downloads.root_directory: /nonexistent/x doesn't exist; create it first"),
        Invalid("downloads:\n  root_directory: /dev/null", "2:19: downloads.root_directory: /dev/null isn't a folder"),
        Invalid("downloads:\n  max_concurrent: 0", "2:19: downloads.max_concurrent: 0 is out of range; write a number"),
        Invalid("downloads:\n  max_retries: -1", "2:16: downloads.max_retries: -1 is out of range"),
        Invalid("downloads:\n  max_retries: 1.5", "2:16: downloads.max_retries: the number 1.5 isn't valid here"),
        Invalid(
            "downloads:\n  allowed_platforms: [tiktok, vimeo, tiktok]",
            "2:31: downloads.allowed_platforms[1]: the text “vimeo” isn't valid here; write tiktok, instagram",
            "2:38: downloads.allowed_platforms[2]: this is in the list twice"),
        Invalid("downloads:\n  keep_media_file: 1", "2:20: downloads.keep_media_file: the number 1 isn't valid here"),
        Invalid("downloads:\n  keep_media_file: \"true\"", "2:20: downloads.keep_media_file: the text \"true\" isn't"),
        Invalid(
            "security:\n  api_keys: [\"short\"]", "2:14: security.api_keys[0]: the key has 5 characters; write one"),
        Invalid("security:\n  api_keys: secretsecretsecret", "2:13: security.api_keys: this isn't a list; write"),
        Invalid("security:\n  require_key: sometimes", "2:16: security.require_key: the text “sometimes” isn't valid"),
        Invalid("logging:\n  level: loud", "2:10: logging.level: the text “loud” isn't valid here; write TRACE, DEBUG"),
        Invalid("egress:\n  ports: []", "2:10: egress.ports: the list is empty, so that nothing can be saved"),
        Invalid("egress:\n  allow: [intranet]", "2:11: egress.allow[0]: “intranet” isn't HOST:PORT; write a host"),
        Invalid("isolation: off", "1:12: isolation: off isn't valid here; write auto or required"),
        Invalid("server: &a {}\ndownloads: *a", "1:9: server: anchors (&) and aliases (*)", "2:1: downloads: anchors"),
        Invalid("server:\n  name: @ana", "2:9: put text that begins with this character in quotes"),
        Invalid("server: *a", "1:9: anchors (&) and aliases (*) aren't supported; write the value itself"),
        Invalid("server:\n  port: !!int 80", "2:9: server.port: the tag “tag:yaml.org,2002:int” isn't supported"),
        Invalid("? [a]\n: 1", "1:3: a key must be a word"),
        Invalid("server: {}\n---\ndownloads: {}", "3:1: a second document begins here; keep one"),
        Invalid("server:\n  name: \"a\u{1}b\"", "2:11: YAML doesn't allow this control character; delete it"),
        Invalid(
            "server:\n  port: x\nlogging:\n  level: 5\npage:\n  seconds: 0",
            "2:9: server.port: the text “x”", "4:10: logging.level: the number 5", "6:12: page.seconds: 0 is out of"),
    ])
    func faultsNameTheirLineAndWhatToWrite(_ invalid: Invalid) {
        let reading = Self.read(invalid.text)
        let found = reading.faults.map { String($0.text(file: "").dropFirst()) }
        #expect(reading.configuration == nil, "\(invalid.text)")
        #expect(found.count == invalid.faults.count, "\(found)")
        for (one, expected) in zip(found, invalid.faults) { #expect(one.hasPrefix(expected), "\(one)") }
    }

    struct Valid: Sendable {
        let text: String
        let change: @Sendable (inout CaptureConfiguration) -> Void

        init(_ text: String, _ change: @escaping @Sendable (inout CaptureConfiguration) -> Void = { _ in }) {
            (self.text, self.change) = (text, change)
        }
    }

    private static let published = """
        server:    {host: "0.0.0.0", port: 58443, ssl: {enabled: false, cert_file: "certs/server.crt", \
        key_file: "certs/server.key", use_letsencrypt: false, domain: "example.org", letsencrypt_email: "a@example.org"}}
        downloads: {root_directory: "~/Downloads/VidSaver", max_concurrent: 1, max_retries: 3}
        security:  {api_keys: [], rate_limit_per_client: 100}        # per hour
        logging:   {level: "INFO"}
        """

    @Test(arguments: [
        Valid(""), Valid("# only a comment\n"), Valid("---\n"), Valid("{}"), Valid("server:\ndownloads: ~\n"),
        Valid("\u{FEFF}server:\r\n  port: 80\r\n") { $0.server.port = 80 },
        Valid("server: {name: \"Ana & Bob\"}") { $0.server.name = "Ana & Bob" },
        Valid("server:\n  name: Ana & Bob * two # comment") { $0.server.name = "Ana & Bob * two" },
        Valid("server:\n  name: '2024'") { $0.server.name = "2024" },
        Valid("server:\n  name: !!str 2024") { $0.server.name = "2024" },
        Valid("server:\n  name: \"\\u3042\"") { $0.server.name = "あ" },
        Valid("server:\n  host: 192.0.2.7") { $0.server.host = "192.0.2.7" },
        Valid("server:\n  host: ::1") { $0.server.host = "::1" },
        Valid("server:\n  host: \"0:0:0:0:0:0:0:0\"") { $0.server.host = "::" },
        Valid("server:\n  port: 8443\n  ssl: {port: 8443}") { $0.server.port = 8443 },
        Valid("server:\n  names: [Server.Local, nas]") { $0.server.names = ["server.local", "nas"] },
        Valid("server:\n  wan: \"[2001:db8::1]:80\"") { $0.server.wan = "[2001:db8::1]:80" },
        Valid("server:\n  wan: null"), Valid("server:\n  ssl: {enabled: yes}") { $0.server.ssl.isEnabled = true },
        Valid("server:\n  ssl: {enabled: On}") { $0.server.ssl.isEnabled = true },
        Valid("downloads:\n  root_directory: /tmp") { $0.downloads.rootDirectory = "/tmp" },
        Valid("downloads:\n  keep_media_file: FALSE") { $0.downloads.keepsMediaFile = false },
        Valid("downloads:\n  allowed_platforms:\n  - tiktok\n  - instagram") {
            $0.downloads.allowedPlatforms = [.tiktok, .instagram]
        },
        Valid("downloads: {max_concurrent: 4, max_retries: 0}") {
            ($0.downloads.concurrentMax, $0.downloads.retriesMax) = (4, 0)
        },
        Valid("security: {require_key: always}") { $0.security.keyRule = .always },
        Valid("security: {require_key: false}") { $0.security.keyRule = .never },
        Valid("security:\n  api_keys: [\"0123456789abcdef\"]") { $0.security.apiKeys = ["0123456789abcdef"] },
        Valid("logging: {level: warning}") { $0.logging.level = .warning },
        Valid("egress:\n  ports: [8080]\n  allow: [\"nas:5000\"]") {
            $0.egress.ports = [8080]
            $0.egress.allowed = [EgressRules.Exception(host: "nas", port: 5000)]
        },
        Valid("page: {seconds: 30, bytes: 2000000, exchanges: 10}") {
            ($0.page.seconds, $0.page.bytes, $0.page.exchanges) = (30, 2_000_000, 10)
        },
        Valid(
            "attempt: {bytes_per_second: 0, file_minutes: 5, media_minutes: 60, space_percent: 10, memory_percent: 5}"
        ) {
            ($0.attempt.bytesPerSecond, $0.attempt.spacePercent, $0.attempt.memoryPercent) = (0, 10, 5)
            ($0.attempt.fileTime, $0.attempt.mediaTime) = (.seconds(300), .seconds(3600))
        },
        Valid("isolation: required") { $0.isolation = .required },
        Valid(published) {
            $0.server.host = "0.0.0.0"
            ($0.server.ssl.certificateFile, $0.server.ssl.keyFile) = (
                "/nonexistent/certs/server.crt", "/nonexistent/certs/server.key"
            )
            $0.downloads.rootDirectory = "/nonexistent/Downloads/VidSaver"
        },
    ])
    func validFilesHaveTheirValues(_ valid: Valid) {
        var expected = CaptureConfiguration()
        valid.change(&expected)
        let reading = Self.read(valid.text)
        #expect(reading.faults == [])
        #expect(reading.configuration == expected)
    }

    @Test func defaultsAreThePublishedOnes() {
        let defaults = CaptureConfiguration()
        #expect(defaults.server.port == 58_443 && defaults.server.name == "Video Download Server")
        #expect(defaults.downloads.concurrentMax == 1 && defaults.downloads.retriesMax == 3)
        #expect(defaults.downloads.retryDelays == QueueRules().retryDelays)
        #expect(defaults.security.downloadsPerHour == 100 && defaults.logging.level == .info)
        #expect(defaults.server.isLoopback, "opening the server to the network is a decision")
    }

    @Test func keysOfTheServerAreNeverShown() throws {
        let secret = "0123456789abcdef-secret"
        let invalid = Self.read("security: {api_keys: [\"\(secret)\", \"\(secret)\", \"\(secret) x\", {\(secret): 1}]}")
        #expect(invalid.faults.count == 3)
        #expect(invalid.faults.allSatisfy { !$0.text(file: "").contains("secret") })
        let valid = try #require(Self.read("security: {api_keys: [\"\(secret)\"]}").configuration)
        #expect(!valid.yaml.contains(secret))
        #expect(valid.changedEntries.map(\.key) == ["security.api_keys"])
    }

    @Test func openServerWithoutKeysIsWarnedAbout() {
        let text = "server: {host: 0.0.0.0}\nsecurity:\n  require_key: false\n"
        #expect(
            Self.read(text).warnings.map { $0.text(file: "f") }.first?.hasPrefix("f:3:16: security.require_key") == true
        )
        #expect(Self.read("security: {require_key: false}").warnings.isEmpty)
    }

    /// What `config show` prints is a configuration with the same values.
    @Test func shownValuesAreReadAgain() throws {
        let text = """
            server: {name: "a\\"b: # é", host: 0.0.0.0, names: [a.b], wan: "x:1", ssl: {enabled: true, port: 58443}}
            downloads: {root_directory: /tmp, allowed_platforms: [pdf], keep_media_file: no}
            egress: {ports: [80, 81], allow: ["[::1]:80", "b:1"]}
            logging: {level: debug}
            """
        let first = try #require(Self.read(text).configuration)
        #expect(Self.read(first.yaml).configuration == first)
        #expect(CaptureConfiguration().changedEntries.isEmpty)
        let defaults = Self.read(CaptureConfiguration().yaml).configuration
        #expect(defaults?.changedEntries.map(\.key) == ["downloads.root_directory"])
    }

    /// "A billion laughs", in values and in keys, and deep nesting, take no time. They are read in another thread, whose
    /// stack is small.
    @Test(.timeLimit(.minutes(5)))
    func hostileFilesAreRefused() async throws {
        var bomb = "a: &a0 [x]\n"
        for level in 1..<200 {
            bomb += "a\(level): &a\(level) [\(Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ","))]\n"
        }
        var keys = "? &a0 [x]\n: 1\n"
        for level in 1...30 { keys += "? &a\(level) [*a\(level - 1), *a\(level - 1)]\n: 1\n" }
        // The quotes make the second line no comment.
        let hidden =
            "{a: \"\n# \", " + (0..<40).map { "b\($0): &b\($0) [*b\(max(0, $0 - 1))]" }.joined(separator: ", ") + "}"
        let texts = [
            bomb, keys, hidden, String(repeating: "[", count: 60_000), String(repeating: "- ", count: 30_000),
            String(repeating: "{a: ", count: 15_000), String(repeating: "? ", count: 30_000),
            String(repeating: "a", count: 60_000) + ": 1", String(repeating: "x: 1\n", count: 12_000),
            String(repeating: "[", count: 900) + String(repeating: "]", count: 900),
            String(repeating: "\"", count: 60_000), String(repeating: " ", count: 70_000),
        ]
        for text in texts {
            let reading = await Task { Self.read(text) }.value
            #expect(!reading.faults.isEmpty, "\(text.prefix(30))")
        }
        #expect(
            Self.read([0x73, 0x3A, 0x20, 0x31, 0x0A, 0xFF]).faults.map { "\($0.line): \($0.message)" }
                == ["2: this line isn't valid UTF-8; save the file as UTF-8"])
        #expect(
            Self.read(String(repeating: " ", count: 70_000)).faults[0].message.hasPrefix("the file is too large: 70000")
        )
        let comment = "# " + String(repeating: "*", count: 100) + "\nserver: {port: 80}\n"
        #expect(Self.read(comment).configuration?.server.port == 80)
    }

    /// The same random inputs each time.
    @Test func damagedFilesAreHandled() {
        var random = SplitMix(state: 41)
        let valid = Array((Self.published + "\negress:\n  allow: [\"a:1\"]\n  ports:\n  - 80\n").utf8)
        for round in 0..<3000 {
            var bytes = valid
            for _ in 0...Int(random.next() % 4) {
                let place = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 4 {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes[place] = Array("&*!|>'\"{}[],:?-#%@`\t\n ~".utf8)[Int(random.next() % 23)]
                case 2: bytes.remove(at: place)
                default: bytes.insert(contentsOf: bytes[place...].prefix(Int(random.next() % 30)), at: place)
                }
            }
            if round % 10 == 0 {
                bytes = (0..<Int(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            }
            let reading = Self.read(bytes)
            #expect((reading.configuration == nil) == !reading.faults.isEmpty)
            #expect(reading.faults.allSatisfy { $0.line >= 1 && $0.column >= 1 && !$0.message.isEmpty })
        }
    }

    private struct SplitMix {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    @Test func fileIsReplacedOnlyByValidText() throws {
        let folder = try TemporaryFolder()
        let file = ConfigurationFile(path: folder.path("capture/config.yaml"), home: "/nonexistent", addresses: [])
        #expect(file.read().configuration == CaptureConfiguration() && file.stamp == nil)
        #expect(throws: StoreError.self) { try file.restorePrevious() }
        let first = Array("server: {port: 80}\n".utf8)
        #expect(try file.write(first, replacing: nil).server.port == 80)
        // The first change can be undone, too.
        #expect(try file.restorePrevious() == CaptureConfiguration())
        #expect(try file.restorePrevious().server.port == 80)
        let stamp = file.stamp
        #expect(file.changed(since: nil) && !file.changed(since: stamp))
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        #expect(throws: ConfigurationFile.Invalid.self) {
            try file.write(Array("server: {port: x}\n".utf8), replacing: stamp)
        }
        #expect(try contents(of: file.path) == first && !file.changed(since: stamp))

        try file.write(Array("server: {port: 81}\n".utf8), replacing: stamp)
        #expect(file.changed(since: stamp))
        #expect(throws: StoreError.self) { try file.write(first, replacing: stamp) }
        #expect(file.read().configuration?.server.port == 81)
        #expect(try file.restorePrevious().server.port == 80)
        #expect(try file.restorePrevious().server.port == 81)
        #expect(names(in: folder.path("capture")) == ["config.yaml", "config.yaml.previous"])
    }

    @Test func unreadableFileIsAFault() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("config.yaml"), withIntermediateDirectories: true)
        let reading = ConfigurationFile(path: folder.path("config.yaml"), home: "/", addresses: []).read()
        #expect(reading.configuration == nil && reading.faults.count == 1)
    }

    @Test func certificateFilesAreLookedInto() throws {
        let folder = try TemporaryFolder()
        let key = try folder.write(
            "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n", to: "key.pem")
        let certificate = try folder.write("-----BEGIN CERTIFICATE-----\nAA==\n", to: "cert.pem")
        func reading(_ one: String, _ other: String) -> ConfigurationReading {
            Self.read("server: {ssl: {enabled: true, cert_file: \"\(one)\", key_file: \"\(other)\"}}")
        }
        #expect(reading(certificate, key).configuration?.server.ssl.keyFile == key)
        #expect(reading(key, certificate).faults.map(\.key) == ["server.ssl.cert_file", "server.ssl.key_file"])
    }

    /// As an editor on Windows ends them.
    @Test(arguments: ["\n", "\r\n"]) func linesEndWithOrWithoutReturn(end: String) throws {
        let text = ["# mine", "server:", "  port: 81", "downloads:", "  max_retries: 4", ""].joined(separator: end)
        let opened = try #require(OpenedConfiguration.text(from: text))
        let configuration = try #require(Self.read(opened).configuration)
        #expect(configuration.server.host == "0.0.0.0" && configuration.server.port == 81)
        #expect(opened.hasPrefix("# mine") && Self.read(opened).faults.isEmpty)
        let folder = try TemporaryFolder()
        let hosts = ["wiki.intranet:8080 # ours", "", "other.intranet:81", "no host"].joined(separator: end)
        let file = try EgressAllowFile(path: try folder.write(hosts, to: "egress.allow"))
        #expect(file.allowed.map(\.host).sorted() == ["other.intranet", "wiki.intranet"] && file.invalidLines == [4])
    }

    @Test func fileOfAllowedHostsIsMissingOrCannotBeRead() throws {
        let folder = try TemporaryFolder()
        #expect(try EgressAllowFile(path: folder.path + "/egress.allow").allowed.isEmpty)
        let long = String(repeating: "a.example:80\n", count: 100_000)
        #expect(throws: StoreError.self) { try EgressAllowFile(path: try folder.write(long, to: "long")) }
        #expect(throws: StoreError.self) { try EgressAllowFile(path: folder.path) }
    }

    @Test func settingsOfTheServerFollow() throws {
        var settings = CaptureSettings(program: "/nonexistent", software: "test 1.0")
        settings.apply(
            try #require(
                Self.read(
                    "downloads: {max_concurrent: 3, max_retries: 4, keep_media_file: false}\n"
                        + "security: {rate_limit_per_client: 7}\negress: {ports: [81]}\npage: {seconds: 5}"
                ).configuration))
        #expect(settings.concurrentMax == 3 && !settings.keepsFiles && settings.rules.downloadsPerHour == 7)
        #expect(settings.rules.retryDelays == [.seconds(30), .seconds(120), .seconds(300), .seconds(300)])
        #expect(settings.egress.ports == [81] && settings.pageLimits.seconds == 5)
    }
}
