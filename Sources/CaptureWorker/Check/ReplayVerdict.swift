import Foundation

/// What was seen when an archive was replayed, in comparison with what was recorded.
package struct ReplayVerdict: Sendable, Hashable {
    /// The share of words that the recorded and the replayed text have in common, from 0 to 1; `nil` if neither has any.
    package var sameWords: Double?
    /// The URLs that the replayed page requested.
    package var requested = 0
    /// Those that the archive doesn't have, although the site had them.
    package var missing = 0
    /// Whether the media play; `nil` if there are none.
    package var plays: Bool?
    /// Photos of a post; `nil` if there are none.
    package var photos: Photos?
    /// Whether the replayed pages appeared.
    package var isShown = true
    /// Whether a page's document ended too early when it was recorded.
    package var isCut = false

    package struct Photos: Sendable, Hashable, Decodable {
        package var shown: Int
        package var all: Int
    }

    /// Adds what was seen on another page of the archive.
    package mutating func add(_ other: ReplayVerdict) {
        isShown = isShown && other.isShown
        isCut = isCut || other.isCut
        sameWords = sameWords ?? other.sameWords
        requested += other.requested
        missing += other.missing
        plays = plays ?? other.plays
        photos = photos ?? other.photos
    }

    /// With fewer words or files than this, an archive doesn't count as replaying.
    private static let shareMin = 0.9
    /// A clock or a counter in the page is no difference.
    private static let sameTextMin = 0.995

    package var isSame: Bool {
        let hasPhotos = photos.map { $0.shown == $0.all } ?? true
        return isShown && hasPhotos && plays != false && (sameWords ?? 1) >= Self.shareMin
            && Double(requested - missing) >= Double(requested) * Self.shareMin
    }

    /// Whether there is nothing that could be compared, besides that there is a document.
    private var isEmpty: Bool { sameWords == nil && requested <= 1 && plays == nil && photos == nil }

    /// A sentence for people: `Replays: same text, 148 of 150 files`.
    package var sentence: String {
        if isEmpty, isShown { return "Not checked: the page has no text and no files" }
        var parts = isShown ? [] : ["the page isn't shown"]
        if let plays { parts.append(plays ? "the media file plays" : "the media file doesn't play") }
        if let photos { parts.append("\(photos.shown) of \(photos.all) photos") }
        if let sameWords {
            parts.append(
                sameWords >= Self.sameTextMin ? "same text" : "\(Int(sameWords * 100))% of the words are the same")
        }
        if requested > 0 { parts.append("\(requested - missing) of \(requested) files") }
        let result = isSame ? isCut ? "Replays, as far as it was saved" : "Replays" : "Differs"
        return result + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
    }

    /// Returns the share of words that two texts have in common, whatever their order; `nil` if both are empty.
    package static func sameWords(_ recorded: String, _ replayed: String) -> Double? {
        let (first, second) = (words(recorded), words(replayed))
        let count = max(first.count, second.count)
        guard count > 0 else { return nil }
        var numbers: [Substring: Int] = [:]
        for word in first { numbers[word, default: 0] += 1 }
        var same = 0
        for word in second {
            guard let left = numbers[word], left > 0 else { continue }
            numbers[word] = left - 1
            same += 1
        }
        return Double(same) / Double(count)
    }

    private static func words(_ text: String) -> [Substring] { text.split { $0.isWhitespace || $0.isNewline } }
}
