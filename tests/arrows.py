#!/usr/bin/env python3
"""arrows.py HEADER        functions and calls of the header as clang's syntax tree has them
arrows.py test HEADER   the same of copies with planted offences, which must be found

The anchors // >>NAME divide the header into rooms. Offences, one a line, exit code 1:
  - a call, or another use of a function's name, that points to a room further below
  - in one room, a call to the function itself or to one that is defined below it
  - a declaration of a private function ahead of its definition
  - a function of more than MAX_LINES lines, the comment above it included
  - a function that no configuration of CONFIGURATIONS compiles, so that nobody looked at it
Needs clang and nothing but Python's standard library; without clang it fails."""
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

MAX_LINES = 60
BODIES = ('-DMIMICDYN_MAX_BODY_ROWS=12', '-DMIMICDYN_MAX_CONTACTS=4', '-DMIMICDYN_MAX_DANTZIG=32',
          '-DMIMICDYN_MAX_CURVES=4')
CONFIGURATIONS = [
    ('FIXED',) + BODIES,
    ('F32',) + BODIES,
    ('F64',) + BODIES,
    ('FIXED', '--target=thumbv6m-none-eabi', '-ffreestanding'),
    ('F32', '-DMIMICDYN_TREE=0'),
    ('F32', '-DMIMICDYN_EXACT=0', '-DMIMICDYN_WARM=0', '-DMIMICDYN_SETTINGS=0',
     '-DMIMICDYN_LOSSES=0', '-DMIMICDYN_CHECKS=0', '-DMIMICDYN_LCP=0'),
]

Function = collections.namedtuple('Function', 'name room first line last')
Use = collections.namedtuple('Use', 'user used line')  # user and used are Functions


def anchors(lines):
    """(line, name) of each anchor; everything above the first one belongs to >>about."""
    found = [(1, 'about')]
    for number, text in enumerate(lines, 1):
        match = re.search(r'// >>(\w+)', text)
        if match:
            found.append((number, match.group(1)))
    return found


def first_line(lines, line):
    """The first line of the definition whose name stands in `line`: with the lines of its
    declaration above the name and the comment that touches it."""
    at = line - 1
    while at > 0 and re.match(r'[A-Za-z_].*[^;:}]$', lines[at - 1]) \
            and not lines[at - 1].rstrip().endswith('*/'):
        at -= 1
    if at > 0 and lines[at - 1].rstrip().endswith('*/'):
        at -= 1
        while at > 0 and not lines[at].lstrip().startswith('/*'):
            at -= 1
    return at + 1


PLACE = re.compile(r'([^\s<>,]+|<[a-z -]+>):(\d+):\d+')
USED = re.compile(r" (?:Function|CXXMethod) (0x[0-9a-f]+) '")
DECLARED = re.compile(r"^[|`]-FunctionDecl (0x[0-9a-f]+) .*? (\w+) '")


class Tree:
    """What one configuration of the header declares, defines and uses."""

    def __init__(self, header, configuration):
        self.declared = {}   # address -> (name, line), of the header's functions
        self.defined = {}    # name -> (line, last)
        self.used = []       # (name of the user, name of the used, line)
        self.read(header, configuration)

    def read(self, header, configuration):
        command = ['clang', '-x', 'c', '-std=c99', '-w', '-fsyntax-only', '-fno-color-diagnostics',
                   '-Xclang', '-ast-dump', '-DMIMICDYN_IMPLEMENTATION',
                   '-DMIMICDYN_SCALAR=' + configuration[0], *configuration[1:], header]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as clang:
            self.parse(clang.stdout, header)
        if clang.returncode != 0:
            raise SystemExit('arrows.py: clang refuses ' + ' '.join(configuration))

    def parse(self, dump, header):
        # The dump leaves out a file or a line that is the same as in the place printed before.
        file, line = '', 0
        current = address = None
        for text in dump:
            head = re.split('[\'"]', text, 1)[0]
            last = 0
            for name, number in PLACE.findall(head):
                file = file if name == 'line' else name
                last, line = line, int(number)
            if text[0] in '|`' and text[1] == '-':
                match = DECLARED.match(text)
                current = address = None
                if match and file == header and '<invalid sloc>' not in head:
                    address, current = match.groups()
                    self.declared[address] = (current, line)
                    # the name's own place, printed last, may be on the line where the body ends
                    end = re.search(r'line:(\d+):\d+> ', head)
                    final = int(end.group(1)) if end else line
            elif current and text[2:].startswith(('|-CompoundStmt', '`-CompoundStmt')) \
                    and text[1] == ' ':
                self.defined[current] = (self.declared.pop(address)[1], final)
                self.declared[address] = (current, None)
            if current:
                for used in USED.findall(text):
                    if used in self.declared:
                        self.used.append((current, self.declared[used][0], line))


def tree(arguments):
    return Tree(*arguments)


