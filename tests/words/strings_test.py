#!/usr/bin/env python3
"""Compares the user-visible strings of the sources with strings.txt: strings_test.py SOURCE [--update]

strings.txt lists the strings by folder and file, in the order of the source, so that a reviewer reads all words of the
program in one sitting. A value within a string is shown as "…". Strings of tests/cli/words.txt are omitted, since that
file shows them as users see them. --update writes the file; review its diff.

The test also compares the words that Python and the page repeat with those of the C++ sources (SHARED).
"""
import ast
import difflib
import os
import re
import sys
from pathlib import Path

VALUE = "…"
# A string is visible if it has two words, or a word and a value, and is neither SQL, a header nor code.
VISIBLE = re.compile(r"[A-Za-z(][\w'’).,:;-]* +\(?(?:[A-Za-z]{2}|…)|… +\(?[a-z]{2}")
CODE = re.compile(r"^\s*(SELECT|INSERT|CREATE|UPDATE|DELETE|PRAGMA|ALTER|DROP|BEGIN|WITH|WHERE|FROM|ORDER|AND|PRI) |"
                  r"[{;] *\n|=\{|^[{\[@]|^-----|^#|::|;$|^[a-z_]+: ?[\d(]|^\.|sans-serif|color-scheme|\) : |: string|"
                  r"^(text|application)/|^Bearer|^[A-Z][a-z]+(-[A-Z][a-z]+)+|SameSite|'none'|autoload|commandline|%[YH]")
# Keys of Spark's event logs.
KEY = re.compile(r"[A-Z]\w*( of| In-memory)?( [A-Z]\w*)*$")
SHELL_SAYS = re.compile(r"""\b(?:say|die|warn|echo|quit|skip) +(?:-e +)?("(?:[^"\\]|\\.)*"|'[^']*')""")
TOKEN = re.compile(r'''(?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*(?:\\\n[^\n]*)*)
  |R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"""(?P<block>.*?)"""|(?:u8)?"(?P<string>(?:[^"\\\n]|\\.)*)"
  |(?P<other>'(?:[^'\\\n]|\\.)+'|\d[\w.']*|[A-Za-z_]\w*|<<|>>|->|::|[-+*/%|&^=!<>]=|&&|\|\||\S)''', re.X | re.S | re.M)
JOINS = ("+", "<<")
SEPARATORS = (",", ";", "?", ":", "=", "+=", "==", "!=", "&&", "||", "return", "throw", "case", "else", "->")
CONCATENATE = ("StrCat", "StrAppend")
ATTRIBUTES = re.compile(r"\s*\b(class|id|key|type|scope|dir|role|href|d|viewBox|name|look|rel|content|src)="
                        r"(\"[^\"]*\"|\{`[^`]*`\}|\{[^{}]*\})")


class Literal(str):
    pass


def tree_of(text):
    """Returns the tokens of C++ or Java. A list stands for brackets with their content."""
    stack = [[]]
    for match in TOKEN.finditer(text):
        kinds = match.groupdict()
        literal = next((kinds[kind] for kind in ("raw", "block", "string") if kinds[kind] is not None), None)
        if literal is not None:
            stack[-1].append(Literal(literal if kinds["raw"] is not None else unescaped(literal)))
        elif kinds["other"] in ("(", "[", "{"):
            stack.append([])
        elif kinds["other"] in (")", "]", "}") and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(inner)
        elif kinds["other"]:
            stack[-1].append(kinds["other"])
    return stack[0]


def unescaped(text):
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": " ", "r": ""}.get(found[1], found[1]), text)


def strings_of(tree, joins_arguments=False):
    """Yields the strings of the tokens, with the literals of a concatenation joined."""
    pieces = []
    for i, token in enumerate([*tree, ";"]):
        if isinstance(token, list):
            yield from strings_of(token, bool(i) and tree[i - 1] in CONCATENATE)
        if isinstance(token, Literal):
            pieces.append(token)
        elif not isinstance(token, list) and token in SEPARATORS and not (joins_arguments and token == ","):
            if any(isinstance(piece, Literal) for piece in pieces):
                yield "".join(piece if isinstance(piece, Literal) else VALUE for piece in pieces)
            pieces = []
        elif isinstance(token, list) or token not in (*JOINS, ","):
            pieces.append(None)


def placeholders(text):
    return re.sub(r"\{(:[^{}]*)?\}", VALUE, text)


def of_python(text):
    """Yields the strings of Python except docstrings."""
    def text_of(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.JoinedStr):
            return "".join(map(text_of, node.values))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return text_of(node.left) + text_of(node.right)
        return VALUE

    def visit(node):
        found = text_of(node)
        if found.strip(VALUE):
            yield found
            parts = [part.value for part in ast.walk(node) if isinstance(part, ast.FormattedValue)]
        else:
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            parts = [] if is_text else ast.iter_child_nodes(node)
        for part in parts:
            yield from visit(part)

    yield from visit(ast.parse(text))


def of_page(text):
    """Yields the texts, the templates and the strings of TypeScript and HTML."""
    text = re.sub(r"^\s*(//|import ).*$|(?<=[;{},)])\s+// .*$", "", text, flags=re.M)
    text = ATTRIBUTES.sub("", text).replace('{" "}', " ")
    for found in re.findall(r"(?<![=\s])>((?:[^<>{}]|\{[^{}<>]*\})*)<", text):
        plain = re.sub(r"\{[^{}]*\}", VALUE, found)
        if re.search(r"[A-Za-z]{2}", plain) and not re.search(r"[;=]\s*\n|\) =|\?\.|\[\]", plain):
            yield plain, True
    for found in re.findall(r"`((?:[^`$]|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*)`", text):
        yield re.sub(r"\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}", VALUE, found), False
    for found in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
        yield unescaped(found), bool(re.match("[A-Z][a-z]", found))


