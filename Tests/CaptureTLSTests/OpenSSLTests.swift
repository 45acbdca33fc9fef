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
        #expect(after("X509v3 Extended Key Usage:") == "TLS Web Server Authentication")
        #expect(text.contains("NIST CURVE: P-256"))
        #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256"))
        #expect(text.contains("Subject: O = replayhost, CN = replayhost on anas-pc ("))
        #expect(after("X509v3 Subject Key Identifier:") != nil)
        let constraints = try #require(lines.firstIndex(of: "X509v3 Name Constraints: critical"))
        #expect(lines[constraints + 1] == "Permitted:")
        let permitted = lines[(constraints + 2)...].prefix {
            ["DNS:", "IP:", "email:", "URI:"].contains(where: $0.hasPrefix)
        }
        #expect(
            Set(permitted) == [
                "DNS:local", "DNS:localhost", "DNS:anas-pc", "DNS:save.home.example", "IP:10.0.0.0/255.0.0.0",
                "IP:172.16.0.0/255.240.0.0", "IP:192.168.0.0/255.255.0.0", "IP:169.254.0.0/255.255.0.0",
                "IP:127.0.0.0/255.0.0.0", "IP:FC00:0:0:0:0:0:0:0/FE00:0:0:0:0:0:0:0",
                "IP:FE80:0:0:0:0:0:0:0/FFC0:0:0:0:0:0:0:0",
                "IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF",
                "email:nobody.invalid", "URI:nobody.invalid",
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
        ("DNS:notlocal", false), ("email:service@bank.example", false), ("URI:https://bank.example/", false),
        ("DNS:tv.local,email:service@bank.example", false), ("DNS:tv.local", true), ("IP:172.31.255.1", true),
        ("IP:fe80::2", true),
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

    /// A stolen root key can't be used to sign a bank's mail, a program or a log-in. RFC 5280 §4.2.1.12.
    @Test func rootVouchesForServersOnly() async throws {
        let root = try TestRoot()
        _ = try root.context(at: Date())
        // Neither has a name that name constraints could forbid.
        let mail = try await root.sign(
            "/CN=Bank", names: "DNS:tv.local", usage: "emailProtection,clientAuth,codeSigning")
        try root.folder.write("Please pay.", to: "capture/tls/letter")
        let signed = try await root.openssl(
            "smime", "-sign", "-in", "letter", "-signer", mail, "-inkey", "other.key", "-out", "letter.signed")
        try #require(signed.code == 0, "\(signed.errors)")
        let verified = try await root.openssl("smime", "-verify", "-in", "letter.signed", "-CAfile", "root.crt")
        #expect(verified.code != 0 && verified.errors.contains("Verification failure"), "\(verified.errors)")
        // It is the root that openssl doesn't accept for that.
        let unchecked = try await root.openssl(
            "smime", "-verify", "-purpose", "any", "-in", "letter.signed", "-CAfile", "root.crt")
        #expect(unchecked.code == 0, "\(unchecked.errors)")
        for purpose in ["smimesign", "smimeencrypt", "sslclient"] {
            let result = try await root.openssl("verify", "-purpose", purpose, "-CAfile", "root.crt", mail)
            #expect(result.code != 0 && result.errors.contains("certificate purpose"), "\(purpose): \(result.errors)")
        }
    }

    /// As versions before made it: it goes on working, and the server says what is better.
    @Test func olderRootGoesOnWorking() async throws {
        let root = try TestRoot()
        try root.folder.write("", to: "capture/tls/.keep")
        let extensions = [
            "basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=critical,keyCertSign,cRLSign",
            "nameConstraints=critical,permitted;DNS:local,permitted;DNS:localhost,permitted;DNS:anas-pc,"
                + "permitted;DNS:save.home.example,permitted;IP:192.168.0.0/255.255.0.0,permitted;IP:127.0.0.0/255.0.0.0",
        ].flatMap { ["-addext", $0] }
        let made = try await run(
            openSSL ?? "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650",
                "-subj",
                "/O=replayhost/CN=older", "-keyout", "root.key", "-out", "root.crt",
            ] + extensions, folder: root.tls)
        try #require(made.code == 0, "\(made.errors)")
        let before = try root.text("root.crt")
        let now = Date().addingTimeInterval(60)
        let context = try root.context(at: now)
        #expect(try root.text("root.crt") == before)
        let verified = try await root.openssl(
            "verify", "-CAfile", "root.crt", "-verify_hostname", "anas-pc.local", "server.crt")
        #expect(verified.code == 0, "\(verified.errors)")
        let warning = try #require(context.warnings(now: now).first { $0.what.contains("older version") })
        #expect(warning.what.contains("certificate") && warning.hint?.contains("delete the folder \(root.tls)") == true)
        #expect(try TestRoot().context(at: now).warnings(now: now) == [])
    }
}
