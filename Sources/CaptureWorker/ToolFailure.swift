/// Why an attempt failed.
package struct ToolFailure: Error, Sendable, Hashable, Codable {
    /// The kind of failure, `error_code` of a download.
    package enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        case notFound = "not_found"
        case isPrivate = "private"
        case removed
        case loginRequired = "login_required"
        case geoBlocked = "geo_blocked"
        /// No tool knows the site.
        case unsupported
        /// It's a post without a video, such as one of photos.
        case noVideo = "no_video"
        /// It's a page, without a medium.
        case page = "page_unsupported"
        case live
        case playlist
        case tooLarge = "too_large"
        /// It takes longer than the configuration allows.
        case tooSlow = "too_slow"
        case drm
        /// The site refuses the wanted quality.
        case quality
        case rateLimited = "rate_limited"
        case network
        /// The guard doesn't let the host or the port through.
        case refused = "host_refused"
        case toolFailed = "tool_failed"
        case toolMissing = "tool_missing"
        /// The browser's own sandbox can't run on this computer.
        case sandbox = "sandbox_unavailable"
        /// The tool reported success, but left no file.
        case noFile = "no_file"
        /// The file can't be read or isn't what it should be.
        case damaged
        case diskFull = "disk_full"
        /// The store or the folder for files can't be used now.
        case storage = "storage_unavailable"
        /// The attempt said nothing for too long.
        case silent = "timeout"
        /// The processes of the attempt died.
        case aborted

        /// Whether another attempt can help.
        package var isTransient: Bool {
            [.rateLimited, .network, .diskFull, .toolMissing, .storage, .silent, .aborted].contains(self)
        }
    }

    package let code: Code
    /// What happened, for people; a tool's own line if there is one.
    package private(set) var message: String
    /// After how many seconds the site can be asked again, if it said so.
    package var retryAfterSeconds: Int?
    /// Whether it's a part of yt-dlp for one site that failed, which a newer version may mend.
    package var isOfExtractor = false

    package init(_ code: Code, _ message: String, retryAfterSeconds: Int? = nil) {
        (self.code, self.message, self.retryAfterSeconds) = (code, message, retryAfterSeconds)
    }

    /// The failure of a tool that isn't installed. It waits until it is.
    static func missing(_ tool: Toolbox.Tool) -> ToolFailure {
        ToolFailure(.toolMissing, "\(tool.rawValue) isn't installed; \(tool.remedy)")
    }

    /// Returns the same failure with another message.
    package func saying(_ message: String) -> ToolFailure {
        var failure = self
        failure.message = message
        return failure
    }
}
