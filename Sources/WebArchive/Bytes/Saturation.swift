extension FixedWidthInteger {
    /// Returns the sum, or the largest representable number on overflow.
    ///
    /// Use it to add up numbers from files or from the catalog, which may have any value.
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    /// Returns the product, or the largest representable number on overflow.
    package func multipliedSaturated(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
