import Synchronization
import Testing

@testable import EgressGuard

struct HostBookTests {
    /// Answers of a resolver that isn't honest: each question gets the next answer.
    ///
    /// - Parameter own: The addresses of network interfaces, with their masks.
    private static func names(_ answers: [[String]], own: KeyValuePairs<String, String> = [:]) -> EgressNames {
        let left = Mutex(answers)
        return EgressNames(
            resolve: { _ in
                left.withLock { left in
                    let next = left.count > 1 ? left.removeFirst() : left.first ?? []
                    return next.compactMap { IPAddress($0) }
                }
            },
            own: {
                Set(
                    own.compactMap { address, mask in
                        IPAddress(address).map { IPAddress.Block(networkOf: $0, mask: IPAddress(mask)) }
                    })
            })
    }

    private static let own: KeyValuePairs = [
        "8.8.4.4": "255.255.255.0", "9.9.9.9": "", "2a00:1:2:3344::7": "ffff:ffff:ffff:ffff::", "2a02::7": "",
        // A tunnel.
        "1.2.3.4": "0.0.0.0", "2a03::7": "::",
    ]

    struct Case: Sendable, CustomTestStringConvertible {
        let authority: String
        let addresses: [String]
        /// `nil` if the host is let through.
        let refusal: EgressEvent.Refusal?

        var testDescription: String { "\(authority) \(addresses)" }
    }

