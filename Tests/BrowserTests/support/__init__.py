"""What the tests in Python share: the program, the browser, the network that must stay silent, a reader's steps."""
