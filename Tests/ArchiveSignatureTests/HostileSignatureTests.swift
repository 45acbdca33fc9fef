import ArchiveSignature
import Crypto
import Foundation
import TestSupport
import Testing
import WebArchive

/// Signatures that try to use much time or memory, or to crash the verifier.
struct HostileSignatureTests {
    /// A signature, and a code of its findings.
    struct Hostile {
        let name: String
        let file: [UInt8]
        let code: String

        init(_ name: String, _ code: String, _ change: (inout SignedDigest) throws -> Void) rethrows {
            var digest = SignedDigest(signer: "p256")
            try change(&digest)
            self.init(name, code, file: digest.file)
        }

        init(_ name: String, _ code: String, file: [UInt8]) {
            self.name = name
            self.code = code
            self.file = file
        }
    }

    private static func all() throws -> [Hostile] {
        try certificates() + paths() + [
            Hostile("ASN.1 with 1,000 levels as stamp", "stamp-unreadable") {
                $0["timeSignature"] = Data(DERText.nested(1000)).base64EncodedString()
            },
            Hostile("stamp with 120 kB of empty nodes", "stamp-unreadable") {
                let nodes = [UInt8](repeating: 0, count: 120 << 10).enumerated().map {
                    $0.offset % 2 == 0 ? 5 : $0.element
                }
                $0["timeSignature"] = Data(DERText.node(0x30, nodes)).base64EncodedString()
            },
            Hostile("stamp with 700 kB", "stamp-unreadable") {
                $0["timeSignature"] = Data(DERText.node(0x04, [UInt8](repeating: 0, count: 700 << 10)))
                    .base64EncodedString()
            },
            Hostile("signature with 700 kB", "too-large") {
                $0["signature"] = Data(count: 700 << 10).base64EncodedString()
            },
            Hostile("file with 2 MB", "file-unreadable", file: [UInt8](repeating: 0x20, count: 2 << 20)),
            Hostile(
                "JSON with 100,000 levels", "file-unreadable", file: Array(String(repeating: "[", count: 100_000).utf8)),
            Hostile("empty file", "file-unreadable", file: []),
            // RFC 8259 §4: programs differ in which of them they take.
            Hostile("signature twice", "file-unreadable", file: Array("{\"signedData\":{},\"signedData\":{}}".utf8)),
            Hostile("key twice", "file-unreadable", file: Array("{\"signedData\":{\"a\":\"\",\"a\":\"\"}}".utf8)),
            Hostile("20,000 members", "unknown-member") {
                for number in 0..<20_000 { $0["member \(number)"] = "" }
            },
        ]
    }

    private static func certificates() throws -> [Hostile] {
        let key = P256.Signing.PrivateKey()
        let info = Array(key.publicKey.derRepresentation)
        func names(_ count: Int) throws -> String {
            let names = DERText.extension(17, DERText.sequence(DERText.names(count).flatMap { $0 }))
            return try HostileCertificate(publicKey: info, extensions: [names]).pem(signedBy: key)
        }
        func rsa(_ bits: Int, _ exponent: [UInt8]) throws -> String {
            try HostileCertificate(publicKey: DERText.rsaKey(bits: bits, exponent: exponent)).pem(signedBy: key)
        }
        return [
            try Hostile("10,000 names", "certificate-unreadable") { $0["domainCert"] = try names(10_000) },
            try Hostile("2,500 names", "domain-differs") { $0["domainCert"] = try names(2500) },
            try Hostile("RSA with 16,384 bits", "certificate-unreadable") {
                $0["domainCert"] = try rsa(16384, [1, 0, 1])
            },
            try Hostile("RSA with 8,192 bits, exponent with 1,000", "certificate-unreadable") {
                $0["domainCert"] = try rsa(8192, [UInt8](repeating: 0x7F, count: 1000))
            },
            try Hostile("RSA with 64 bits", "certificate-unreadable") { $0["domainCert"] = try rsa(64, [3]) },
            Hostile("ASN.1 with 1,000 levels as certificate", "certificate-unreadable") {
                $0["domainCert"] = HostileCertificate.pem(DERText.nested(1000))
            },
            Hostile("ASN.1 with 15,000 levels as certificate", "certificate-unreadable") {
                $0["domainCert"] = HostileCertificate.pem(DERText.nested(15_000))
            },
            Hostile("1,000 certificates", "chain-unreadable") {
                $0["domainCert"] = String(repeating: SignedDigest.part("p256.pem"), count: 500)
            },
            Hostile("1 MB of headers", "chain-unreadable") {
                $0["domainCert"] = String(repeating: "-----BEGIN CERTIFICATE-----\n", count: 30_000)
            },
            Hostile("1 MB of line feeds", "chain-unreadable") {
                $0["domainCert"] = String(repeating: "\n", count: 500_000)
            },
            Hostile("ASN.1 with 400 levels as key", "key-unreadable") {
                $0 = SignedDigest(anonymous: "p256")
                $0["publicKey"] = Data(DERText.nested(400)).base64EncodedString()
            },
        ]
    }

