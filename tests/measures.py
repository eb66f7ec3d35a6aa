#!/usr/bin/env python3
"""measures.py HEADER    how the header reads, in numbers, beside the bars that it must keep

Comment lines are lines that hold a comment and nothing else. The implementation goes from
>>compiler to the license's text; the number rooms end where >>model begins. Functions and calls
are those of clang's syntax tree (arrows.py), all its configurations together. Ends with 1 if a bar
is missed or arrows.py finds an offence. Needs clang and Python's standard library."""
import re
import sys

sys.dont_write_bytecode = True
import arrows  # noqa: E402 - beside this file

# name of a measure: (least, most) that it may be
BARS = {
    'comment lines of the implementation, %': (18, 25),
    'calls upwards': (0, 0),
    'declarations ahead': (0, 0),
    'longest function with its comment, lines': (0, arrows.MAX_LINES),
    'lines over 100 columns': (0, 0),
    'names md_X beside mdyn_X': (0, 0),
    'word "sweep"': (0, 0),
}
WORDS = ['constraint', 'iteration', 'sweep', 'Baumgarte', 'Coulomb', 'Lagrange', 'Jacobian',
         'generalized', 'bias', 'complian', 'warm start', 'active set', 'complementarity',
         'velocit', 'speed', 'impulse']
LONG = 15  # lines from which a function has paragraphs


def comment_lines(lines):
    """For each line whether it is a comment and nothing else."""
    inside, kinds = False, []
    for text in lines:
        rest, code, comment = text, '', inside
        while rest:
            if inside:
                _, end, rest = rest.partition('*/')
                inside = not end
                continue
            match = re.match(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|/\*|//.*|[^"\'/]+|.', rest)
            token, rest = match.group(), rest[match.end():]
            inside = token == '/*'
            if inside or token.startswith('//'):
                comment = True
            else:
                code += token
        kinds.append(comment and not code.strip())
    return kinds


def quantile(values, part):
    return values[min(len(values) - 1, int(part * len(values)))] if values else 0


def share(kinds):
    return 100.0 * sum(kinds) / max(1, len(kinds))


class Measures:
    def __init__(self, header):
        self.header = header
        self.seen = arrows.Header(header)
        self.lines = self.seen.lines
        self.comments = comment_lines(self.lines)
        self.start = {name: line for line, name in self.seen.anchors}
        self.missed = 0

    def say(self, name, value):
        bar = BARS.get(name)
        text = ''
        if bar:
            text = 'at most %g' % bar[1] if bar[0] == 0 else '%g to %g' % bar
            if not bar[0] <= value <= bar[1]:
                self.missed += 1
                text += '   MISSED'
        shown = '%d' % value if value == int(value) else '%.1f' % value
        print(('%-58s %8s   %s' % (name, shown, text)).rstrip())

    def rooms(self):
        """(name, first line, line after the last one) of each room."""
        ends = [line for line, _ in self.seen.anchors[1:]] + [len(self.lines) + 1]
        return [(name, first, end) for (first, name), end in zip(self.seen.anchors, ends)]

    def part(self, first, end):
        return self.comments[self.start[first] - 1:self.start[end] - 1]

    def shape(self):
        functions = self.seen.functions.values()
        bodies = sorted(f.last - f.line + 1 for f in functions)
        gray = [f for f in functions if f.last - f.line >= LONG and
                all(self.lines[n - 1].strip() for n in range(f.line, f.last))]
        below = self.lines[self.start['model'] - 1:self.start['license'] - 1]
        self.say('lines', len(self.lines) - 1)
        self.say('lines over 100 columns', sum(len(text) > 100 for text in self.lines))
        self.say('comment lines of the implementation, %', share(self.part('compiler', 'license')))
        self.say('comment lines of the interface, %',
                 share(self.comments[:self.start['compiler'] - 1]))
        self.say('functions, all variants', len(bodies))
        self.say('length of a function, median', quantile(bodies, 0.5))
        self.say('length of a function, 90 % are below', quantile(bodies, 0.9))
        self.say('longest function', bodies[-1])
        self.say('longest function with its comment, lines', self.seen.lengths()[-1])
        self.say('functions over %d lines' % LONG, sum(n > LONG for n in bodies))
        self.say('functions over %d lines without a blank line inside' % LONG, len(gray))
        self.say('#if in 1000 lines below the number rooms', 1000.0 / len(below) * sum(
            text.startswith('#if') for text in below))

    def structure(self):
        self.say('pairs of functions one of which calls the other',
                 len({(u.user, u.used) for u in self.seen.uses}))
        self.say('calls upwards', len(self.seen.upward()))
        self.say('declarations ahead', len(self.seen.ahead))
        text = '\n'.join(self.lines)
        private, public = (set(re.findall(r'\b%s_(\w+)' % p, text)) for p in ('md', 'mdyn'))
        self.say('names md_X beside mdyn_X', len(private & public))
        if private & public:
            print('    ' + ', '.join(sorted(private & public)))
        for word in WORDS:
            self.say('word "%s"' % word, len(re.findall(word, text, re.IGNORECASE)))

    def table(self):
        print('\n%-14s %6s %10s %10s %8s' % ('room', 'lines', 'comment, %', 'functions', 'longest'))
        for name, first, end in self.rooms():
            here = [f.last - f.first + 1 for f in self.seen.functions.values() if f.room == name]
            print('%-14s %6d %10.0f %10d %8d' % (name, end - first, share(
                self.comments[first - 1:end - 1]), len(here), max(here, default=0)))

    def offences(self):
        found = sorted(self.seen.offences())
        for line, text in found:
            print('%s:%d: %s' % (self.header, line, text))
        self.missed += len(found)


def main(header):
    measures = Measures(header)
    measures.shape()
    measures.structure()
    measures.table()
    measures.offences()
    return 1 if measures.missed else 0


if __name__ == '__main__':
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1]))
