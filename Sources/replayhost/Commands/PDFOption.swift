import ArgumentParser

/// The option that lets `pdftotext` run without a sandbox.
struct PDFOption: ParsableArguments {
    @Flag(
        name: .customLong("pdf-text"),
        help: """
            Run pdftotext without a sandbox if none works. A malicious PDF can then do anything that you can \
            (docs/safety.md).
            """)
    var isGiven = false
}