    private static func paths() throws -> [Hostile] {
        // Six authorities with the same name, each with a certificate from each of the others.
        let keys = (0..<6).map { _ in P256.Signing.PrivateKey() }
        let leafKey = P256.Signing.PrivateKey()
        var circles = try HostileCertificate(publicKey: Array(leafKey.publicKey.derRepresentation)).pem(
            signedBy: keys[0])
        for (position, key) in keys.enumerated() {
            for (other, issuer) in keys.enumerated() where other != position {
                circles += try HostileCertificate(
                    publicKey: Array(key.publicKey.derRepresentation), extensions: [DERText.authority]
                ).pem(signedBy: issuer)
            }
        }
        // An authority with thousands of name constraints, and a certificate with thousands of names.
        let subtrees = DERText.names(2000).map { DERText.node(0x30, $0) }.flatMap { $0 }
        let constraints = DERText.extension(30, DERText.sequence(DERText.node(0xA0, subtrees)))
        let names = DERText.extension(17, DERText.sequence(DERText.names(2500).flatMap { $0 }))
        let constrained =
            try HostileCertificate(
                subject: "Leaf", publicKey: Array(leafKey.publicKey.derRepresentation), extensions: [names]
            ).pem(signedBy: keys[0])
            + HostileCertificate(
                publicKey: Array(keys[0].publicKey.derRepresentation), extensions: [DERText.authority, constraints]
            ).pem(signedBy: keys[1])
        return [
            Hostile("authorities in circles", "untrusted") { $0["domainCert"] = circles },
            Hostile("5,000,000 comparisons of names", "untrusted") { $0["domainCert"] = constrained },
        ]
    }

    /// Verifies in a separate process, which only reads the files, to measure its memory.
    @Test func reportsNeedLittleTimeAndMemory() async throws {
        let folder = try TemporaryFolder()
        let files = try Self.all()
        for (number, hostile) in files.enumerated() { try folder.write(hostile.file, to: "\(number)") }
        let names = files.map { "\($0.code)\t\($0.name)" }.joined(separator: "\n")
        await #expect(processExitsWith: .success) { [folder = folder.path as String, names = names as String] in
            let roots = try #require(SignedDigest.roots)
            _ = SignedDigest(signer: "rsa").verify()
            let before = try peakMemory()
            var lines = ""
            for (number, line) in names.split(separator: "\n").enumerated() {
                let words = line.split(separator: "\t")
                let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(number)")))
                let start = ContinuousClock.now
                let report = SignatureVerifier(trust: roots, now: SignedDigest.later).verify(file)
                let duration = ContinuousClock.now - start
                let grown = try peakMemory() - before
                #expect(report.findings.map(\.code).contains("signature-\(words[0])"), "\(line): \(report.findings)")
                #expect(report.outcome != .valid || words[0] == "unknown-member")
                #expect(duration < .seconds(5), "\(line)")
                #expect(grown < 64 << 20 || Self.isSanitized, "\(line): \(grown) bytes")
                #expect(try JSONEncoder().encode(report).count < 64 << 10, "\(line)")
                let reason = report.findings.first { $0.code.hasSuffix(words[0]) }?.what ?? ""
                lines += "\(words[1])\t\(file.count)\t\(duration)\t\(grown >> 10) KiB\t\(report.outcome)\t\(reason)\n"
            }
            if let table = ProcessInfo.processInfo.environment["HOSTILE_SIGNATURES"] {
                try Data(lines.utf8).write(to: URL(fileURLWithPath: table))
            }
        }
    }

    /// Whether AddressSanitizer is active, which delays freeing memory.
    private static let isSanitized = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil

    private static let members = [
        "hash", "created", "signature", "domain", "domainCert", "timeSignature", "timestampCert", "crossSignedCert",
        "publicKey",
    ]

    @Test(arguments: members, ["", " ", "AAAA", "\u{0}", "ä", "sha256:", "====", "-----BEGIN CERTIFICATE-----"])
    func wrongTextsGetAMessage(member: String, text: String) {
        for signed in [SignedDigest(signer: "p256"), SignedDigest(anonymous: "p256")] {
            var digest = signed
            digest[member] = text
            let report = digest.verify()
            let isUnused = signed.members[member] == nil || member == "created" && signed.members["domain"] == nil
            // Texts in unused members can be right by chance, but never make the report valid without a finding.
            #expect(report.outcome != .valid || isUnused || member == "timestampCert", "\(report.findings)")
            #expect(report.outcome == .valid || !report.findings.isEmpty)
        }
    }

    @Test(arguments: members, ["5", "true", "[]", "{}", "[[\"a\"]]"])
    func wrongTypesGetAMessage(member: String, value: String) throws {
        var digest = SignedDigest(signer: "p256")
        digest[member] = "REPLACED"
        let file = String(decoding: digest.file, as: UTF8.self).replacingOccurrences(of: "\"REPLACED\"", with: value)
        let roots: TrustRoots = try #require(SignedDigest.roots)
        let report = SignatureVerifier(trust: roots).verify(Array(file.utf8))
        #expect(report.outcome == .unreadable || report.outcome == .invalid)
        #expect(report.findings.map(\.code).contains("signature-member-type"), "\(report.findings)")
    }

    @Test(arguments: ["5", "true", "[]", "\"text\"", "{}", "[1, 2]"])
    func signedDataOfAnotherTypeGetsAMessage(value: String) {
        let report = SignatureVerifier(trust: .empty).verify(
            Array(#"{"hash": "sha256:00", "signedData": \#(value)}"#.utf8))
        #expect(report.outcome == .unreadable && !report.findings.isEmpty)
    }

    @Test func everyMissingMemberIsNoticed() {
        for (member, outcome) in [
            ("hash", SignatureReport.Outcome.unreadable), ("signature", .unreadable), ("domain", .unreadable),
            ("domainCert", .unreadable), ("created", .unreadable), ("timeSignature", .untrusted),
        ] {
            var digest = SignedDigest(signer: "p256")
            digest.members[member] = nil
            let report = digest.verify()
            #expect(report.outcome == outcome, "\(member): \(report.findings)")
            #expect(!report.findings.isEmpty)
        }
    }
}
