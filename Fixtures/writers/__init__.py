"""Writes WARC and WACZ files: `Scripts/make-fixtures`, other scripts and the tests in Python all use this package."""
