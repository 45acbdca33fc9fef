import CaptureTLS
import Foundation
import TestSupport
import Testing

/// Compares the certificates with what OpenSSL reads in them and accepts.
@Suite(.enabled(if: openSSL != nil, "openssl isn't installed"))
struct OpenSSLTests {
    /// RFC 5280 §4.2.1.
    @Test func rootHasTheExtensionsOfAnAuthority() async throws {
        let root = try TestRoot()
        _ = try root.context()
        let text = try await root.openssl("x509", "-in", "root.crt", "-noout", "-text").output
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        func after(_ title: String) -> String? {
            lines.firstIndex { $0.hasPrefix(title) }.map { lines[$0 + 1] }
        }
        #expect(after("X509v3 Basic Constraints: critical") == "CA:TRUE, pathlen:0")
        #expect(after("X509v3 Key Usage: critical") == "Certificate Sign, CRL Sign")
        #expect(text.contains("NIST CURVE: P-256"))
        #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256"))
        #expect(text.contains("Subject: O = replayhost, CN = replayhost on anas-pc ("))
        #expect(after("X509v3 Subject Key Identifier:") != nil)
        let constraints = try #require(lines.firstIndex(of: "X509v3 Name Constraints: critical"))
        #expect(lines[constraints + 1] == "Permitted:")
        let permitted = lines[(constraints + 2)...].prefix { $0.hasPrefix("DNS:") || $0.hasPrefix("IP:") }
        #expect(
            Set(permitted) == [
                "DNS:local", "DNS:localhost", "DNS:anas-pc", "DNS:save.home.example", "IP:10.0.0.0/255.0.0.0",
                "IP:172.16.0.0/255.240.0.0", "IP:192.168.0.0/255.255.0.0", "IP:169.254.0.0/255.255.0.0",
                "IP:127.0.0.0/255.0.0.0", "IP:FC00:0:0:0:0:0:0:0/FE00:0:0:0:0:0:0:0",
                "IP:FE80:0:0:0:0:0:0:0/FFC0:0:0:0:0:0:0:0",
                "IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF",
            ])
    }

    @Test func serverCertificateHasAllNames() async throws {
        let root = try TestRoot()
        let context = try root.context()
        let text = try await root.openssl("x509", "-in", "server.crt", "-noout", "-text").output
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        func after(_ title: String) -> String? { lines.firstIndex { $0.hasPrefix(title) }.map { lines[$0 + 1] } }
        #expect(after("X509v3 Basic Constraints: critical") == "CA:FALSE")
        #expect(after("X509v3 Key Usage: critical") == "Digital Signature")
        #expect(after("X509v3 Extended Key Usage:") == "TLS Web Server Authentication")
        #expect(
            after("X509v3 Subject Alternative Name:")
                == "DNS:anas-pc, DNS:anas-pc.local, DNS:localhost, DNS:save.home.example, IP Address:127.0.0.1, "
                + "IP Address:192.168.1.119, IP Address:0:0:0:0:0:0:0:1, IP Address:FD12:3456:0:0:0:0:0:7, "
                + "IP Address:FE80:0:0:0:0:0:0:1")
        let identifier = try await root.openssl("x509", "-in", "root.crt", "-noout", "-ext", "subjectKeyIdentifier")
        let last = try #require(identifier.outputLines.last).trimmingCharacters(in: .whitespaces)
        #expect(after("X509v3 Authority Key Identifier:") == last)
        let print = try await root.openssl("x509", "-in", "root.crt", "-noout", "-fingerprint", "-sha256").output
        let hex = print.split(separator: "=").last?.filter(\.isHexDigit).lowercased()
        #expect(context.fingerprint == hex)
        #expect(context.rootPEM.map { Array($0.utf8) } == (try root.text("root.crt")))
    }

    @Test(arguments: [
        ["-verify_ip", "192.168.1.119"], ["-verify_ip", "fd12:3456::7"], ["-verify_hostname", "anas-pc.local"],
        ["-verify_hostname", "save.home.example"], [],
    ])
    func openSSLAcceptsTheServerCertificate(options: [String]) async throws {
        let root = try TestRoot()
        _ = try root.context()
        let result = try await run(
            openSSL ?? "openssl",
            ["verify", "-attime", "1795180000", "-x509_strict", "-purpose", "sslserver", "-CAfile", "root.crt"]
                + options
                + ["server.crt"], folder: root.tls)
        #expect(result.code == 0, "\(result.errors)")
    }

    /// A stolen root key can't be used to imitate other hosts. RFC 5280 §4.2.1.10.
    @Test(arguments: [
        ("DNS:example.com", false), ("DNS:anas-pc.example.com", false), ("IP:93.184.216.34", false),
        ("IP:2606:2800::1", false), ("IP:172.32.0.1", false), ("DNS:tv.local,DNS:example.com", false),
        ("DNS:notlocal", false), ("DNS:tv.local", true), ("IP:172.31.255.1", true), ("IP:fe80::2", true),
        ("DNS:save.home.example", true),
    ])
    func nameConstraintsAreEnforced(names: String, isAccepted: Bool) async throws {
        let root = try TestRoot()
        // openssl signs from now on.
        _ = try root.context(at: Date())
        let other = try await root.sign("/CN=other", names: names)
        let result = try await root.openssl("verify", "-CAfile", "root.crt", other)
        #expect((result.code == 0) == isAccepted, "\(result.output) \(result.errors)")
        if !isAccepted { #expect(result.errors.contains("permitted subtree violation")) }
    }
}
