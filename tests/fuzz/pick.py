#!/usr/bin/env python3
"""Chooses the files of a long run's corpus to keep: the files that cover most code within BYTES bytes,
where each file counts FILE bytes in addition to its own.

    python3 pick.py CONTROL_FILE BYTES NAME.tar

CONTROL_FILE is what libFuzzer writes with -set_cover_merge=1 -use_counters=0 -merge_control_file=CONTROL_FILE: which parts of the
code each file reaches. NAME.tar gets copies, each named by the SHA-1 of its bytes, in the order of their names and
without times and owners, so that equal files give an equal archive.
"""
import hashlib
import io
import os
import sys
import tarfile

FILE = 32


def read_control(path):
    """[(file, parts of the code)]"""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    count = int(lines[0])
    files = lines[2:2 + count]
    reached = [set() for _ in files]
    for line in lines[2 + count:]:
        words = line.split()
        if words and words[0] == "FT":
            reached[int(words[1])].update(words[2:])
    return list(zip(files, reached))


def main(control, budget, out):
    left = [(path, os.path.getsize(path), parts) for path, parts in read_control(control)]
    have, used, chosen = set(), 0, {}
    while True:
        left = [row for row in left if used + row[1] + FILE <= budget and not row[2] <= have]
        if not left:
            break
        best = max(left, key=lambda row: (len(row[2] - have) / (row[1] + FILE), row[0]))
        have |= best[2]
        used += best[1] + FILE
        with open(best[0], "rb") as f:
            data = f.read()
        chosen[hashlib.sha1(data).hexdigest()[:12]] = data
    with tarfile.open(out, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(chosen.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    print("%d files of %d bytes reach %d parts" % (len(chosen), sum(map(len, chosen.values())), len(have)))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
