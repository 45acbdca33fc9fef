import ArchiveStore
import CaptureAPI
import EgressGuard
import Foundation
import ReplayServer
import TestSupport
import Testing

@testable import CaptureServer

/// Keys, limits, hosts and tickets. Who may do what is tested by Tests/CaptureTests/test_access.py, over a network.
struct AccessTests {
    private let folder: TemporaryFolder
    private let layout: StoreLayout
    private let keys: APIKeys

    init() throws {
        folder = try TemporaryFolder()
        layout = try ArchiveStore(at: folder.path("store")).layout
        keys = APIKeys(try CaptureDatabase(layout: layout))
    }

    @Test func keysAreFoundUntilTheyAreRevoked() throws {
        let (text, key) = try keys.add(" Ana's phone ", user: Username("Ana"), isAdministrator: false)
        #expect(text.count == 64 && text.allSatisfy(\.isHexDigit))
        #expect((key.name, key.username, key.isAdministrator, key.lastUsedAt) == ("Ana's phone", "ana", false, nil))
        #expect(try keys.find(text)?.id == key.id)
        #expect(try keys.find(text.uppercased()) == nil)
        #expect(try keys.all().first?.lastUsedAt?.hasSuffix(":00Z") == true)
        #expect(throws: APIKeys.Problem.nameTaken) { try keys.add("Ana's phone", user: nil, isAdministrator: false) }
        // Another program, while the server runs.
        #expect(try APIKeys(besideServer: layout).revoke("Ana's phone")?.revokedAt != nil)
        #expect(try keys.find(text) == nil)
        #expect(try keys.revoke("Ana's phone") == nil)
        let second = try keys.add("Ana's phone", user: nil, isAdministrator: true)
        #expect(second.text != text && second.key.isAdministrator)
        #expect(try keys.revoke("\(second.key.id)")?.id == second.key.id)
    }

    @Test func onlyTheDigestIsKept() throws {
        let (text, _) = try keys.add("phone", user: nil, isAdministrator: false)
        _ = try keys.find(text)
        for name in try FileManager.default.contentsOfDirectory(atPath: layout.capture) {
            let content = FileManager.default.contents(atPath: "\(layout.capture)/\(name)") ?? Data()
            #expect(content.range(of: Data(text.utf8)) == nil, "\(name)")
        }
    }

    @Test(arguments: ["", "  ", "a\nb", "a\u{0}", String(repeating: "x", count: 101)])
    func namesThatCannotBeShownAreRefused(name: String) throws {
        #expect(throws: APIKeys.Problem.name) { try keys.add(name, user: nil, isAdministrator: false) }
        #expect(try keys.all().isEmpty)
    }

