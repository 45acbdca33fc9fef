import ArchiveStore
import Testing

@testable import ReplayServer

struct HostPolicyTests {
    private func role(_ hosts: [String], port: Int) -> String { role(hosts, HostPolicy(port: port)) }

    private func role(_ hosts: [String], _ policy: HostPolicy) -> String {
        switch policy.role(hosts: hosts) {
        case .control(let origin): "control \(origin)"
        case .replay(let id): "replay \(id)"
        case .stock: "stock"
        case .address: "address"
        case .addressOfReplay: "address of replay"
        case .misdirected: "misdirected"
        case .malformed: "malformed"
        }
    }

    // PRODUCT.md, "The HTTP surface". Names ignore case (RFC 9110 §4.2.3); all other names get 421.
    @Test(arguments: [
        ("localhost:8080", "control http://localhost:8080"), ("LocalHost:8080", "control http://localhost:8080"),
        ("replayhost.localhost:8080", "control http://replayhost.localhost:8080"),
        ("REPLAYHOST.LOCALHOST:8080", "control http://replayhost.localhost:8080"),
        ("127.0.0.1:8080", "address"), ("[::1]:8080", "address"), ("stock.replayhost.localhost:8080", "stock"),
        ("crawl.replayhost.localhost:8080", "replay crawl"), ("Crawl.ReplayHost.localhost:8080", "replay crawl"),
        ("a-b-2.replayhost.localhost:8080", "replay a-b-2"), ("1.replayhost.localhost:8080", "replay 1"),
        // The port is part of the name.
        ("localhost", "misdirected"), ("localhost:", "misdirected"), ("localhost:80", "misdirected"),
        ("localhost:8081", "misdirected"), ("localhost:08080", "misdirected"), ("localhost:18080", "misdirected"),
        ("localhost:8080:8080", "misdirected"), ("127.0.0.1", "misdirected"), ("[::1]", "misdirected"),
        ("::1:8080", "misdirected"), (":8080", "misdirected"), ("", "misdirected"),
        // Foreign names, and names that only look like ours.
        ("evil.example:8080", "misdirected"), ("localhost.evil.example:8080", "misdirected"),
        ("evil-localhost:8080", "misdirected"), ("evil.localhost:8080", "misdirected"),
        ("replayhost.localhost.evil.example:8080", "misdirected"), ("xreplayhost.localhost:8080", "misdirected"),
        ("localhost.:8080", "misdirected"), ("replayhost.localhost.:8080", "misdirected"),
        ("crawl.replayhost.localhost.:8080", "misdirected"), ("127.0.0.1.:8080", "misdirected"),
        ("127.0.0.2:8080", "misdirected"), ("127.1:8080", "misdirected"), ("0.0.0.0:8080", "misdirected"),
        ("0x7f000001:8080", "misdirected"), ("2130706433:8080", "misdirected"), ("[::]:8080", "misdirected"),
        ("[0:0:0:0:0:0:0:1]:8080", "misdirected"), ("[::ffff:127.0.0.1]:8080", "misdirected"),
        // User information is no part of a Host. RFC 9112 §3.2.
        ("localhost:8080@evil.example", "misdirected"), ("user@localhost:8080", "misdirected"),
        ("evil.example:8080@localhost:8080", "misdirected"), ("localhost:8080/", "misdirected"),
        ("http://localhost:8080", "misdirected"), ("localhost :8080", "misdirected"),
        (" localhost:8080", "misdirected"),
        // Labels that aren't valid ids.
        ("api.replayhost.localhost:8080", "misdirected"), ("www.replayhost.localhost:8080", "misdirected"),
        ("all.replayhost.localhost:8080", "misdirected"), ("localhost.replayhost.localhost:8080", "misdirected"),
        ("xn--crawl.replayhost.localhost:8080", "misdirected"), ("a--b.replayhost.localhost:8080", "misdirected"),
        ("-a.replayhost.localhost:8080", "misdirected"), ("a-.replayhost.localhost:8080", "misdirected"),
        ("a_b.replayhost.localhost:8080", "misdirected"), ("a.b.replayhost.localhost:8080", "misdirected"),
        (".replayhost.localhost:8080", "misdirected"), ("bücher.replayhost.localhost:8080", "misdirected"),
        ("\(String(repeating: "a", count: 64)).replayhost.localhost:8080", "misdirected"),
        ("x.stock.replayhost.localhost:8080", "misdirected"), ("stock.localhost:8080", "misdirected"),
    ])
    func namesHaveRoles(host: String, expected: String) { #expect(role([host], port: 8080) == expected) }

    /// Browsers leave out the port of the scheme. RFC 9110 §4.2.1.
    @Test(arguments: [
        ("localhost", "control http://localhost"), ("replayhost.localhost", "control http://replayhost.localhost"),
        ("crawl.replayhost.localhost", "replay crawl"), ("localhost:80", "control http://localhost:80"),
        ("127.0.0.1", "address"), ("[::1]", "address"), ("localhost:8080", "misdirected"),
        ("evil.example", "misdirected"),
        ("[::1]:80", "address"),
    ])
    func portEightyCanBeOmitted(host: String, expected: String) { #expect(role([host], port: 80) == expected) }

    /// RFC 9112 §3.2: 400 for a request without Host or with more than one.
    @Test(arguments: [[], ["localhost:8080", "localhost:8080"], ["localhost:8080", "evil.example"]])
    func exactlyOneHostIsRequired(hosts: [String]) { #expect(role(hosts, port: 8080) == "malformed") }

    @Test func originsOmitPortEighty() throws {
        let id = try #require(ArchiveID("crawl"))
        let (other, standard) = (HostPolicy(port: 8080), HostPolicy(port: 80))
        #expect(other.controlOrigins == ["http://localhost:8080", "http://replayhost.localhost:8080"])
        #expect(other.replayOrigin(of: id, replayPort: 20_000) == "http://crawl.replayhost.localhost:8080")
        #expect(standard.controlOrigins == ["http://localhost", "http://replayhost.localhost"])
        #expect(standard.replayOrigin(of: id, replayPort: nil) == "http://crawl.replayhost.localhost")
    }

    /// PRODUCT.md: with ports everything is on `localhost`.
    @Test(arguments: [
        ("localhost:8080", "control http://localhost:8080"), ("127.0.0.1:8080", "address"), ("[::1]:8080", "address"),
        ("replayhost.localhost:8080", "misdirected"), ("crawl.replayhost.localhost:8080", "misdirected"),
        ("stock.replayhost.localhost:8080", "misdirected"), ("evil.example:8080", "misdirected"),
    ])
    func portsModeHasNoNames(host: String, expected: String) {
        #expect(role([host], HostPolicy(port: 8080, origins: .ports)) == expected)
    }

    /// A replay port only serves its archive, not the library, other archives or the API.
    @Test(arguments: [
        ("localhost:20000", "replay crawl"), ("LOCALHOST:20000", "replay crawl"),
        ("127.0.0.1:20000", "address of replay"), ("[::1]:20000", "address of replay"),
        ("localhost:8080", "misdirected"), ("replayhost.localhost:20000", "misdirected"),
        ("other.replayhost.localhost:20000", "misdirected"), ("evil.example:20000", "misdirected"),
    ])
    func replayPortHasOneName(host: String, expected: String) throws {
        let own = HostPolicy.ReplayPort(tenant: .archive(try #require(ArchiveID("crawl"))), port: 20_000)
        for origins in HostPolicy.Origins.allCases {
            #expect(role([host], HostPolicy(port: 8080, origins: origins, replaying: own)) == expected)
        }
    }

    @Test func portsModeHasOriginOnceAssigned() throws {
        let id = try #require(ArchiveID("crawl"))
        let library = HostPolicy(port: 8080, origins: .ports)
        #expect(library.controlOrigins == ["http://localhost:8080"])
        #expect(library.replayOrigin(of: id, replayPort: nil) == nil)
        #expect(library.replayOrigin(of: id, replayPort: 20_000) == "http://localhost:20000")
        let own = HostPolicy(port: 8080, origins: .auto, replaying: .init(tenant: .archive(id), port: 20_000))
        #expect(own.controlOrigins == ["http://localhost:8080"])
        #expect(own.replayOrigin(of: id, replayPort: nil) == "http://localhost:20000")
    }

    // PRODUCT.md: COLL is the id, a hyphen and 12 hex digits; one segment or more follows.
    @Test(arguments: [
        ("/crawl-0123456789ab/20240102030405mp_/http://example.org/", true),
        ("/crawl-0123456789ab/http://example.org/?a=/b", true), ("/crawl-ffffffffffff/x", true),
        ("/crawl-0123456789ab/", false), ("/crawl-0123456789ab", false), ("/crawl-0123456789AB/x", false),
        ("/crawl-0123456789a/x", false), ("/crawl-0123456789abc/x", false), ("/crawl-0123456789ag/x", false),
        ("/other-0123456789ab/x", false), ("/crawl/x", false), ("/", false), ("//crawl-0123456789ab/x", false),
        ("/crawl--0123456789ab/x", false), ("/x/crawl-0123456789ab/x", false),
    ])
    func replayPathsBelongToArchive(path: String, expected: Bool) throws {
        #expect(ReplayRoutes.isReplayAddress(path, of: try #require(ArchiveID("crawl"))) == expected)
    }

    private static let coll = "/crawl-0123456789ab"

    // HTML, "The img element": a URL is relative to the document's; RFC 3986 §5.2.2 for a path from the root.
    @Test(arguments: [
        ("/a.png", "\(Self.coll)/2024mp_/https://site.example/a/b", "/c/crawl/2024id_/https://site.example/a.png"),
        ("/a.png", "\(Self.coll)/:0a1b/2024mp_/https://site.example/", "/c/crawl/2024id_/https://site.example/a.png"),
        ("/p?a=/b", "\(Self.coll)/2024mp_/http://site.example:81", "/c/crawl/2024id_/http://site.example:81/p?a=/b"),
        ("/sw.js", "\(Self.coll)/2024mp_/http://site.example/", "/c/crawl/2024id_/http://site.example/sw.js"),
        ("\(Self.coll)/2024im_/http://o.example/x", "", "/c/crawl/2024id_/http://o.example/x"),
        ("/a.png", "/other-0123456789ab/2024mp_/http://site.example/", nil), ("/a.png", "/", nil),
        ("/a.png", "\(Self.coll)/2024mp_/data:text/html,x", nil), ("/a.png", "", nil),
    ])
    func mediaOfFramesWithoutURLUsePageURL(path: String, page: String, expected: String?) throws {
        #expect(ReplayRoutes.mediaAddress(path, from: page, of: try #require(ArchiveID("crawl"))) == expected)
    }
}
