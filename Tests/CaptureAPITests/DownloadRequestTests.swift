import Foundation
import Testing

@testable import CaptureAPI

/// Bodies are those of the published documents, or differ from them in one place.
struct DownloadRequestTests {
    private func request(_ json: String) throws -> DownloadRequest { try DownloadRequest(json: Data(json.utf8)) }

    private func problems(_ json: String) -> [FieldProblem] {
        do {
            _ = try request(json)
            return []
        } catch let DownloadRequest.Refusal.invalid(problems, _) {
            return problems
        } catch {
            return [FieldProblem([], "\(error)")]
        }
    }

    @Test func olderClientIsKnownByItsTimestamp() throws {
        let older = try request(
            #"{"url":"https://tiktok.com/@user/video/123","client_id":"A1B2C3D4-E5F6","timestamp":1234567890}"#)
        #expect(older.isFromOlderClient)
        #expect(older.clientID == "A1B2C3D4-E5F6")
        #expect(older.username.text == "defaultuser")
        #expect(
            try !request(#"{"url":"https://tiktok.com/@user/video/123","timestamp":"1234567890"}"#).isFromOlderClient)
    }

    @Test func laterClientsSendUsernames() throws {
        let v2 = try request(
            #"{"url":"https://tiktok.com/@user/video/123","username":"John","client_id":"c","other":[1]}"#)
        #expect(v2.username.text == "john")
        #expect(!v2.isFromOlderClient)
    }

    @Test func optionsAreRead() throws {
        let options = try request(
            #"{"url":"https://example.org/a","options":{"form":"audio","container":"mp3","audio_quality":"48k","x":1}}"#
        ).options
        #expect(options == DownloadOptions(form: .audio, container: .mp3, audioQuality: .hz48000))
        #expect(
            try request(#"{"url":"https://example.org/a","options":{"disposition":"library"}}"#).options
                == DownloadOptions())
        let preview = try request(#"{"url":"https://example.org/a","options":{"disposition":"preview","height":720}}"#)
        #expect(preview.options.disposition == .preview)
        // Also if the site refuses the quality.
        #expect(preview.options.withoutLimits.disposition == .preview)
        #expect(preview.options.withoutLimits.height == nil)
        #expect(
            try request(#"{"url":"https://example.org/a","options":null,"username":null}"#).options == DownloadOptions()
        )
    }

    @Test(arguments: [
        ("https://a.example/film ", "https://a.example/film"),
        ("\n https://a.example/film\r\n", "https://a.example/film"),
        ("Look! https://a.example/film via App", "https://a.example/film"),
        ("Ebb (see https://a.example/b_(c)).", "https://a.example/b_(c)"),
        ("見て「https://a.example/映画」。", "https://a.example/映画"), ("HTTPS://A.example/x, twice", "HTTPS://A.example/x"),
        ("https://a.example/one\nhttps://b.example/two", "https://a.example/one"),
        ("https://a.example/fi\nlm", "https://a.example/fi"), ("“https://a.example/x”…", "https://a.example/x"),
        ("[https://a.example/x]", "https://a.example/x"),
        ("at https://a.example/q?a=[b]!", "https://a.example/q?a=[b]"),
        // A URL by itself stays as it is.
        ("https://a.example/q!", "https://a.example/q!"),
    ])
    func firstURLOfASharedTextIsMeant(_ text: String, _ expected: String) throws {
        let json = try JSONSerialization.data(withJSONObject: ["url": text])
        #expect(try DownloadRequest(json: json).url.text == expected)
    }

    @Test(arguments: [
        "no URL", "ftp://a.example/x", "see mailto:a@b.example", "https://", "text https://a:b@c.example/ end",
        "x http://a.example/fi\u{202E}lm", "https://a.example/\0film", "http://a. b",
        "https://a.example/<b>film</b>", "https://a.example/<img src=x> here",
    ])
    func textWithoutAURLIsRefused(_ text: String) throws {
        let json = try JSONSerialization.data(withJSONObject: ["url": text])
        #expect(throws: DownloadRequest.Refusal.self) { try DownloadRequest(json: json) }
    }

    @Test func publishedMessagesAreUsed() {
        #expect(
            problems(#"{"url":"https://example.org/a","username":"a b"}"#) == [
                FieldProblem(["body", "username"], "Username must be alphanumeric (letters and numbers only)")
            ])
        #expect(problems(#"{"url":"file:///etc/passwd"}"#) == [FieldProblem(["body", "url"], "Invalid URL format")])
    }

    @Test(arguments: [
        (#"{}"#, "url"), (#"{"url":null}"#, "url"), (#"{"url":7}"#, "url"),
        (#"{"url":["https://example.org/a"]}"#, "url"),
        (#"{"url":"https://example.org/a","username":7}"#, "username"),
        (#"{"url":"https://example.org/a","client_id":{}}"#, "client_id"),
        (#"{"url":"https://example.org/a","options":[]}"#, "options"),
        (#"{"url":"https://example.org/a","options":{"disposition":"private"}}"#, "disposition"),
        (#"{"url":"https://example.org/a","options":{"disposition":"preview","mode":"page"}}"#, "disposition"),
        (#"{"url":"https://example.org/a","options":{"disposition":"preview","collection":"a"}}"#, "collection"),
        (#"{"url":"https://example.org/a","options":{"collection":7}}"#, "collection"),
        (#"{"url":"https://example.org/a","options":{"height":"720"}}"#, "height"),
        (#"{"url":"https://example.org/a","options":{"height":720.5}}"#, "options"),
        (#"{"url":"https://example.org/a","options":{"height":143}}"#, "height"),
        (#"{"url":"https://example.org/a","options":{"height":4321}}"#, "height"),
        (#"{"url":"https://example.org/a","options":{"container":"exe"}}"#, "container"),
        (#"{"url":"https://example.org/a","options":{"form":"audio","container":"mp4"}}"#, "container"),
        (#"{"url":"https://example.org/a","options":{"audio_quality":"48k"}}"#, "audio_quality"),
        (
            #"{"url":"https://example.org/a","options":{"form":"audio","container":"mp3","audio_quality":"lossless"}}"#,
            "audio_quality"
        ),
        (
            #"{"url":"https://example.org/a","options":{"form":"audio","container":"opus","audio_quality":"44.1k"}}"#,
            "audio_quality"
        ),
    ])
    func eachProblemNamesItsKey(_ json: String, _ key: String) {
        let found = problems(json)
        #expect(found.first?.loc.first == "body")
        #expect(found.first?.loc.contains(key) == true, "\(found)")
    }

    @Test(arguments: ["", "null", "[]", "{", "\"x\"", "{\"url\":\"https://example.org/a\"}}"])
    func otherBodiesAreNoJSON(_ json: String) {
        #expect(throws: DownloadRequest.Refusal.notJSON) { try request(json) }
    }

    @Test func defaultsFollowTheForm() {
        #expect(DownloadOptions().chosenContainer == .mp4)
        #expect(DownloadOptions(form: .audio).chosenContainer == .m4a)
        #expect(DownloadOptions(form: .audio, audioQuality: .lossless).chosenContainer == .flac)
        #expect(DownloadOptions(container: .mp3).chosenForm == .audio)
    }
}
