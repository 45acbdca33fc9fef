"""Writes WARC and WACZ files for `Scripts/make-fixtures`, other scripts, and the Python tests."""