    @Test(arguments: [
        Case(authority: "a.example:443", addresses: ["1.1.1.1"], refusal: nil),
        Case(authority: "a.example:80", addresses: ["1.1.1.1", "2606:4700::1111"], refusal: nil),
        // One of several is enough.
        Case(authority: "a.example:443", addresses: ["1.1.1.1", "10.0.0.1"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["1.1.1.1", "::1"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["64:ff9b::7f00:1"], refusal: .notPublic),
        Case(authority: "metadata.example:80", addresses: ["169.254.169.254"], refusal: .notPublic),
        // This computer's own addresses.
        Case(authority: "a.example:443", addresses: ["8.8.4.4"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["::ffff:8.8.4.4"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["2a02::7"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["9.9.9.9"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["9.9.9.8"], refusal: nil),
        Case(authority: "a.example:443", addresses: ["1.2.3.4"], refusal: .notPublic),
        // Other devices of its networks.
        Case(authority: "a.example:443", addresses: ["8.8.4.1"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["::ffff:8.8.4.200"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["64:ff9b::8.8.4.1"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["2002:808:401::1"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["8.8.5.1"], refusal: nil),
        Case(authority: "a.example:443", addresses: ["2a00:1:2:3344::1"], refusal: .notPublic),
        Case(authority: "[2a00:1:2:33ff::1]:443", addresses: ["2a00:1:2:33ff::1"], refusal: .notPublic),
        Case(authority: "a.example:443", addresses: ["2a00:1:2:3400::1"], refusal: nil),
        Case(authority: "a.example:443", addresses: ["1.1.1.1", "2a00:1:2:3344::1"], refusal: .notPublic),
        Case(authority: "a.example:22", addresses: ["1.1.1.1"], refusal: .denied),
        Case(authority: "a.example:58443", addresses: ["1.1.1.1"], refusal: .denied),
        Case(authority: "maker.example:443", addresses: ["1.1.1.1"], refusal: .denied),
        Case(authority: "MAKER.example.:443", addresses: ["1.1.1.1"], refusal: .denied),
        Case(authority: "none.example:443", addresses: [], refusal: .unknownHost),
        // Exceptions are for a host and a port.
        Case(authority: "wiki.intranet:8080", addresses: ["10.0.0.1"], refusal: nil),
        Case(authority: "Wiki.Intranet.:8080", addresses: ["10.0.0.1"], refusal: nil),
        Case(authority: "wiki.intranet:80", addresses: ["10.0.0.1"], refusal: .notPublic),
        Case(authority: "wiki.intranet:8081", addresses: ["10.0.0.1"], refusal: .denied),
        Case(authority: "x.wiki.intranet:8080", addresses: ["10.0.0.1"], refusal: .denied),
    ])
    func onlyPublicHostsAndExceptionsAreLetThrough(_ one: Case) async throws {
        var rules = EgressRules()
        rules.allowed = [try #require(EgressRules.Exception("wiki.intranet:8080"))]
        rules.refusedHosts = ["maker.example"]
        let book = HostBook(rules: rules, names: Self.names([one.addresses], own: Self.own))
        let destination = try #require(Destination(authority: one.authority, port: nil))
        do {
            let found = try await book.addresses(of: destination)
            #expect(one.refusal == nil)
            #expect(found == one.addresses.compactMap { IPAddress($0) })
        } catch let refused as Refused {
            #expect(refused.refusal == one.refusal)
        }
    }

    /// A network that translates IPv6 to IPv4 with a prefix of its own.
    @Test(
        arguments: [
            ("2a00:64::c000:aa", "2a00:64::101:101", nil), ("2a00:64::c000:ab", "2a00:64::101:101", nil),
            ("2a00:64::c000:aa", "2a00:64::a00:1", .notPublic), ("2a00:64::c000:aa", "2a00:64::7f00:1", .notPublic),
            ("2a00:64::c000:aa", "2a00:64::a9fe:a9fe", .notPublic),
            ("2a00:64::c000:aa", "2a00:64::808:401", .notPublic),
            ("2a00:64:c000:aa::", "2a00:64:a00:1::", .notPublic), ("2a00:64:c000:aa::", "2a00:64:101:101::", nil),
            ("2a00:64:0:64:c0:0:aa00:0", "2a00:64:0:64:a:0:100:0", .notPublic),
            // A resolver that isn't honest makes a network of this computer a translator's.
            ("2a00:1:2:3364::c000:aa", "2a00:1:2:3364::101:101", .notPublic),
            ("2a00:1:2:3344:c0:0:aa00::", "2a00:1:2:3344:211:22ff:fe33:4455", .notPublic),
            // No address of a translator.
            ("2a00:64::1", "2a00:64::a00:1", nil), ("192.0.0.170", "2a00:64::a00:1", nil),
        ] as [(String, String, EgressEvent.Refusal?)])
    func translatedAddressesCountAsTheirIPv4Address(
        known: String, address: String, refusal: EgressEvent.Refusal?
    ) async throws {
        var names = Self.names([], own: Self.own)
        names.resolve = { host in [IPAddress(host == "ipv4only.arpa" ? known : address)].compactMap { $0 } }
        let book = HostBook(rules: EgressRules(), names: names)
        let destination = try #require(Destination(authority: "a.example:443", port: nil))
        if let refusal {
            let refused = await #expect(throws: Refused.self) { try await book.addresses(of: destination) }
            #expect(refused?.refusal == refusal)
        } else {
            let found = try await book.addresses(of: destination)
            #expect(found == [IPAddress(address)])
        }
    }

    /// DNS rebinding: the second answer isn't even asked for.
    @Test func aHostIsResolvedOnce() async throws {
        let book = HostBook(rules: EgressRules(), names: Self.names([["1.1.1.1"], ["127.0.0.1"]]))
        for port in [443, 80, 443] {
            let destination = try #require(Destination(authority: "a.example:\(port)", port: nil))
            let addresses = try await book.addresses(of: destination)
            #expect(addresses == [IPAddress("1.1.1.1")])
        }
    }

    /// All questions that are asked before the first answer get the same one.
    @Test func questionsAtTheSameTimeGetTheSameAnswer() async throws {
        let book = HostBook(rules: EgressRules(), names: Self.names((1...60).map { ["1.1.1.\($0)"] }))
        let destination = try #require(Destination(authority: "a.example:443", port: nil))
        let answers = try await withThrowingTaskGroup(of: [IPAddress].self) { group in
            for _ in 0..<50 { group.addTask { try await book.addresses(of: destination) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
    }

    /// The system's resolver reads IPv4 addresses in forms that browsers read too.
    @Test(arguments: [
        "127.0.0.1", "127.1", "0x7f000001", "2130706433", "017700000001", "localhost", "[::1]", "[::ffff:127.0.0.1]",
    ])
    func otherFormsOfLoopbackAreRefused(_ host: String) async throws {
        let book = HostBook(rules: EgressRules(), names: .system)
        let destination = try #require(Destination(authority: "\(host):80", port: nil))
        let refused = await #expect(throws: Refused.self) { try await book.addresses(of: destination) }
        #expect(refused?.refusal == .notPublic)
    }
}

struct DestinationTests {
    @Test(arguments: [
        ("example.org:443", "example.org", 443), ("EXAMPLE.org.:80", "example.org", 80),
        ("example.org", "example.org", 80),
        ("[2001:DB8::1]:443", "2001:db8::1", 443), ("[::1]", "::1", 80), ("a_b.example:8080", "a_b.example", 8080),
        ("192.0.2.1:65535", "192.0.2.1", 65535),
    ])
    func authorities(_ text: String, _ host: String, _ port: Int) throws {
        let found = try #require(Destination(authority: text, port: 80))
        #expect(found.host == host)
        #expect(found.port == port)
    }

    @Test(arguments: [
        "", ":80", ".:80", "a b:80", "user@example.org:80", "user:secret@example.org:80", "example.org:0",
        "example.org:65536", "example.org:", "example.org:+80", "example.org:80:80", "example.org:8 0", "[::1",
        "::1:80",
        "[::1]80", "[fe80::1%25eth0]:80", "[example.org]:80", "exämple.org:80", "example.org/:80", "a\u{0}b:80",
        String(repeating: "a", count: 254) + ":80",
    ])
    func invalidAuthorities(_ text: String) {
        #expect(Destination(authority: text, port: 80) == nil)
    }
}