    @Test func administratorsBelongToNoUser() throws {
        #expect(throws: APIKeys.Problem.administratorWithUser) {
            try keys.add("phone", user: Username("ana"), isAdministrator: true)
        }
    }

    @Test func twentyWrongKeysInAnHourAreEnough() throws {
        let wrong = WrongKeys()
        let start = ContinuousClock.now
        let sender = try Self.device("10.0.0.1")
        for number in 0..<20 {
            let now = start + .seconds(number * 60)
            #expect(wrong.wait(of: sender, now: now) == nil)
            wrong.add(sender, now: now)
        }
        // The first one was 20 minutes ago.
        #expect(wrong.wait(of: sender, now: start + .seconds(1200)) == 2400)
        #expect(try wrong.wait(of: Self.device("10.0.0.2"), now: start + .seconds(1200)) == nil)
        #expect(wrong.wait(of: sender, now: start + .seconds(3601)) == nil)
    }

    @Test func wrongKeysCountForTheirSenderOnly() throws {
        let wrong = WrongKeys()
        for _ in 0..<20 {
            wrong.add(.program(.otherUser(1001)))
            wrong.add(try Self.device("2001:db8:1:2::1"))
        }
        #expect(wrong.wait(of: .program(.otherUser(1001))) != nil)
        for other: WrongKeys.Sender in [.program(.allowed), .program(.otherUser(1002)), .program(.unknownUser)] {
            #expect(wrong.wait(of: other) == nil)
        }
        // A device has all addresses of its IPv6 network. RFC 4291 §2.5.1
        #expect(try wrong.wait(of: Self.device("2001:db8:1:2:ffff:ffff:ffff:ffff")) != nil)
        #expect(try wrong.wait(of: Self.device("2001:db8:1:3::1")) == nil)
    }

    private static func device(_ text: String) throws -> WrongKeys.Sender { .address(try #require(IPAddress(text))) }

    @Test func ticketsAreForOneFileAndTwelveHours() {
        let tickets = Tickets()
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let holders: [Caller.Holder] = [.key(1), .secret("a")]
        let (text, end) = tickets.make(for: "one", by: .key(1), now: now)
        #expect(end == "2023-11-15T10:13:20Z")
        #expect(tickets.isValid(text, for: "one", of: holders, now: now))
        #expect(!tickets.isValid(text, for: "two", of: holders, now: now))
        #expect(!tickets.isValid(text, for: "one", of: holders, now: now.addingTimeInterval(12 * 3600)))
        #expect(!Tickets().isValid(text, for: "one", of: holders, now: now), "another start")
        #expect(!tickets.isValid(text, for: "one", of: [.key(2), .secret("1"), .rule(.network)], now: now), "revoked")
        let parts = text.split(separator: "-")
        for changed in ["\(Int(parts[0])! + 1)-\(parts[1])", "\(text)0", String(text.dropLast(2)), "", "-", "9-zz"] {
            #expect(!tickets.isValid(changed, for: "one", of: holders, now: now), "\(changed)")
        }
    }

    private static let own = OwnAddresses(
        addresses: ["192.168.1.5", "fd00::5"].compactMap { IPAddress($0) }, names: ["desk", "desk.local"])

    @Test(arguments: [
        ("192.168.1.5:8443", true), ("[fd00::5]:8443", true), ("DESK.local:8443", true), ("desk:8443", true),
        ("home.example.org:8443", true), ("203.0.113.9:9000", true), ("192.168.1.5", false), ("192.168.1.5:443", false),
        ("192.168.1.6:8443", false), ("localhost:8443", false), ("evil.example:8443", false),
        ("desk.local.:8443", false),
        ("192.168.1.5:08443", false), ("a@192.168.1.5:8443", false), ("fd00::5:8443", false), ("[fd00::5]", false),
        ("desk.local.evil.example:8443", false), ("", false), (":8443", false),
    ])
    func hostsOfRequests(host: String, isAllowed: Bool) {
        var server = CaptureConfiguration.Server()
        (server.host, server.ssl.isEnabled) = ("0.0.0.0", true)
        (server.names, server.wan) = (["home.example.org"], "203.0.113.9:9000")
        let endpoint = NetworkListeners.Endpoint(address: Self.own.addresses[0], port: 8443, isEncrypted: true)
        let origin = server.hosts(Self.own, at: endpoint).origin(host)
        #expect(origin == (isAllowed ? "https://\(host.lowercased())" : nil))
    }

    @Test func listensWhereTheConfigurationSays() {
        var server = CaptureConfiguration.Server()
        #expect(server.endpoints(Self.own).isEmpty)
        server.host = "0.0.0.0"
        #expect(server.endpoints(Self.own).map(\.description) == ["http://192.168.1.5:58443"])
        server.ssl.isEnabled = true
        #expect(
            Set(server.endpoints(Self.own).map(\.description)) == [
                "http://192.168.1.5:58443", "https://192.168.1.5:8443",
            ])
        server.ssl.port = 58_443
        #expect(server.endpoints(Self.own).map(\.description) == ["https://192.168.1.5:58443"], "encrypted only")
        server.host = "::"
        #expect(server.endpoints(Self.own).count == 2)
        server.host = "fd00::5"
        #expect(server.endpoints(Self.own).map(\.description) == ["https://[fd00::5]:58443"])
        server.host = "10.9.9.9"
        #expect(server.endpoints(Self.own).isEmpty, "not an address of this computer")
    }

    @Test(arguments: [
        ("10.1.2.3", true, false), ("172.31.0.1", true, false), ("172.32.0.1", false, false),
        ("192.168.9.9", true, false),
        ("169.254.1.1", true, false), ("127.9.9.9", true, true), ("100.64.0.1", false, false),
        ("8.8.8.8", false, false),
        ("fd12::1", true, false), ("fe80::1", true, false), ("::1", true, true), ("2001:4860::8888", false, false),
        ("::ffff:10.0.0.1", false, false),
    ])
    func privateAddresses(text: String, isPrivate: Bool, isLoopback: Bool) throws {
        let address = try #require(IPAddress(text))
        #expect((address.isPrivate, address.isLoopback) == (isPrivate, isLoopback))
    }

    /// Connects as the published client does, and in the published order of keys.
    @Test func payloadIsThePublishedOne() {
        let payload = QRPayload(
            fp: nil, key: "abc", lan: "192.168.1.119:58443", protocol: "http", wan: "68.186.221.57:58443")
        #expect(
            payload.text
                == #"{"key":"abc","lan":"192.168.1.119:58443","protocol":"http","v":"2.0","wan":"68.186.221.57:58443"}"#
        )
        let bare = QRPayload(fp: nil, key: nil, lan: "a:1", protocol: "https", wan: nil)
        #expect(bare.text == #"{"lan":"a:1","protocol":"https","v":"2.0"}"#)
        #expect(bare.link == "https://a:1/#connect=eyJsYW4iOiJhOjEiLCJwcm90b2NvbCI6Imh0dHBzIiwidiI6IjIuMCJ9")
    }
}
