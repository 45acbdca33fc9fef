import CaptureAPI
import Foundation
import TestSupport
import Testing

@testable import ShareKit

struct SharedTextTests {
    @Test(arguments: [
        ("Look! https://example.org/a, via App", "https://example.org/a"),
        ("https://example.org/a https://example.org/b", "https://example.org/a"),
        ("HTTPS://example.org/A", "HTTPS://example.org/A"),
    ])
    func theFirstURLOfATextIsShared(text: String, url: String) throws {
        #expect(try SharedText.url(in: text).text == url)
    }

    @Test(arguments: [
        ("no URL", ShareError.Code.noURL), ("", .noURL), ("mailto:a@example.org", .noURL),
        ("javascript:alert(1)", .noURL),
        ("https://example.org/" + String(repeating: "a", count: 2029), .urlTooLong),
        ("https://user:password@example.org/", .invalidURL), ("https://", .invalidURL),
        ("https://eviltiktok.com/a", .domainNotAllowed), ("https://example.org/?tiktok.com", .domainNotAllowed),
    ])
    func whatCannotBeSharedSaysWhy(text: String, code: ShareError.Code) throws {
        let domains = code == .domainNotAllowed ? ["TikTok.com"] : []
        let error = #expect(throws: ShareError.self) { try SharedText.url(in: text, allowedDomains: domains) }
        #expect(error?.code == code)
    }

