import Testing

@testable import CaptureWorker

@Suite struct ReplayVerdictTests {
    @Test(
        arguments: [
            ("", "", nil), ("one two", "two one", 1), ("one two", "", 0), ("", "one", 0),
            ("ebb ebb flow flow", "ebb flow", 0.5), ("one two three four", "one two three four five", 0.8),
            ("  café\n\tau  lait ", "café au lait", 1),
        ] as [(String, String, Double?)])
    func sharesOfWords(recorded: String, replayed: String, share: Double?) {
        #expect(ReplayVerdict.sameWords(recorded, replayed) == share)
    }

    @Test(arguments: [
        (ReplayVerdict(sameWords: 1, requested: 150, missing: 2), "Replays: same text, 148 of 150 files"),
        (ReplayVerdict(sameWords: 0.999, requested: 1), "Replays: same text, 1 of 1 files"),
        (
            ReplayVerdict(sameWords: 0.97, requested: 10, missing: 1),
            "Replays: 97% of the words are the same, 9 of 10 files"
        ),
        (
            ReplayVerdict(sameWords: 0.5, requested: 10),
            "Differs: 50% of the words are the same, 10 of 10 files"
        ),
        (ReplayVerdict(sameWords: 1, requested: 10, missing: 2), "Differs: same text, 8 of 10 files"),
        (ReplayVerdict(requested: 4), "Replays: 4 of 4 files"),
        (ReplayVerdict(plays: true), "Replays: the media file plays"),
        (ReplayVerdict(), "Not checked: the page has no text and no files"),
        (ReplayVerdict(isShown: false), "Differs: the page isn't shown"),
        (ReplayVerdict(sameWords: 1, isCut: true), "Replays, as far as it was saved: same text"),
        (ReplayVerdict(sameWords: 0.5, isCut: true), "Differs: 50% of the words are the same"),
        (ReplayVerdict(plays: false), "Differs: the media file doesn't play"),
    ])
    func sentences(verdict: ReplayVerdict, sentence: String) {
        #expect(verdict.sentence == sentence)
    }

    @Test func mediumAndPageTogether() {
        var verdict = ReplayVerdict(plays: true)
        verdict.add(ReplayVerdict(sameWords: 1, requested: 3))
        #expect(verdict.sentence == "Replays: the media file plays, same text, 3 of 3 files")
        verdict.isShown = false
        #expect(verdict.sentence.hasPrefix("Differs: the page isn't shown, "))
    }

    @Test(
        arguments: [
            (
                "http://sample.replayhost.localhost:8080/sample-0123456789ab/20240503101500mp_/https://a.example/b?c#d",
                "https://a.example/b?c"
            ),
            ("http://localhost:13949/sample-0123456789ab/:x-1/im_/http://a.example/", "http://a.example/"),
            ("http://localhost:13949/sample-0123456789ab/20240503101500js_///a.example/b", "https://a.example/b"),
            ("http://localhost:8080/app/main.js", nil), ("http://sample.replayhost.localhost:8080/?replay=ranges", nil),
            ("https://a.example/", nil), ("http://localhost/sample-0123456789ab/mp_/javascript:void(0)", nil),
        ] as [(String, String?)])
    func capturedURLs(request: String, captured: String?) {
        #expect(ReplayWatch.capturedURL(request) == captured)
    }
}
