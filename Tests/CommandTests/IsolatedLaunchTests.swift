import Foundation
import Testing

@testable import replayhost

/// Arguments and files of isolated browsers. Tests/BrowserTests/test_isolated.py tests that browsers can't reach the network.
struct IsolatedLaunchTests {
    private static let url = "http://localhost:8080/?archive=/archives/crawl.wacz"
    private static let profile = "/tmp/profile"

    private func chromium(_ hosts: ReachableHosts = .names(port: 8080)) -> IsolatedLaunch {
        .chromium(profile: Self.profile, url: Self.url, hosts: hosts)
    }

    private func firefox(_ hosts: ReachableHosts = .names(port: 8080)) throws -> [String] {
        let launch = IsolatedLaunch.firefox(profile: Self.profile, url: Self.url, hosts: hosts)
        return try #require(launch.files["user.js"]).split(separator: "\n").map(String.init)
    }

    @Test func chromiumReachesOnlyTheServerByNames() {
        let arguments = chromium().arguments
        #expect(
            arguments.contains(
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE replayhost.localhost, "
                    + "EXCLUDE *.replayhost.localhost, EXCLUDE 127.0.0.1"))
        #expect(arguments.contains("--proxy-server=http://127.0.0.1:1"))
        #expect(
            arguments.contains(
                "--proxy-bypass-list=<-loopback>;localhost:8080;replayhost.localhost:8080;*.replayhost.localhost:8080;"
                    + "127.0.0.1:8080"))
        #expect(arguments.contains("--webrtc-ip-handling-policy=disable_non_proxied_udp"))
        #expect(arguments.contains("--user-data-dir=/tmp/profile"))
        #expect(arguments.last == Self.url)
    }

    @Test func chromiumReachesOnlyTheServerAndOneArchiveByPorts() {
        let arguments = chromium(.ports(server: 8080, archive: 20_000)).arguments
        #expect(arguments.contains("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"))
        #expect(
            arguments.contains(
                "--proxy-bypass-list=<-loopback>;localhost:8080;localhost:20000;127.0.0.1:8080;127.0.0.1:20000"))
    }

    @Test func chromiumKeepsItsSandbox() {
        #expect(!chromium().arguments.contains { $0.contains("sandbox") })
    }

    @Test func chromiumFilesAreJSON() throws {
        let files = chromium().files
        #expect(files.keys.sorted() == ["Default/Preferences", "Local State"])
        for text in files.values { _ = try JSONSerialization.jsonObject(with: Data(text.utf8)) }
    }

    @Test func firefoxReachesOnlyTheServer() throws {
        let lines = try firefox()
        for line in [
            #"user_pref("network.proxy.type", 1);"#,
            #"user_pref("network.proxy.socks", "file:///tmp/profile/no-proxy");"#,
            #"user_pref("network.proxy.socks_remote_dns", true);"#,
            #"user_pref("network.proxy.allow_hijacking_localhost", true);"#,
            #"user_pref("network.proxy.failover_direct", false);"#,
            #"user_pref("network.proxy.allow_bypass", false);"#,
            #"user_pref("network.dns.disabled", true);"#,
            #"user_pref("media.peerconnection.enabled", false);"#,
            #"user_pref("network.proxy.no_proxies_on", "localhost:8080, replayhost.localhost:8080, "#
                + #".replayhost.localhost:8080, 127.0.0.1:8080");"#,
        ] { #expect(lines.contains(line)) }
        #expect(
            try firefox(.ports(server: 8080, archive: 20_000)).contains(
                #"user_pref("network.proxy.no_proxies_on", "localhost:8080, localhost:20000, "#
                    + #"127.0.0.1:8080, 127.0.0.1:20000");"#))
        #expect(Set(lines).count == lines.count)
    }

    @Test func firefoxOpensTheArchiveOnlyWithItsProfile() throws {
        let launch = IsolatedLaunch.firefox(profile: Self.profile, url: Self.url, hosts: .names(port: 8080))
        #expect(launch.arguments == ["--no-remote", "--new-instance", "--profile", "/tmp/profile"])
        #expect(try firefox().contains("user_pref(\"browser.startup.homepage\", \"\(Self.url)\");"))
        #expect(try firefox().contains(#"user_pref("browser.startup.page", 1);"#))
    }

    @Test(arguments: [
        (FirefoxPreference("a", .flag(true)), #"user_pref("a", true);"#),
        (FirefoxPreference("a.b", .number(-1)), #"user_pref("a.b", -1);"#),
        (FirefoxPreference("a", .text("q\" b\\ n\n")), #"user_pref("a", "q\" b\\ n\n");"#),
    ])
    func preferencesAreJavaScriptLines(preference: FirefoxPreference, line: String) {
        #expect(preference.line == line)
    }

    @Test func temporaryFilesAreInTheProfile() {
        #expect(chromium().environment["TMPDIR"] == Self.profile)
        let firefox = IsolatedLaunch.firefox(profile: Self.profile, url: Self.url, hosts: .names(port: 1))
        #expect(firefox.environment["TMPDIR"] == Self.profile)
    }
}
