public import CaptureAPI
public import Foundation

/// The settings of this device, with the published defaults.
public struct ShareSettings: Sendable, Hashable, Codable {
    /// The servers that this device knows.
    public var profiles: [ServerProfile] = []
    /// The one to which it sends.
    public var selectedProfile: ServerProfile.ID?

    /// Whether the queue is sent without being asked to.
    public var autoRetry = true
    /// The attempts to reach the server, until a share has failed.
    public var maxRetries = 10
    /// The seconds after which confirmed shares leave the queue.
    public var clearConfirmedAfter = 86_400
    /// Whether the queue is also sent while the app isn't open.
    public var enableBackgroundSync = true
    /// The sites that can be shared, and those below them; empty for all.
    public var allowedDomains: [String] = []
    /// The user to save for; empty for that of the key.
    public var username = ""

    /// Whether the device vibrates while a download runs.
    public var haptics = true
    /// `light`, `medium` or `heavy`.
    public var hapticsStrength = "light"
    /// Whether the progress bar is shown from the beginning.
    public var showsProgress = false
    /// Whether messages say that a download still runs.
    public var showsToasts = true
    /// When a message says that a download still runs.
    public var toastMinutes = [5, 8]
    /// The maximum height of videos in pixels; 0 for the best.
    public var height = 1080
    /// What to keep of a video.
    public var form = DownloadOptions.Form.video
    /// The format of videos.
    public var container = DownloadOptions.Container.mp4
    /// The format of audio.
    public var audioContainer = DownloadOptions.Container.m4a
    /// The sample rate of audio.
    public var audioQuality = DownloadOptions.AudioQuality.hz44100

    /// Creates the defaults.
    public init() {}

    /// What is missing, or has another type, is the default.
    public init(from decoder: any Decoder) throws {
        self.init()
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        func take<Value: Decodable>(_ key: CodingKeys, _ path: WritableKeyPath<ShareSettings, Value>) {
            if let value = (try? keys.decodeIfPresent(Value.self, forKey: key)) ?? nil { self[keyPath: path] = value }
        }
        take(.profiles, \.profiles)
        take(.selectedProfile, \.selectedProfile)
        take(.autoRetry, \.autoRetry)
        take(.maxRetries, \.maxRetries)
        take(.clearConfirmedAfter, \.clearConfirmedAfter)
        take(.enableBackgroundSync, \.enableBackgroundSync)
        take(.allowedDomains, \.allowedDomains)
        take(.username, \.username)
        take(.haptics, \.haptics)
        take(.hapticsStrength, \.hapticsStrength)
        take(.showsProgress, \.showsProgress)
        take(.showsToasts, \.showsToasts)
        take(.toastMinutes, \.toastMinutes)
        take(.height, \.height)
        take(.form, \.form)
        take(.container, \.container)
        take(.audioContainer, \.audioContainer)
        take(.audioQuality, \.audioQuality)
    }

    /// The server to which this device sends; `nil` before it's connected.
    public var profile: ServerProfile? { profiles.first { $0.id == selectedProfile } ?? profiles.first }

    /// What these settings ask of the server for a share.
    public var options: DownloadOptions {
        switch form {
        case .video:
            DownloadOptions(height: height > 0 ? height : nil, container: container == .mp4 ? nil : container)
        case .audio: audioOptions
        }
    }

    /// Without the qualities that a format doesn't have, for which the server would refuse the share.
    private var audioOptions: DownloadOptions {
        var options = DownloadOptions(form: .audio, container: audioContainer, audioQuality: audioQuality)
        switch (audioContainer, audioQuality) {
        case (.flac, .lossless), (.wav, .lossless): break
        case (_, .lossless): options.container = .flac
        case (.opus, _), (.mp3, .hz96000): options.audioQuality = .hz48000
        default: break
        }
        return options
    }

