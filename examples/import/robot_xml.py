"""XML as robot files are in practice, and the report of an import.

The reader takes what common robot loaders take: text or comments before the XML declaration,
`--` inside comments, bare `&`, undeclared prefixes. Every node remembers its line and which of its
attributes and children were read: what nobody read is listed in the report.
"""

import difflib
import re
import sys
import xml.parsers.expat

from robot_math import DECIMAL, Num

DEEPEST = 500   # levels of elements; readers go down by recursion


class ImportFailed(Exception):
    """Raised after the errors are in the report."""


class Report:
    """Errors, what was changed, what was left out; each with the line of the file."""

    def __init__(self, file):
        self.file = file
        self.errors, self.notes, self.dropped, self.ignored = [], [], [], {}
        self.spoiled = False   # masses would be judged wrongly after what was found

    def error(self, node, text, remedy=""):
        entry = (line_of(node), text, remedy)
        if entry not in self.errors:
            self.errors.append(entry)

    def note(self, node, text):
        """What was repaired, merged or converted by a rule that the user should know."""
        entry = (line_of(node), text)
        if entry not in self.notes:
            self.notes.append(entry)

    def drop(self, node, text):
        """What influences the motion and was not converted."""
        entry = (line_of(node), text)
        if entry not in self.dropped:
            self.dropped.append(entry)

    def ignore(self, what):
        """What says nothing about the motion."""
        self.ignored[what] = self.ignored.get(what, 0) + 1

    def stop_on_errors(self):
        if self.errors:
            raise ImportFailed()

    def show(self, stream=sys.stderr, strict=False):
        for line, text, remedy in sorted(self.errors):
            stream.write("%s:%d: error: %s%s\n" % (self.file, line, text,
                                                   "; " + remedy if remedy else ""))
        for line, text in alike(self.dropped):
            stream.write("%s:%d: %s: not converted: %s\n"
                         % (self.file, line, "error" if strict else "warning", text))
        for line, text in alike(self.notes):
            stream.write("%s:%d: note: %s\n" % (self.file, line, text))


def alike(entries):
    """(line, text) with equal texts as one entry that lists the other lines."""
    lines = {}
    for line, text in sorted(entries):
        lines.setdefault(text, []).append(line)
    found = []
    for text, where in lines.items():
        more = " (and %d more, to line %d)" % (len(where) - 1, where[-1]) if where[1:] else ""
        found.append((where[0], text + more))
    return sorted(found)


def gathered(entries):
    return ["line %d: %s" % e if e[0] else e[1] for e in alike(entries)]


def line_of(node):
    return node if isinstance(node, int) else getattr(node, "line", 0)


class Node:
    """An element. Reading marks; `left_over` lists what was not read."""

    def __init__(self, tag, attributes, line):
        self.tag, self.attributes, self.line = tag, attributes, line
        self.children, self.text = [], ""
        self.used, self.seen = set(), False

    def get(self, name, default=None):
        self.used.add(name)
        return self.attributes.get(name, default)

    def has(self, name):
        return name in self.attributes

    def all(self, *tags):
        found = [c for c in self.children if c.tag in tags]
        for c in found:
            c.seen = True
        return found

    def first(self, tag):
        found = [c for c in self.children if c.tag == tag][:1]
        for c in found:
            c.seen = True
        return found[0] if found else None

    def text_of(self, tag, default=None):
        child = self.first(tag)
        return default if child is None else child.text.strip()

    def walk(self):
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def skip(self):
        """Counts as read, with all that is in it."""
        for node in self.walk():
            node.seen = True
            node.used.update(node.attributes)


def repaired(text, report):
    """The text with the faults taken out that other loaders do not mind; lines stay in place."""
    if text.startswith("\ufeff"):
        text = text[1:]
    declaration = re.search(r"<\?xml\b[^>]*\?>", text)
    if declaration and text[:declaration.start()].strip():
        report.note(1, "text or comments before the XML declaration were skipped")
    if declaration:
        before = text[:declaration.end()]
        text = "\n" * before.count("\n") + text[declaration.end():]

    def comment(match):
        body = match.group(1)
        if "--" in body or body.endswith("-"):
            report.note(text.count("\n", 0, match.start()) + 1, "`--` inside a comment")
            return "\n" * body.count("\n")
        return match.group(0)

    text = re.sub(r"<!--(.*?)-->", comment, text, flags=re.S)
    if re.search(r"&(?!#?\w+;)", text):
        report.note(1, "bare `&` was read as `&amp;`")
        text = re.sub(r"&(?!#?\w+;)", "&amp;", text)
    return text


