import WebArchive

/// The redirects of a URL, followed as a browser does that keeps cookies.
///
/// A URL that comes a second time (a site sets a cookie, and leads from `/` to `/?c=1` and back) means the capture of it
/// that isn't a redirect. `endLoop` in `sw.js` has the same rule.
///
///     var chain = RedirectChain(request)
///     while let step = chain.next, let capture = try open(step) { chain.add(capture) }
struct RedirectChain {
    /// What to open next; `nil` if the last capture is none that leads on.
    private(set) var next: Step?
    /// The captures that lead on.
    private(set) var redirects: [OpenCapture] = []
    /// The last capture that was opened.
    private(set) var last: OpenCapture?

    struct Step {
        let request: ArchiveStore.CaptureRequest
        /// Whether only captures that aren't redirects are meant.
        let skipsRedirects: Bool
    }

    init(_ request: ArchiveStore.CaptureRequest) {
        next = Step(request: request, skipsRedirects: false)
    }

    /// Whether the redirects lead nowhere, however many were captured.
    var isEndless: Bool { next.map(\.skipsRedirects) ?? (redirects.count > HTTPMessageHead.redirectsMax) }

    /// Adds the capture that was opened for `next`.
    mutating func add(_ capture: OpenCapture) {
        last = capture
        guard let step = next, let target = capture.redirectTarget else {
            next = nil
            return
        }
        redirects.append(capture)
        guard redirects.count <= HTTPMessageHead.redirectsMax else {
            next = nil
            return
        }
        // The request may have been for another form of the URL.
        let isRepeated = target == step.request.url || redirects.contains { $0.entry.url == target }
        next = Step(
            request: .init(url: target, time: capture.time ?? step.request.time), skipsRedirects: isRepeated)
    }
}
