#!/usr/bin/env python3
"""progress.py LOG: the output of the suites, from standard input to LOG and to standard output.

On a terminal the lines of passed suites become one line, which is written over and over: suites done of all, failures so
far, time left. All other lines (failures, what is skipped, the compiler) stay. Elsewhere every line is printed as it comes.
"""
import os
import re
import select
import sys
import time

# what run_suite.sh prints about a suite: "[  3/107] ok   hal   152 passed, 0 failed  (4 s; 1:20 so far, about 9:10 left)"
ENDED = re.compile(r"\[ *(\d+)/(\d+)\] (ok|FAIL)\s+(\S+)\s+\d+ passed, (\d+) failed.*?(?:about (\d+):(\d\d) left)?\)$")


def clock(seconds):
    return "%d:%02d" % divmod(max(0, int(seconds)), 60)


class Terminal:
    """The line at the bottom, and the lines above it."""

    def __init__(self, suites):
        self.began, self.suites = time.time(), suites
        self.done = self.failed = 0
        self.left, self.at, self.last = None, time.time(), "compiling the library"

    def line(self, text):
        ended = ENDED.match(text)
        if ended:
            self.done, self.suites = self.done + 1, int(ended[2])
            self.failed += int(ended[5]) + (ended[3] == "FAIL" and ended[5] == "0")
            self.last = ended[4]
            if ended[6]:
                self.left, self.at = 60 * int(ended[6]) + int(ended[7]), time.time()
        if not ended or ended[3] == "FAIL":
            sys.stdout.write("\r\033[K%s\n" % text)
        self.draw()

    def draw(self):
        now = time.time()
        left = "" if self.left is None else ", about %s left" % clock(self.left - (now - self.at))
        text = "%d of %d suites, %d failed; %s so far%s; %s" % (self.done, self.suites, self.failed, clock(now - self.began), left, self.last)
        sys.stdout.write("\r\033[K" + text[:columns() - 1])
        sys.stdout.flush()

    def end(self):
        sys.stdout.write("\r\033[K")
        sys.stdout.flush()


class Plain:
    def line(self, text):
        print(text, flush=True)

    def draw(self):
        pass

    def end(self):
        pass


def columns():
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


def main():
    suites = len(os.environ.get("NNRT_SUITES", "").split())
    out = Terminal(suites) if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb" else Plain()
    rest = b""
    with open(sys.argv[1], "wb") as log:
        while True:
            if select.select([0], [], [], 1)[0]:
                part = os.read(0, 1 << 16)
                log.write(part)
                log.flush()
                lines = (rest + part).split(b"\n")
                rest = lines.pop()
                for line in lines:
                    out.line(line.decode("utf-8", "replace"))
                if not part:
                    break
            else:
                out.draw()
    if rest:
        out.line(rest.decode("utf-8", "replace"))
    out.end()


if __name__ == "__main__":
    main()
