import ArchiveStore
import CaptureTLS
import Foundation
import TestSupport
import Testing
import X509

struct CertificateAuthorityTests {
    @Test func rootIsKeptAndOnlyItsOwnerReadsTheFiles() throws {
        let root = try TestRoot()
        let first = try root.context()
        let before = try root.text("root.crt")
        let second = try root.context(at: someTime + days(400))
        #expect(try root.text("root.crt") == before)
        #expect(first.fingerprint == second.fingerprint)
        #expect(names(in: root.tls) == ["root.crt", "root.key", "server.crt", "server.key"])
        for (path, mode) in [(root.tls, 0o700), (root.path("root.key"), 0o600), (root.path("server.key"), 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
        }
    }

    @Test func twoInstallationsHaveDifferentRoots() throws {
        let (one, other) = (try TestRoot(), try TestRoot())
        #expect(try one.context().fingerprint != other.context().fingerprint)
        #expect(try one.certificate("root.crt").subject != other.certificate("root.crt").subject)
    }

    /// Ten calendar years, with an hour for clocks that are late.
    @Test func rootIsValidForTenYears() throws {
        let root = try TestRoot()
        _ = try root.context()
        let certificate = try root.certificate("root.crt")
        #expect(certificate.notValidBefore == someTime - 3600)
        // date -u -d '2036-11-20 11:00:00' +%s
        #expect(certificate.notValidAfter == Date(timeIntervalSince1970: 2_110_791_600))
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]?
        let what: String
        var testDescription: String { "\(name): \(what)" }
    }

    @Test(arguments: [
        Damage(name: "root.key", bytes: nil, what: "this file of the root is missing"),
        Damage(name: "root.crt", bytes: nil, what: "this file of the root is missing"),
        Damage(name: "root.key", bytes: Array("x".utf8), what: "the root's private key can't be read"),
        Damage(name: "root.crt", bytes: [], what: "this file isn't in PEM format"),
        Damage(
            name: "root.crt", bytes: Array("-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n".utf8),
            what: "a certificate in this file can't be read"),
        Damage(
            name: "root.crt", bytes: Array("-----BEGIN CERTIFICATE-----\n".utf8), what: "this PEM file is damaged"),
    ])
    func damagedRootIsAnErrorAndStaysAsItIs(_ damage: Damage) throws {
        let root = try TestRoot()
        _ = try root.context()
        if let bytes = damage.bytes {
            try Data(bytes).write(to: URL(fileURLWithPath: root.path(damage.name)))
        } else {
            try FileManager.default.removeItem(atPath: root.path(damage.name))
        }
        let before = try names(in: root.tls).map { try root.text($0) }
        let error = try #require(throws: StoreError.self) { try root.context() }
        #expect(error.what.hasPrefix(damage.what), "\(error)")
        #expect(error.place == root.path(damage.name))
        #expect(error.hint?.contains("delete the folder \(root.tls) to make a new root") == true)
        #expect(try names(in: root.tls).map { try root.text($0) } == before)
    }

    @Test func keyOfAnotherRootIsAnError() throws {
        let (root, other) = (try TestRoot(), try TestRoot())
        _ = try (root.context(), other.context())
        try Data(other.text("root.key")).write(to: URL(fileURLWithPath: root.path("root.key")))
        let error = try #require(throws: StoreError.self) { try root.context() }
        #expect(error.what == "this private key doesn't belong to root.crt")
    }

    /// As the message says: without the folder, there is a new root.
    @Test func newRootAfterTheFolderWasDeleted() throws {
        let root = try TestRoot()
        let before = try root.context().fingerprint
        try FileManager.default.removeItem(atPath: root.tls)
        #expect(try root.context().fingerprint != before)
    }

    @Test func interruptedFirstStartIsRepeated() throws {
        let root = try TestRoot()
        try root.folder.write("x", to: "capture/tls.new/root.key")
        try FileManager.default.createDirectory(atPath: root.tls, withIntermediateDirectories: true)
        _ = try root.context()
        #expect(names(in: root.folder.path("capture")) == ["tls"])
    }