    @Test func sitesBelowAnAllowedOneAreAllowed() throws {
        #expect(
            try SharedText.url(in: "https://vm.tiktok.com/a", allowedDomains: ["tiktok.com"]).text
                == "https://vm.tiktok.com/a")
    }

    @Test(arguments: [
        ("https://example.org/a https://example.org/b", true),
        ("https://example.org/a\nand (https://example.org/b)", true),
        ("https://example.org/a, via App", false), ("https://example.org/https://example.org/b", false), ("", false),
    ])
    func textsWithSeveralURLsAreKnown(text: String, hasSeveral: Bool) {
        #expect(SharedText.hasSeveralURLs(text) == hasSeveral)
    }

    private static let fingerprint = String(repeating: "0f", count: 32)

    /// The server makes the code with `QRPayload`.
    @Test func codesOfTheServerAreRead() throws {
        let payload = QRPayload(
            fp: Self.fingerprint.uppercased(), key: "0123456789abcdef", lan: "192.168.1.5:8443", protocol: "https",
            wan: "home.example.org:8443")
        for text in [payload.text, payload.link, payload.link + "\n"] {
            let code = try ConnectionCode(text)
            #expect(code.key == "0123456789abcdef")
            #expect(code.profile.baseURL == "https://192.168.1.5:8443")
            #expect(code.profile.fingerprint == Self.fingerprint)
            var outside = code.profile
            outside.usesWAN = true
            #expect(outside.baseURL == "https://home.example.org:8443")
        }
        // As published.
        let old =
            #"{"lan":"192.168.1.119:58443","wan":"68.186.221.57:58443","protocol":"http","key":"0123456789abcdef","v":"2.0"}"#
        #expect(try ConnectionCode(old).profile.baseURL == "http://192.168.1.119:58443")
    }

    @Test(arguments: [
        ("hello", ShareError.Code.foreignCode), (#"{"lan":"a:1","protocol":"ftp","v":"2.0"}"#, .foreignCode),
        (#"{"lan":"a:1","protocol":"http"}"#, .foreignCode),
        (#"{"lan":"a:1","protocol":"http","v":"3.0"}"#, .laterCode),
        (#"{"protocol":"http","v":"2.0"}"#, .codeWithoutLAN),
        (#"{"lan":"a/b","protocol":"http","v":"2.0"}"#, .codeWithoutLAN),
        (#"{"lan":"u@a:1","protocol":"http","v":"2.0"}"#, .codeWithoutLAN),
        (#"{"lan":"a:1","protocol":"https","v":"2.0","fp":"12"}"#, .foreignCode),
        (#"{"lan":"a:1","protocol":"http","v":"2.0","key":"a b c d e f g h i j"}"#, .codeWithInvalidKey),
    ])
    func otherCodesAreRefused(text: String, code: ShareError.Code) throws {
        let error = #expect(throws: ShareError.self) { try ConnectionCode(text) }
        #expect(error?.code == code)
    }

    @Test func aNewCodeOfAServerReplacesItsProfile() throws {
        var settings = ShareSettings()
        let first = settings.connect(try ConnectionCode(#"{"lan":"10.0.0.1:1","protocol":"http","v":"2.0"}"#))
        let other = settings.connect(try ConnectionCode(#"{"lan":"10.0.0.2:1","protocol":"http","v":"2.0"}"#))
        #expect(settings.profile == other && settings.profiles.count == 2)
        let again = settings.connect(
            try ConnectionCode(#"{"lan":"10.0.0.1:1","protocol":"https","v":"2.0","fp":"\#(Self.fingerprint)"}"#))
        #expect(
            again.id == first.id && settings.profiles.count == 2 && settings.profile?.fingerprint == Self.fingerprint)
    }

    /// As published; `preferences.js` has the same.
    @Test func settingsHaveThePublishedDefaults() throws {
        let settings = try JSONDecoder().decode(ShareSettings.self, from: Data(#"{"maxRetries":"many"}"#.utf8))
        #expect(settings == ShareSettings())
        #expect(settings.autoRetry && settings.maxRetries == 10 && settings.clearConfirmedAfter == 86_400)
        #expect(settings.enableBackgroundSync && settings.haptics && settings.hapticsStrength == "light")
        #expect(!settings.showsProgress && settings.showsToasts && settings.toastMinutes == [5, 8])
        #expect(settings.options == DownloadOptions(height: 1080))
    }

    /// The server refuses other combinations: `DownloadRequest` checks them.
    @Test func theServerAcceptsTheOptionsOfAllSettings() throws {
        for form in DownloadOptions.Form.allCases {
            for container in DownloadOptions.Container.allCases {
                for quality in DownloadOptions.AudioQuality.allCases {
                    var settings = ShareSettings()
                    (settings.form, settings.audioQuality) = (form, quality)
                    if container.form == .video {
                        settings.container = container
                    } else {
                        settings.audioContainer = container
                    }
                    let options = DownloadOptions.json(of: settings.options)
                    let body = #"{"url":"https://example.org/","options":\#(options)}"#
                    #expect(throws: Never.self, "\(options)") { try DownloadRequest(json: Data(body.utf8)) }
                }
            }
        }
    }

    @Test func keysAreForTheirOwnerOnly() throws {
        let temporary = try TemporaryFolder()
        let folder = try ShareFolder(path: temporary.path)
        let secrets = FileSecretStore(folder: folder)
        let id = UUID()
        try secrets.set("secret", for: id)
        #expect(try secrets.key(for: id) == "secret")
        let mode = try FileManager.default.attributesOfItem(atPath: folder.place(of: "keys.json"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        try secrets.set(nil, for: id)
        #expect(try secrets.key(for: id) == nil)
    }

    /// FIPS 180-4 and the examples of NIST for SHA-256.
    @Test(arguments: [
        ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 1_000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
    ])
    func hashesAreThoseOfNIST(text: String, count: Int, hash: String) {
        #expect(Fingerprint.sha256(Data(String(repeating: text, count: count).utf8)) == hash)
    }

    @Test func certificatesAreReadFromPEM() {
        let certificate = Data((0..<200).map { UInt8($0) })
        let pem = Fingerprint.pem(of: certificate)
        #expect(Fingerprint.certificate(inPEM: pem) == certificate)
        #expect(Fingerprint.certificate(inPEM: pem + pem) == nil)
        #expect(Fingerprint.certificate(inPEM: "<html>") == nil)
    }

    @Test(arguments: ShareError.Code.allCases)
    func errorsSayWhatHappenedAndWhatToDo(code: ShareError.Code) {
        for language in MessageLanguage.allCases {
            let error = ShareError(code)
            #expect(!error.description(in: language).isEmpty && !error.recovery(in: language).isEmpty)
        }
        #expect(ShareError(code).description(in: .english) != ShareError(code).description(in: .japanese))
    }
}
