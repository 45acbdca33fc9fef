"""The arguments that a fake tool was started with."""


class Arguments:
    def __init__(self, given):
        end = given.index("--") if "--" in given else len(given)
        self.options, self.rest = given[:end], given[end + 1:]

    def values(self, *names):
        """Each value of an option: `--name VALUE`, `--name=VALUE`, `-nVALUE`."""
        found = []
        for number, option in enumerate(self.options):
            for name in names:
                if option == name and number + 1 < len(self.options):
                    found.append(self.options[number + 1])
                elif name.startswith("--") and option.startswith(name + "="):
                    found.append(option[len(name) + 1:])
                elif not name.startswith("--") and len(name) == 2 and option.startswith(name) and len(option) > 2:
                    if not option.startswith("--"):
                        found.append(option[2:])
        return found

    def value(self, *names, default=None):
        return (self.values(*names) or [default])[-1]

    def has(self, *names):
        return any(option in names for option in self.options)

    def pairs(self, name):
        """Each pair of values of an option that takes two."""
        return [tuple(self.options[number + 1:number + 3]) for number, option in enumerate(self.options) if option == name]
