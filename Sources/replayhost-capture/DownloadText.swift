import CaptureAPI
import CommandSupport

/// Downloads as text for the terminal.
enum DownloadText {
    /// One line: what it is, and how far.
    static func line(_ download: Download) -> String {
        "\(download.title ?? download.url): \(state(download))"
    }

    static func state(_ download: Download) -> String {
        switch download.state {
        case .queued: return waiting(download)
        case .started: return "starting"
        case .downloading: return downloading(download)
        case .previewReady: return "preview ready"
        case .completed: return completed(download)
        case .cancelled: return "cancelled"
        case .failed, .abortedBySystem:
            return "failed: \(download.errorMessage ?? download.errorCode ?? "unknown reason")"
        }
    }

    private static func completed(_ download: Download) -> String {
        let state = download.qualityFallback ? "completed, in the default quality" : "completed"
        return ([state] + [download.incomplete, download.replayCheck].compactMap { $0 }).joined(separator: "; ")
    }

    private static func waiting(_ download: Download) -> String {
        switch download.waitingFor {
        case .tool: "waits for a missing tool"
        case .disk: "waits for free space"
        case .paused: "waits until the queue is resumed"
        case .retry: "tries again at \(download.notBefore ?? "once")"
        case .site: "waits until \(download.notBefore ?? "later"), as the site asks"
        case .limit: "waits until \(download.notBefore ?? "later"), because of the hourly limit"
        case nil: "queued"
        }
    }

    private static func downloading(_ download: Download) -> String {
        switch download.stage {
        case .analysing, nil: return "analysing"
        case .fetching:
            guard let progress = download.progress else { return "fetching" }
            let amount = progress.percent.map { "\(Int($0))% of \(Terminal.size(progress.total ?? 0))" }
            return "fetching, \(amount ?? Terminal.size(progress.bytes))"
        case .merging: return "merging"
        case .checking: return "checking"
        case .storing: return "storing"
        }
    }
}
