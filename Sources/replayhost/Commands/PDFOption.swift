import ArgumentParser

/// The option that lets `pdftotext` run without a sandbox.
struct PDFOption: ParsableArguments {
    @Flag(
        name: .customLong("pdf-text"),
        help: "Read the text of PDFs even if no sandbox for pdftotext works (docs/safety.md).")
    var isGiven = false
}