class Header:
    """All configurations of a header together."""

    def __init__(self, header, configurations=None):
        if not shutil.which('clang'):
            raise SystemExit('arrows.py: there is no clang here; the rooms cannot be looked at')
        with open(header, encoding='ascii') as file:
            self.lines = file.read().split('\n')
        self.anchors = anchors(self.lines)
        self.order = [name for _, name in self.anchors]
        self.functions = {}  # (name, line) -> Function
        self.uses = set()
        self.ahead = set()   # (name, line) of declarations of private functions
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            for one in pool.map(tree, [(header, c) for c in configurations or CONFIGURATIONS]):
                self.add(one)
        if len(self.functions) < 400 or len(self.uses) < 2000:
            raise SystemExit('arrows.py: %d functions, %d calls; the check went blind'
                             % (len(self.functions), len(self.uses)))

    def room(self, line):
        return [name for first, name in self.anchors if first <= line][-1]

    def add(self, one):
        here = {}
        for name, (line, last) in one.defined.items():
            if (name, line) not in self.functions:
                self.functions[name, line] = Function(
                    name, self.room(line), first_line(self.lines, line), line, last)
            here[name] = self.functions[name, line]
        self.ahead |= {(name, line) for name, line in one.declared.values()
                       if line and not name.startswith(('mdyn_', '__builtin_'))}
        self.uses |= {Use(here[user], here[used], line) for user, used, line in one.used
                      if user in here and used in here}

    def upward(self):
        rank = {name: number for number, name in enumerate(self.order)}
        return sorted({(u.user, u.used) for u in self.uses
                       if (rank[u.used.room], u.used.line) >= (rank[u.user.room], u.user.line)})

    def unseen(self):
        """Functions that the text defines and no configuration compiles."""
        seen = {line for _, line in self.functions}
        for number, text in enumerate(self.lines, 1):
            match = re.match(r'(?:MD_[A-Z_]+|MDYN_API|static) [^=;#]*?\b(\w+)\(', text)
            if match and number not in seen and not text.endswith(';'):
                end = number
                while end < len(self.lines) and not self.lines[end - 1].endswith((')', ';')):
                    end += 1
                if self.lines[end - 1].endswith(')') and self.lines[end] == '{':
                    yield match.group(1), number

    def lengths(self):
        return sorted(f.last - f.first + 1 for f in self.functions.values())

    def offences(self):
        for user, used in self.upward():
            what = 'itself' if user == used else '%s of >>%s' % (used.name, used.room)
            yield user.line, '%s of >>%s calls %s, not above it' % (user.name, user.room, what)
        for name, line in sorted(self.ahead):
            yield line, '%s is declared ahead of its definition' % name
        for f in self.functions.values():
            if f.last - f.first + 1 > MAX_LINES:
                yield f.line, '%s has %d lines with its comment, at most %d' \
                    % (f.name, f.last - f.first + 1, MAX_LINES)
        for name, line in self.unseen():
            yield line, '%s is compiled by no configuration of arrows.py' % name


def look(header):
    seen = Header(header)
    found = sorted(seen.offences())
    for line, text in found:
        print('%s:%d: %s' % (header, line, text))
    if not found:
        print('%d functions and %d calls between them: none points up, none is declared ahead, '
              'none is longer than %d lines' % (len(seen.functions), len(
                  {(u.user, u.used) for u in seen.uses}), MAX_LINES))
    return len(found)


def planted(lines, room, text):
    """The lines with a text at the end of a room."""
    at = next(n for n, (_, name) in enumerate(anchors(lines)) if name == room)
    end = anchors(lines)[at + 1][0] - 1
    return lines[:end] + text.split('\n') + lines[end:]


def test(header):
    """Offences that are planted must be found, each of them and nothing else."""
    with open(header, encoding='ascii') as file:
        lines = file.read().split('\n')
    body = '\n'.join(['    i++;'] * (MAX_LINES - 5))
    plants = [
        ('kinematics', 'MD_STATIC int md_planted_up(mdyn_sim *sim)\n{\n'
         '    return mdyn_step(sim);\n}\n', 'md_planted_up of >>kinematics calls mdyn_step'),
        ('dynamics', 'MD_STATIC int md_planted_pointer(int (*f)(mdyn_sim *))\n{\n'
         '    return f == mdyn_step;\n}\n', 'md_planted_pointer of >>dynamics calls mdyn_step'),
        ('dynamics', 'MD_STATIC int md_planted_ahead(int i);\n', 'md_planted_ahead is declared'),
        ('plan', 'MD_STATIC int md_planted_ahead(int i)\n{\n'
         '    return i > 0 ? md_planted_ahead(i - 1) : 0;\n}\n',
         'md_planted_ahead of >>plan calls itself'),
        ('pgs', '/* One line\n   too many. */\nMD_STATIC int md_planted_long(int i)\n{\n' + body +
         '\n    return i;\n}\n', 'md_planted_long has %d lines' % (MAX_LINES + 1)),
        ('pgs', '/* Just so. */\nMD_STATIC int\nmd_planted_short(int i)\n{\n' +
         body[:-len('\n    i++;')] + '\n    return i;\n}\n', None),
        ('solve', '#if 0\nMD_STATIC int md_planted_hidden(\n    int i)\n{\n    return i;\n}\n'
         '#endif\n',
         'md_planted_hidden is compiled by no configuration'),
    ]
    for room, text, _ in plants:
        lines = planted(lines, room, text)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'planted.h')
        with open(path, 'w', encoding='ascii') as file:
            file.write('\n'.join(lines))
        seen = Header(path)
    found = [text for _, text in seen.offences() if 'md_planted' in text]
    wanted = [text for _, _, text in plants if text]
    missing = [w for w in wanted if not any(f.startswith(w) for f in found)]
    for w in missing:
        print('FAIL: planted, but not found: ' + w)
    for f in found:
        if not any(f.startswith(w) for w in wanted):
            print('FAIL: found, but not planted: ' + f)
            missing.append(f)
    if not missing:
        print('%d offences planted, all found' % len(wanted))
    return len(missing)


if __name__ == '__main__':
    if len(sys.argv) not in (2, 3) or (len(sys.argv) == 3 and sys.argv[1] != 'test'):
        raise SystemExit(__doc__)
    sys.exit(1 if (test if len(sys.argv) == 3 else look)(sys.argv[-1]) else 0)