def declare_prefixes(root, report):
    """Prefixes that no xmlns declares are no error; they are named."""
    declared = {"xml", "xmlns"}
    for node in root.walk():
        declared.update(a[6:] for a in node.attributes if a.startswith("xmlns:"))
    for node in root.walk():
        for name in [node.tag] + list(node.attributes):
            prefix = name.partition(":")[0] if ":" in name else ""
            if prefix and prefix not in declared:
                declared.add(prefix)
                report.note(node, "the prefix `%s:` is not declared; read as it stands" % prefix)


def parse(data, report):
    """The root node of the bytes of a file."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        report.note(1, "the file is not UTF-8; read as Latin-1")
    text = repaired(text, report)
    stack, roots = [], []
    parser = xml.parsers.expat.ParserCreate("utf-8")
    parser.buffer_text = True

    def start(tag, attributes):
        if len(stack) == DEEPEST:
            report.error(parser.CurrentLineNumber, "elements are nested more than %d deep"
                         % DEEPEST, "write the tree with less of them in each other")
            raise ImportFailed()
        node = Node(tag, attributes, parser.CurrentLineNumber)
        (stack[-1].children if stack else roots).append(node)
        stack.append(node)

    def end(_tag):
        stack.pop()

    def characters(data):
        if stack:
            stack[-1].text += data

    def refuse(*_arguments):
        report.error(parser.CurrentLineNumber, "a document type declaration", "remove it")
        raise ImportFailed()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = characters, refuse
    try:
        parser.Parse(text.encode("utf-8"), True)
    except xml.parsers.expat.ExpatError as fault:
        what = xml.parsers.expat.ErrorString(fault.code)
        if fault.code == 9 and roots and not stack:  # junk after document element
            report.note(fault.lineno, "text after the root element was skipped")
        else:
            report.error(fault.lineno, "the XML is not well formed: " + what,
                         "correct the file at column %d" % (fault.offset + 1))
            raise ImportFailed() from None
    declare_prefixes(roots[0], report)
    return roots[0]


def number(text, node, what, report, unbounded=False):
    """A decimal of the file; hexadecimal, nan and decimal commas are errors."""
    text = text.strip()
    if unbounded and text.lstrip("+-").lower() in ("inf", "infinity"):
        return float(text)
    report.spoiled = report.spoiled or not DECIMAL.match(text)
    if DECIMAL.match(text):
        value = Num(text)
        if abs(value) < 1e38 or (unbounded and abs(value) < float("inf")):
            return value
        report.error(node, "%s is too large: %s" % (what, text), "numbers end at 1e38")
        return Num("0")
    remedy = "write it with a decimal point" if "," in text else "write a finite decimal"
    if "${" in text or "$(" in text:
        remedy = XACRO_REMEDY
    report.error(node, "%s is not a decimal: `%s`" % (what, text), remedy)
    return Num("0")


def numbers(text, count, node, what, report, unbounded=False):
    """`count` decimals, or as many as there are if count is None."""
    found = [number(t, node, what, report, unbounded) for t in (text or "").split()]
    if count is not None and len(found) != count:
        if found or not report.errors:
            report.error(node, "%s has %d numbers instead of %d" % (what, len(found), count),
                         "write %d decimals with blanks between them" % count)
        found = (found + [Num("0")] * count)[:count]
    return tuple(found)


XACRO_REMEDY = "this is xacro: run `xacro robot.xacro > robot.urdf` and import the result"


def nearest(name, names, near=""):
    """Text that names the nearest name; of several that end alike the one like `near`."""
    names = sorted(set(n for n in names if n))
    close = [n for n in names if n.endswith(name) or name.endswith(n)]
    close = difflib.get_close_matches(near, close, 1, 0) if near and close else close
    close = close or difflib.get_close_matches(name, names, 1, 0.5)
    return ", the nearest name is `%s`" % close[0] if close else ", no name is near it"


def left_over(root, report, harmless):
    """Lists what nobody read. `harmless(node, attribute or None)`: says nothing about motion."""
    stack = [(root, root.tag)]
    while stack:
        node, path = stack.pop()
        for name in node.attributes:
            if name in node.used or name.startswith("xmlns"):
                continue
            if harmless(node, name):
                report.ignore("%s@%s" % (path, name))
            else:
                owner = node.attributes.get("name", "")
                report.drop(node, "attribute %s of <%s%s>" % (name, path,
                                                              " " + owner if owner else ""))
        for child in reversed(node.children):
            below = path + "/" + child.tag
            if child.seen:
                stack.append((child, below))
            elif harmless(child, None):
                report.ignore(below)
            else:
                owner = child.attributes.get("name", "")
                report.drop(child, "<%s>%s" % (below, " `%s`" % owner if owner else ""))
