"""Writes the manual page of a program from its help.

Arguments: the version, its date, a file with additional sections. Standard input: the JSON of
`--experimental-dump-help`. Standard output: the page, in the macros of man(7).
"""

import json
import re
import sys
import textwrap


def escaped(text):
    """Escapes text for roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def prose(text):
    """Escapes and wraps text."""
    return escaped("\n".join(textwrap.wrap(text, 76, break_long_words=False, break_on_hyphens=False)))


def key(argument):
    return argument["kind"], argument.get("preferredName", {}).get("name", argument["valueName"])


def name_of(name):
    return "-" + name["name"] if name["kind"] == "short" else "--" + name["name"]


def usage(argument):
    """Formats an argument for the synopsis."""
    if argument["kind"] == "positional":
        text = f"\\fI{escaped(argument['valueName'])}\\fR"
    else:
        text = f"\\fB{escaped(name_of(argument['preferredName']))}\\fR"
        if argument["kind"] == "option":
            text += f" \\fI{escaped(argument['valueName'])}\\fR"
    if argument["isRepeating"]:
        text += "\\ ..."
    return f"[{text}]" if argument["isOptional"] else text


def term(argument):
    """Formats an argument as the heading of its description."""
    if argument["kind"] == "positional":
        return f"\\fI{escaped(argument['valueName'])}\\fR"
    names = ", ".join(f"\\fB{escaped(name_of(name))}\\fR" for name in argument["names"])
    return names + (f" \\fI{escaped(argument['valueName'])}\\fR" if argument["kind"] == "option" else "")


def described(argument):
    text = argument.get("abstract", "")
    if argument.get("allValues"):
        text += f" One of: {', '.join(argument['allValues'])}."
    if argument.get("defaultValue") is not None and argument["kind"] == "option":
        text += f" Default: {argument['defaultValue']}."
    return prose(text)


def arguments(command, skipped):
    return [item for item in command.get("arguments", [])
            if item.get("shouldDisplay", True) and key(item) not in skipped]


def discussion(text):
    """Formats paragraphs. An indented block after "Example:" is an example."""
    for block in text.split("\n\n"):
        match = re.match(r"(Examples?):\n((?:  .*\n?)+)$", block + "\n")
        if match:
            lines = "\n".join(line[2:] for line in match[2].rstrip("\n").split("\n"))
            yield f".PP\n{match[1]}:\n.PP\n.RS 4\n.nf\n{escaped(lines)}\n.fi\n.RE"
        else:
            yield f".PP\n{prose(block)}"


def common_arguments(commands):
    """Returns the arguments that all commands have."""
    sets = [{key(item) for item in command.get("arguments", [])} for command in commands]
    return set.intersection(*sets)


def section(program, command, skipped, parents=()):
    words = [*parents, command["commandName"]]
    own = arguments(command, skipped)
    if "subcommands" in command:
        yield f".SS \"{escaped(' '.join(words))}\""
        yield prose(command.get("abstract", ""))
        yield from discussion(command["discussion"]) if command.get("discussion") else []
        for child in command["subcommands"]:
            if child["commandName"] != "help":
                yield from section(program, child, skipped, words)
        return
    yield f".SS \"{escaped(' '.join(words))}\""
    call = " ".join([f"\\fB{escaped(' '.join([program, *words]))}\\fR", *(usage(item) for item in own)])
    yield f"{call}\n.PP\n{prose(command.get('abstract', ''))}"
    if command.get("discussion"):
        yield from discussion(command["discussion"])
    for item in own:
        yield f".TP\n{term(item)}\n{described(item)}"


def main():
    version, date, rest = sys.argv[1:]
    program = json.load(sys.stdin)["command"]
    commands = [command for command in program["subcommands"]
                if command["commandName"] != "help" and command.get("shouldDisplay", True)]
    leaves = [leaf for command in commands for leaf in command.get("subcommands", [command])
              if leaf["commandName"] != "help"]
    common = common_arguments(leaves)
    shared = [item for item in leaves[0]["arguments"] if key(item) in common]
    name = program["commandName"]
    parts = [
        f'.TH {escaped(name.upper())} 1 "{date}" "replayhost {version}" "User Commands"',
        f".SH NAME\n{escaped(name)} \\- {prose(program['abstract'][0].lower() + program['abstract'][1:].rstrip('.'))}",
        f".SH SYNOPSIS\n\\fB{escaped(name)}\\fR \\fIcommand\\fR [\\fIarguments\\fR]",
        ".SH COMMANDS",
    ]
    for command in commands:
        parts += section(name, command, common)
    parts.append(".SH OPTIONS\nAll commands have these options:")
    parts += [f".TP\n{term(item)}\n{described(item)}" for item in shared]
    with open(rest, encoding="utf-8") as file:
        parts.append(file.read().rstrip("\n"))
    print("\n".join(part for part in parts if part))


main()
