import CommandSupport
import Foundation

/// The arguments, environment and profile files that let a browser reach only one server.
struct IsolatedLaunch: Equatable {
    let arguments: [String]
    /// Variables to add to the environment.
    let environment: [String: String]
    /// The contents of the files, by their path in the profile.
    let files: [String: String]
}

extension IsolatedLaunch {
    /// For Chromium and browsers based on it. Tested with Chromium 156.
    static func chromium(profile: String, url: String, hosts: ReachableHosts) -> IsolatedLaunch {
        // The rules cover IP addresses too, since these also go through the resolver.
        let resolverRules = ["MAP * ~NOTFOUND"] + hosts.names.map { "EXCLUDE \($0)" }
        // Without `<-loopback>`, other programs on this computer would be reachable.
        let directHosts = ["<-loopback>"] + hosts.pairs
        // WebRTC's UDP packets would bypass the proxy. The first flag is for versions before 2025.
        let webRTC = "webrtc-ip-handling-policy=disable_non_proxied_udp"
        return IsolatedLaunch(
            arguments: [
                "--user-data-dir=\(profile)",
                "--host-resolver-rules=\(resolverRules.joined(separator: ", "))",
                "--proxy-server=http://127.0.0.1:1",
                "--proxy-bypass-list=\(directHosts.joined(separator: ";"))",
                "--force-\(webRTC)", "--\(webRTC)", "--disable-quic",
                // Device discovery uses multicast, which would bypass the proxy, too.
                "--media-router=0", "--disable-features=MediaRouter",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-domain-reliability", "--disable-breakpad", "--no-pings",
                "--disable-extensions", "--disable-default-apps", "--no-first-run", "--no-default-browser-check",
                // Otherwise the browser asks for the keyring's password.
                "--password-store=basic",
                url,
            ],
            // Keeps files of a crashed or killed browser in the profile, too.
            environment: ["TMPDIR": profile, "BREAKPAD_DUMP_LOCATION": profile],
            files: [
                "Default/Preferences": #"{"webrtc":{"ip_handling_policy":"disable_non_proxied_udp"}}"#,
                "Local State": #"{"dns_over_https":{"mode":"off"}}"#,
            ])
    }

    /// For Firefox. Tested with Firefox 153 ESR.
    ///
    /// The URL is the profile's home page, not an argument, so that Firefox can't open the archive without the profile.
    static func firefox(profile: String, url: String, hosts: ReachableHosts) -> IsolatedLaunch {
        let preferences =
            FirefoxPreference.isolation(profile: profile, hosts: hosts) + [
                FirefoxPreference("browser.startup.page", .number(1)),
                FirefoxPreference("browser.startup.homepage", .text(url)),
            ]
        return IsolatedLaunch(
            arguments: ["--no-remote", "--new-instance", "--profile", profile],
            // The crash reporter is a separate program, which doesn't use the profile's proxy.
            environment: ["MOZ_CRASHREPORTER_DISABLE": "1", "TMPDIR": profile],
            files: ["user.js": preferences.map { $0.line + "\n" }.joined()])
    }
}

/// One line of a Firefox profile's `user.js`.
struct FirefoxPreference: Equatable {
    enum Value: Equatable {
        case flag(Bool)
        case number(Int)
        case text(String)
    }

    let name: String
    let value: Value

    init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }

    var line: String { "user_pref(\(Terminal.json(name)), \(valueText));" }

    private var valueText: String {
        switch value {
        case .flag(let flag): "\(flag)"
        case .number(let number): "\(number)"
        case .text(let text): Terminal.json(text)
        }
    }

    /// Returns preferences that let Firefox connect only to `hosts`.
    static func isolation(profile: String, hosts: ReachableHosts) -> [FirefoxPreference] {
        proxy(profile: profile, hosts: hosts) + off.map { FirefoxPreference($0, .flag(false)) } + [
            FirefoxPreference("network.dns.disabled", .flag(true)),
            FirefoxPreference("network.dns.disablePrefetch", .flag(true)),
            FirefoxPreference("network.trr.mode", .number(5)),
            FirefoxPreference("network.http.speculative-parallel-limit", .number(0)),
            FirefoxPreference("media.peerconnection.ice.proxy_only", .flag(true)),
            FirefoxPreference("browser.startup.homepage_override.mstone", .text("ignore")),
            // No add-ons, not even those installed for all users.
            FirefoxPreference("extensions.enabledScopes", .number(0)),
            FirefoxPreference("extensions.autoDisableScopes", .number(15)),
        ]
    }

    /// A SOCKS proxy at a missing socket file. On a port, another program could listen instead.
    private static func proxy(profile: String, hosts: ReachableHosts) -> [FirefoxPreference] {
        // Firefox writes `.name` where Chromium writes `*.name`.
        let directHosts = hosts.pairs.map { $0.hasPrefix("*.") ? String($0.dropFirst()) : $0 }
        return [
            FirefoxPreference("network.proxy.type", .number(1)),
            FirefoxPreference("network.proxy.socks", .text("file://\(profile)/no-proxy")),
            FirefoxPreference("network.proxy.socks_port", .number(1)),
            FirefoxPreference("network.proxy.socks_version", .number(5)),
            FirefoxPreference("network.proxy.socks_remote_dns", .flag(true)),
            FirefoxPreference("network.proxy.socks5_remote_dns", .flag(true)),
            FirefoxPreference("network.proxy.no_proxies_on", .text(directHosts.joined(separator: ", "))),
            // Without it, other programs on this computer would be reachable.
            FirefoxPreference("network.proxy.allow_hijacking_localhost", .flag(true)),
            // Firefox's own services bypass a failing proxy, unless both are off.
            FirefoxPreference("network.proxy.allow_bypass", .flag(false)),
            FirefoxPreference("network.proxy.failover_direct", .flag(false)),
        ]
    }

    /// Features that would bypass the proxy (WebRTC, the separate telemetry sender), or would only fail there repeatedly.
    private static let off = [
        "media.peerconnection.enabled", "network.webtransport.enabled", "network.http.http3.enable",
        "network.dns.native_https_query",
        "toolkit.telemetry.enabled", "toolkit.telemetry.unified", "toolkit.telemetry.shutdownPingSender.enabled",
        "toolkit.telemetry.firstShutdownPing.enabled", "toolkit.telemetry.newProfilePing.enabled",
        "datareporting.healthreport.uploadEnabled", "datareporting.policy.dataSubmissionEnabled",
        "network.captive-portal-service.enabled", "network.connectivity-service.enabled", "network.predictor.enabled",
        "network.prefetch-next",
        "app.normandy.enabled", "app.update.auto", "app.update.background.enabled", "dom.push.connection.enabled",
        "browser.aboutwelcome.enabled", "browser.newtabpage.enabled", "browser.region.update.enabled",
        "browser.search.update", "browser.shell.checkDefaultBrowser", "browser.topsites.contile.enabled",
        "browser.safebrowsing.malware.enabled", "browser.safebrowsing.phishing.enabled",
        "browser.safebrowsing.downloads.enabled", "browser.safebrowsing.blockedURIs.enabled",
        "extensions.blocklist.enabled", "extensions.getAddons.cache.enabled", "extensions.systemAddon.update.enabled",
        "extensions.update.enabled", "media.gmp-manager.updateEnabled",
    ]
}
