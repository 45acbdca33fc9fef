import Testing

@testable import CaptureServer

struct PreviewsTests {
    private let previews = Previews()
    private let start = SuspendingClock.now

    private func abandoned(after seconds: Int) -> [String] {
        previews.abandoned(for: .seconds(60), now: start + .seconds(seconds))
    }

    @Test func requestsKeepAPreview() {
        previews.add("a", for: "phone", now: start)
        #expect(abandoned(after: 59) == [])
        #expect(abandoned(after: 60) == ["a"])
        previews.note("a", now: start + .seconds(50))
        previews.note("another", now: start)
        #expect(abandoned(after: 109) == [])
        #expect(abandoned(after: 110) == ["a"])
        // Lists of other clients have it too.
        previews.note(["a", "b"], by: "tablet", now: start + .seconds(100))
        #expect(abandoned(after: 110) == ["a"])
        previews.note(["a", "b"], by: "phone", now: start + .seconds(100))
        #expect(abandoned(after: 159) == [])
        previews.remove("a")
        #expect(abandoned(after: 1000) == [])
    }

    @Test func responseThatIsBeingSentKeepsAPreview() {
        previews.add("a", for: "phone", now: start)
        var uses: [Previews.Presence] = [previews.use("a"), previews.use("a")]
        #expect(abandoned(after: 100_000) == [])
        uses.removeLast()
        #expect(abandoned(after: 100_000) == [])
        uses.removeLast()
        #expect(abandoned(after: 100_000) == ["a"])
    }

    @Test func eventStreamsOfItsClientKeepAPreview() {
        previews.add("a", for: "phone", now: start)
        previews.add("b", for: "tablet", now: start)
        var streams = [previews.listen(as: "phone"), previews.listen(as: "phone"), previews.listen(as: "laptop")]
        #expect(abandoned(after: 100_000) == ["b"])
        // The tablet asks for the same.
        previews.add("a", for: "tablet", now: start)
        streams.removeFirst()
        #expect(abandoned(after: 100_000) == ["b"])
        streams.removeFirst()
        #expect(abandoned(after: 100_000).sorted() == ["a", "b"])
        // Its time begins when the stream ends.
        #expect(previews.abandoned(for: .seconds(60)) == [])
        _ = streams
    }
}
