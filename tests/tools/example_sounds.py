"""example_sounds.py FOLDER: writes valid and invalid WAV files: sound NAME.wav, its header and its data."""
import struct, sys
folder = sys.argv[1]


def chunk(tag, body, size=None):
    return tag + struct.pack("<I", len(body) if size is None else size) + body + b"\0" * (len(body) % 2)


def form(channels=1, rate=16000, bits=16, kind=1, block=None, tail=b""):
    block = channels * bits // 8 if block is None else block
    return chunk(b"fmt ", struct.pack("<HHIIHH", kind, channels, rate, rate * block & 0xFFFFFFFF, block, bits) + tail)


def sound(name, *parts, head=b"RIFF"):
    body = b"WAVE" + b"".join(parts)
    with open("%s/%s.wav" % (folder, name), "wb") as f:
        f.write(head + struct.pack("<I", len(body)) + body)


quiet = struct.pack("<1600h", *[(i * 37 % 7) - 3 for i in range(1600)])
data = chunk(b"data", quiet)
pcm = bytes.fromhex("0100000000001000800000aa00389b71")
sound("plain", form(), data)
sound("stereo8", form(2, 8000), data)
sound("extensible", form(kind=0xFFFE, tail=struct.pack("<HHI", 22, 16, 4) + pcm), data)
sound("chunks", chunk(b"LIST", b"odd"), form(tail=b"\0\0"), chunk(b"fact", b"1234"), data, chunk(b"LIST", b"x"))
sound("endless", form(), chunk(b"data", quiet, 0xFFFFFFFF))
sound("cut", form(), chunk(b"data", quiet, 9999))
sound("one", form(), chunk(b"data", b"\1\0"))
sound("float", form(bits=32, kind=3), data)
sound("bits8", form(bits=8), data)
sound("bits24", form(bits=24), data)
sound("extensible_float", form(bits=16, kind=0xFFFE, tail=struct.pack("<HHI", 22, 16, 4) + b"\3" + pcm[1:]), data)
sound("rate44", form(rate=44100), data)
sound("rate0", form(rate=0), data)
sound("six", form(6), data)
sound("none", form(0), data)
sound("apart", form(block=4), data)
sound("big", form(), data, head=b"RIFX")
sound("no_format", data, form())
sound("short_format", chunk(b"fmt ", b"\1\0\1\0"), data)
sound("no_data", form())
sound("empty", form(), chunk(b"data", b""))
sound("half", form(), chunk(b"data", b"\1"))
sound("beyond", form(), chunk(b"LIST", b"abcd", 0xFFFFFFFE), data)
whole = open(folder + "/plain.wav", "rb").read()
for n in (0, 3, 11, 12, 19, 20, 35, 43, 44):
    open("%s/first%d.wav" % (folder, n), "wb").write(whole[:n])