    @Test func expiredRootAndWrongClockAreErrors() throws {
        let root = try TestRoot()
        _ = try root.context()
        let late = try #require(throws: StoreError.self) { try root.context(at: someTime + days(3660)) }
        #expect(late.what == "the root certificate has expired on 2036-11-20")
        #expect(late.hint?.contains("delete the folder") == true)
        let early = try #require(throws: StoreError.self) { try root.context(at: someTime - days(2)) }
        #expect(
            early.what.hasPrefix(
                "the root certificate is valid from 2026-11-20, but this computer's clock shows 2026-11-18"))
        #expect(early.hint == "set the clock")
    }

    @Test func rootThatEndsSoonIsAWarning() throws {
        let root = try TestRoot()
        #expect(try root.context().warnings(now: someTime) == [])
        let late = someTime + days(3652 - 60)
        let context = try root.context(at: late)
        #expect(context.warnings(now: late).map(\.what) == ["the root certificate expires on 2036-11-20"])
        // The server's certificate doesn't outlast the root, and isn't made again at each start.
        let before = try root.text("server.crt")
        #expect(context.endsAt <= someTime + days(3653))
        _ = try root.context(at: someTime + days(3652 - 10))
        let made = try root.text("server.crt")
        _ = try root.context(at: someTime + days(3652 - 9))
        #expect(try root.text("server.crt") == made)
        #expect(before == made)
    }

    @Test func readableKeyIsAWarningAndMadePrivate() throws {
        let root = try TestRoot()
        _ = try root.context()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: root.path("root.key"))
        let warnings = try root.context().warnings(now: someTime)
        #expect(warnings.count == 1 && warnings[0].what.contains("could read the root's key"))
        let attributes = try FileManager.default.attributesOfItem(atPath: root.path("root.key"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func nameThatTheRootDoesNotPermitIsAWarning() throws {
        let root = try TestRoot()
        _ = try root.context()
        let more = ServerNames(
            hostName: "anas-pc", names: ["save.home.example", "new.example.net", "app", "a b"],
            addresses: ["192.168.1.119", "93.184.216.34"])
        let context = try root.context(more)
        let warnings = context.warnings(now: someTime)
        #expect(warnings.count == 4)
        #expect(warnings[0].what.hasPrefix("“app” can't be in a certificate"))
        #expect(warnings[1].what.hasPrefix("“a b” can't be in a certificate"))
        #expect(warnings[2].what == "the root doesn't permit new.example.net, so clients can't connect by this name")
        #expect(warnings[2].hint?.contains("delete the folder \(root.tls)") == true)
        #expect(warnings[3].what == "the certificate is for private IP addresses only, not for 93.184.216.34")
        let names = try root.certificate("server.crt").extensions.subjectAlternativeNames
        #expect(!"\(names.map(Array.init) ?? [])".contains("new.example.net"))
    }
}

struct ServerCertificateTests {
    @Test func otherAddressMakesANewCertificateByTheSameRoot() throws {
        let root = try TestRoot()
        let fingerprint = try root.context().fingerprint
        let first = try root.text("server.crt")
        _ = try root.context(at: someTime + days(1))
        #expect(try root.text("server.crt") == first)
        let moved = ServerNames(hostName: "anas-pc", names: ["save.home.example"], addresses: ["192.168.1.120"])
        #expect(try root.context(moved).fingerprint == fingerprint)
        #expect(try root.text("server.crt") != first)
        let certificate = try root.certificate("root.crt")
        let server = try root.certificate("server.crt")
        #expect(certificate.publicKey.isValidSignature(server.signature, for: server))
    }

    @Test func newCertificate29DaysBeforeTheEnd() throws {
        let root = try TestRoot()
        let end = try root.context().endsAt
        let first = try root.text("server.crt")
        _ = try root.context(at: end - days(31))
        #expect(try root.text("server.crt") == first)
        _ = try root.context(at: end - days(29))
        #expect(try root.text("server.crt") != first)
    }

    @Test func certificateByAnotherRootIsReplaced() throws {
        let (root, other) = (try TestRoot(), try TestRoot())
        _ = try (root.context(), other.context())
        for name in ["server.crt", "server.key"] {
            try Data(other.text(name)).write(to: URL(fileURLWithPath: root.path(name)))
        }
        _ = try root.context()
        #expect(try root.text("server.crt") != other.text("server.crt"))
    }

    @Test(arguments: ["server.crt", "server.key"])
    func damagedFilesAreReplaced(name: String) throws {
        let root = try TestRoot()
        _ = try root.context()
        let first = try root.text("server.crt")
        try Data("x".utf8).write(to: URL(fileURLWithPath: root.path(name)))
        _ = try root.context()
        #expect(try root.text("server.crt") != first)
    }

    /// https://support.apple.com/en-us/103769: at most 398 days, SHA-2, alternative names, `serverAuth`.
    @Test func certificateMeetsTheRequirementsOfApple() throws {
        let root = try TestRoot()
        _ = try root.context()
        let server = try root.certificate("server.crt")
        #expect(server.notValidAfter.timeIntervalSince(server.notValidBefore) <= days(398))
        #expect(server.notValidBefore <= someTime)
        #expect(server.signatureAlgorithm == .ecdsaWithSHA256)
        #expect(try server.extensions.extendedKeyUsage?.contains(.serverAuth) == true)
        #expect(try server.extensions.subjectAlternativeNames?.isEmpty == false)
        #expect(server.publicKey.description.contains("P256"))
    }
}

struct ServerNamesTests {
    @Test func namesAreLowerCaseAndComeOnce() {
        let names = ServerNames(
            hostName: "Pi-4.lan", names: ["Example.ORG.", "example.org", "10.0.0.7"], addresses: ["10.0.0.7", "junk"])
        #expect(names.dnsNames == ["example.org", "localhost", "pi-4.lan", "pi-4.local"])
        #expect(names.addresses.map(\.description) == ["10.0.0.7", "127.0.0.1", "::1"])
        #expect(names.invalid == [])
    }

    /// A root that permits `app` would permit all of .app.
    @Test(arguments: [
        ("app", ["app.local", "localhost"]), ("xn--p1ai", ["localhost", "xn--p1ai.local"]),
        ("anas-pc", ["anas-pc", "anas-pc.local", "localhost"]), ("", ["localhost"]), ("bad_name", ["localhost"]),
        ("localhost", ["localhost"]),
    ])
    func wordThatCouldBeATopLevelDomainIsUsedBelowLocalOnly(hostName: String, expected: [String]) {
        #expect(ServerNames(hostName: hostName).dnsNames == expected)
    }
}