def of_file(name, text):
    """Yields (string, whether it is certainly visible) of a file."""
    if name.endswith((".cc", ".h", ".java")):
        yield from ((placeholders(found), False) for found in strings_of(tree_of(text)))
    elif name.endswith((".tsx", ".ts", ".html")):
        yield from of_page(text)
    elif name.endswith(".py"):
        yield from ((found, False) for found in of_python(text))
    elif name.endswith(".json"):
        yield from ((found, True) for found in re.findall(r'"(?:title|description)": "([^"]+)"', text))
    elif name.endswith(".1.in"):
        yield from ((re.sub(r"\\f[BRI]|\\", "", line), True) for line in text.splitlines() if not line.startswith("."))
    elif name.endswith((".toml", ".cmake", ".service.in")):
        pattern = r'^Description=(.*)$|^description = "(.*)"$|_DESCRIPTION "([^"]*)"'
        yield from (("".join(found), True) for found in re.findall(pattern, text, re.M))
    elif name.endswith("settings.txt"):
        yield from ((line.replace("\t", ": "), True) for line in text.splitlines())
    elif name.endswith(".rules.yaml"):
        yield from ((found, True) for found in re.findall(r"\b(?:summary|description): ['\"]?(.*?)['\"]?}?$", text, re.M))
    else:
        for usage in re.findall(r"<<'USAGE'\n(.*?)\n *USAGE", text, re.S):
            yield from ((line, True) for line in usage.splitlines() if line.strip())
        yield from ((re.sub(r"\$\(.*?\)|\$\{[^}]*\}|\$[\w*@]+", VALUE, found[1:-1]), False) for found in SHELL_SAYS.findall(text))


FILES = re.compile(r"\.(cc|h)$|^agent/.*/src/main/.*\.java$|^python/tidemark/\w+\.py$|^web/page/(src/\w+\.tsx?|index\.html)$|^dev$|"
                   r"^packaging/(.*\.sh|deb/p\w+|prometheus/tidemark\.rules\.yaml|grafana/.*\.json)$|"
                   r"^docs/(reference/settings\.txt|openlineage/.*\.json)$|^python/pyproject\.toml$|^cmake/TidemarkPackages\.cmake$|"
                   r"^packaging/tidemark\.(1|service)\.in$")
OMITTED = ("tests", "bench", "build", "target", "node_modules")


def files_of(source):
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in OMITTED]
        paths = (os.path.relpath(os.path.join(folder, name), source) for name in names)
        yield from (path for path in paths if FILES.search(path))


# The phrases of these files occur in the C++ files. The master sends all other words of a job to the page.
SHARED = {"python/tidemark/_words.py": ("console", "text"), "python/tidemark/_following.py": ("client",),
          "python/tidemark/errors.py": ("transport", "cli"), "web/page/src/zones.ts": ("console",)}


def phrases_of(source, names):
    """Returns the parts of the strings between values and punctuation. Parts that name an argument are omitted."""
    texts = (text for name in names for text, _ in of_file(name, (source / name).read_text()))
    parts = (" ".join(part.split()) for text in texts for part in re.split(f"{VALUE}|[;:(),.{{}}\n]", text))
    return [part for part in parts if " " in part and not re.search("[=_]", part)]


def check_shared(source, names):
    for name, folders in SHARED.items():
        known = "\n".join(phrases_of(source, [each for each in names if each.startswith(tuple(f"{f}/" for f in folders))]))
        for phrase in phrases_of(source, [name]):
            if phrase not in known:
                yield f"{name}: {phrase!r} does not occur in {' or '.join(folders)}; use the same words"


def collected(source, names):
    shown = " ".join((source / "tests/cli/words.txt").read_text().split())
    lines, folder = [], None
    for name in sorted(names, key=lambda name: (str(Path(name).parent), name)):
        found = {}
        for text, is_visible in of_file(name, (source / name).read_text()):
            plain = re.sub(f"{VALUE}+", VALUE, " ".join(text.split()))
            is_shown = plain in shown and plain.count(" ") > 1
            is_key = name.startswith("spark/") and KEY.match(plain)
            if not is_shown and not is_key and not CODE.search(text) and (is_visible or VISIBLE.search(plain)):
                found[plain] = True
        if not found:
            continue
        if Path(name).parent != folder:
            folder = Path(name).parent
            lines.append(f"\n== {folder} ==")
        lines.append(Path(name).name)
        lines += [f"  {text}" for text in found]
    return "\n".join(lines).lstrip() + "\n"


def main():
    source = Path(sys.argv[1])
    names = list(files_of(source))
    golden, current = source / "tests/words/strings.txt", collected(source, names)
    if "--update" in sys.argv:
        golden.write_text(current)
    faults = list(check_shared(source, names))
    before = golden.read_text()
    if before != current:
        faults += [line for line in difflib.unified_diff(before.splitlines(), current.splitlines(), lineterm="", n=0)][2:]
        faults.append("strings.txt is stale: python3 tests/words/strings_test.py . --update writes it; review its diff")
    print("\n".join(faults), file=sys.stderr)
    sys.exit(f"FAILED: {len(faults)} faults" if faults else 0)


main()
