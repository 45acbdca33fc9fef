import Foundation

/// How to save a URL. What is missing is chosen by the server.
public struct DownloadOptions: Sendable, Hashable, Codable {
    /// What to keep of a video.
    public enum Form: String, Sendable, Hashable, Codable, CaseIterable {
        case video, audio
    }

    /// What to save: `auto` decides by the URL.
    public enum Mode: String, Sendable, Hashable, Codable, CaseIterable {
        case auto, media, page
    }

    /// What becomes of the file.
    public enum Disposition: String, Sendable, Hashable, Codable, CaseIterable {
        /// It's kept, and its archive is in the library.
        case library
        /// It's only shown, and deleted afterwards. There is no archive.
        case preview
    }

    /// The format of the media file.
    public enum Container: String, Sendable, Hashable, Codable, CaseIterable {
        case mp4, mkv, webm, mp3, m4a, wav, flac, opus

        /// The form that the format is for.
        public var form: Form { [.mp4, .mkv, .webm].contains(self) ? .video : .audio }
    }

    /// The sample rate of extracted audio.
    public enum AudioQuality: String, Sendable, Hashable, Codable, CaseIterable {
        case hz44100 = "44.1k"
        case hz48000 = "48k"
        case hz96000 = "96k"
        /// The rate of the source, without loss.
        case lossless

        /// The sample rate in hertz; `nil` for that of the source.
        public var hertz: Int? {
            switch self {
            case .hz44100: 44_100
            case .hz48000: 48_000
            case .hz96000: 96_000
            case .lossless: nil
            }
        }
    }

    public var mode: Mode?
    public var form: Form?
    /// The maximum height of a video in pixels.
    public var height: Int?
    public var container: Container?
    public var audioQuality: AudioQuality?
    public var disposition: Disposition?
    /// The ID of the collection that the archive is added to.
    public var collection: String?

    public static let heights = 144...4320

    public init(
        mode: Mode? = nil, form: Form? = nil, height: Int? = nil, container: Container? = nil,
        audioQuality: AudioQuality? = nil, collection: String? = nil
    ) {
        (self.mode, self.form, self.height) = (mode, form, height)
        (self.container, self.audioQuality, self.collection) = (container, audioQuality, collection)
    }

    private enum CodingKeys: String, CodingKey {
        case mode, form, height, container, disposition, collection
        case audioQuality = "audio_quality"
    }

    /// What is kept: as chosen, else by the container.
    public var chosenForm: Form { form ?? container?.form ?? .video }

    /// The format: as chosen; else `mp4` for video, and `m4a` or `flac` for audio.
    public var chosenContainer: Container {
        container ?? (chosenForm == .video ? .mp4 : audioQuality == .lossless ? .flac : .m4a)
    }

    /// Whether the options limit the quality, so that a site can refuse them.
    public var limitsQuality: Bool { height != nil || audioQuality != nil || container != nil }

    /// The same without limits of the quality.
    public var withoutLimits: DownloadOptions {
        var options = self
        (options.form, options.height, options.container, options.audioQuality) = (chosenForm, nil, nil, nil)
        return options
    }

    /// Problems with values that don't fit together.
    var problems: [FieldProblem] {
        var problems: [FieldProblem] = []
        if let height, !Self.heights.contains(height) {
            problems.append(
                FieldProblem(
                    ["body", "options", "height"],
                    "Height must be from \(Self.heights.lowerBound) to \(Self.heights.upperBound)"))
        }
        if let container, let form, container.form != form {
            problems.append(
                FieldProblem(
                    ["body", "options", "container"], "\(container.rawValue) is not a format for \(form.rawValue)"))
        }
        if audioQuality == .lossless, ![nil, .flac, .wav].contains(container) {
            problems.append(
                FieldProblem(["body", "options", "audio_quality"], "Lossless audio needs the container flac or wav"))
        }
        if audioQuality != nil, chosenForm == .video {
            problems.append(FieldProblem(["body", "options", "audio_quality"], "Audio quality needs the form audio"))
        }
        if disposition == .preview, mode == .page {
            problems.append(FieldProblem(["body", "options", "disposition"], "A page can't be previewed"))
        }
        if disposition == .preview, collection != nil {
            problems.append(FieldProblem(["body", "options", "collection"], "A preview has no archive"))
        }
        if container == .opus, ![nil, .hz48000].contains(audioQuality) {
            problems.append(FieldProblem(["body", "options", "audio_quality"], "Opus audio always has 48k"))
        }
        if container == .mp3, audioQuality == .hz96000 {
            problems.append(FieldProblem(["body", "options", "audio_quality"], "MP3 audio has at most 48k"))
        }
        return problems
    }
}

extension DownloadOptions {
    /// Returns a value as compact JSON, its keys in order.
    public static func json(of value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The values are plain structures of strings and numbers, which always encode.
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