    /// Selects the server of a code. It replaces the profile of the same server.
    ///
    /// - Returns: The profile.
    public mutating func connect(_ code: ConnectionCode) -> ServerProfile {
        var profile = code.profile
        if let place = profiles.firstIndex(where: code.profile.isSameServer) {
            profile = profiles[place]
            (profile.lan, profile.wan, profile.scheme) = (code.profile.lan, code.profile.wan, code.profile.scheme)
            (profile.fingerprint, profile.usesWAN) = (code.profile.fingerprint, false)
            profiles[place] = profile
        } else {
            profiles.append(profile)
        }
        selectedProfile = profile.id
        return profile
    }
}

extension ShareSettings {
    /// The settings that a terminal has, by name.
    public var values: [(name: String, value: String)] {
        [
            ("server", profile?.name ?? ""), ("network", profile?.usesWAN == true ? "wan" : "lan"),
            ("maxRetries", "\(maxRetries)"), ("clearConfirmedAfter", "\(clearConfirmedAfter)"),
            ("allowedDomains", allowedDomains.joined(separator: ",")), ("username", username), ("height", "\(height)"),
            ("form", form.rawValue), ("container", container.rawValue), ("audioContainer", audioContainer.rawValue),
            ("audioQuality", audioQuality.rawValue),
        ]
    }

    /// Changes one of `values`.
    ///
    /// - Throws: `ShareError` `invalidSetting`.
    public mutating func set(_ name: String, to text: String) throws(ShareError) {
        let error = ShareError(.invalidSetting, "\(name) \(text)")
        func number(in range: ClosedRange<Int>) throws(ShareError) -> Int {
            guard let number = Int(text), range.contains(number) else { throw error }
            return number
        }
        func choice<Value: RawRepresentable>(
            _ type: Value.Type, where isAllowed: (Value) -> Bool = { _ in true }
        ) throws(ShareError) -> Value where Value.RawValue == String {
            guard let value = Value(rawValue: text), isAllowed(value) else { throw error }
            return value
        }
        switch name {
        case "server":
            guard let profile = profiles.first(where: { $0.name == text }) else { throw error }
            selectedProfile = profile.id
        case "network":
            guard let place = profiles.firstIndex(where: { $0.id == profile?.id }), ["lan", "wan"].contains(text),
                text == "lan" || profiles[place].wan != nil
            else { throw error }
            profiles[place].usesWAN = text == "wan"
        case "maxRetries": maxRetries = try number(in: 1...100)
        case "clearConfirmedAfter": clearConfirmedAfter = try number(in: 0...31_536_000)
        case "allowedDomains":
            allowedDomains = text.lowercased().split { $0 == "," || $0.isWhitespace }.map(String.init)
        case "username":
            guard text.isEmpty || Username(text) != nil else { throw error }
            username = text.lowercased()
        case "height": height = text == "0" ? 0 : try number(in: DownloadOptions.heights)
        case "form": form = try choice(DownloadOptions.Form.self)
        case "container": container = try choice(DownloadOptions.Container.self) { $0.form == .video }
        case "audioContainer": audioContainer = try choice(DownloadOptions.Container.self) { $0.form == .audio }
        case "audioQuality": audioQuality = try choice(DownloadOptions.AudioQuality.self)
        default: throw error
        }
    }
}

extension ShareFolder {
    private static let settingsName = "settings.json"

    /// Returns the settings; the defaults if there are none yet.
    ///
    /// - Throws: `ShareError` `storage`, also for a damaged file.
    public func settings() throws(ShareError) -> ShareSettings {
        guard let data = try read(Self.settingsName) else { return ShareSettings() }
        do {
            return try JSONDecoder().decode(ShareSettings.self, from: data)
        } catch {
            throw ShareError(.storage, "\(place(of: Self.settingsName)) is damaged; delete it, and connect again")
        }
    }

    /// Changes the settings. They are on disk when this returns.
    ///
    /// - Throws: `ShareError`.
    public func changeSettings<Value>(_ change: (inout ShareSettings) -> Value) throws(ShareError) -> Value {
        try withLock { () throws(ShareError) in
            var settings = try settings()
            let value = change(&settings)
            try write(Self.data(of: settings), to: Self.settingsName)
            return value
        }
    }

    static func data(of value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // The values are plain structures of strings and numbers, which always encode.
        return (try? encoder.encode(value)) ?? Data()
    }
}
