import Foundation
import WebArchive

/// The page that shows the photos of a post: HTML without scripts, and the text by which search finds it.
struct PhotoPage {
    private let files: PhotoAttempt.Files
    private let url: String
    private let time: CaptureTimestamp

    init(files: PhotoAttempt.Files, url: String, time: CaptureTimestamp) {
        (self.files, self.url, self.time) = (files, url, time)
    }

    /// The images with the names of their records.
    var photos: [(name: String, type: String, path: String)] {
        files.named.map { name, path in (name, MediaType.of((name as NSString).pathExtension), path) }
    }

    var html: [UInt8] {
        let title = ViewerPage.escaped(files.title)
        let images = photos.map { "<img src=\"\($0.name)\" alt=\"\">" }.joined(separator: "\n")
        let page = """
            <!doctype html>
            <html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark"><title>\(title)</title>
            <style>body{margin:0 auto;max-width:64rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif}img{display:block;max-width:100%;margin:0 auto 1rem}h1{font-size:1.3rem;line-height:1.3;margin:1rem 0 .25rem;overflow-wrap:anywhere}p{margin:.25rem 0 1rem;overflow-wrap:anywhere}.quiet{opacity:.75}</style>
            </head><body>
            \(images)
            <h1>\(title)</h1>
            <p class="quiet">\(ViewerPage.escaped(files.uploader.map { "\($0) · " } ?? ""))Saved from \(ViewerPage.escaped(url)) on \(time.rfc3339.prefix(10))</p>
            <p>\(ViewerPage.lines(files.description ?? ""))</p>
            </body></html>

            """
        return Array(page.utf8)
    }

    var text: String {
        [files.title, files.uploader, url, files.description].compactMap { $0 }.joined(separator: "\n")
    }
}
