#!/usr/bin/env python3
"""Makes the sounds of the keyword spotter and writes their features into build/kws-data.

    training.npy, heldback.npy              features, float32 [N,1,49,10], as the network takes them
    training-labels.npy, ...                the class of each, int64 [N]
    training-voices.npy                     which entry of TRAINING_VOICES spoke it
    calibration.npy                         every 16th sound of the training: for nnrt quantize

espeak-ng speaks the words, sox resamples them and makes the noise, build/kws computes the features. Voices are split in two
parts: the network is measured on voices that it never heard in training. Half of the unknown words of that part are new,
too. Needs numpy, espeak-ng, sox and build/kws.
"""
import os
import re
import subprocess
import wave

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.normpath(os.path.join(HERE, "..", "..", "build"))
DATA_DIR = os.path.join(BUILD, "kws-data")

with open(os.path.join(HERE, "kws.h"), encoding="ascii") as header:
    CLASSES = re.findall(r'"(\w+)"', re.search(r"#define KWS_CLASSES(.*\\\n)*.*", header.read()).group())
WORDS, UNKNOWN, SILENCE = CLASSES[:10], CLASSES.index("unknown"), CLASSES.index("silence")

SEED = 20261126
RATE = 16000  # samples per second, and samples of a sound
SPOKEN_RATE = 22050  # samples per second of espeak-ng
ROWS, FEATURES = 49, 10
FEATURE_STEP = 1 / 256  # of the integers that kws --features writes
PAUSE_MS = 700  # between two spoken words
GAP = RATE // 2  # samples of silence that part two words

ACCENTS = "en-us en-gb en-gb-x-rp en-gb-scotland en-gb-x-gbclan en-gb-x-gbcwmd en-029 en-us-nyc".split()
# Voices of espeak-ng. Variants of one voice are joined by "+", so that they are in the same part.
TRAINING_VOICES = """Alex Alicia Andy Annie Denis Diogo Gene+Gene2 Henrique Jacky Lee Marco Michael Nguyen Storm Tweaky
adam anika antonio belinda benjamin caleb david edward+edward2 f1 f2 f4 grandma gustave iven+iven2+iven3+iven4 john
kaukovalta klatt+klatt2+klatt3+klatt4+klatt5+klatt6 linda m1 m2 m4 m5 m7 m8 marcelo max miguel norbert pablo pedro quincy
RicishayMax+RicishayMax2+RicishayMax3 rob sandro shelby steph+steph2+steph3 victor zac""".split()
HELD_BACK_VOICES = "Andrea Hugo Mario Mike aunty boris ed f3 f5 grandpa m3 m6 michel paul robert travis".split()

TRAINING_OTHERS = """bed bird cat dog eight five four happy house one seven six three tree wow zero backward forward follow
learn visual water music table window green yellow open close play pause hello morning light dark fast slow warm cold stay
near far note step shop ride let gone load goat say yet own town dawn app lift night enough hot again always animal answer
basket because better between black blue bottle bread bright brother butter button camera carry chair change chicken city
clean clear clock coffee color corner country cover dinner doctor door dream drive early engine evening every family farmer
father fire flower forest friend front game glass gray hammer hand head heart heavy horse inside island job jump kind king
ladder last later lemon letter listen little lunch machine market metal middle milk minute mirror mother mountain mouse
mouth never new news next nobody noon north office old only other over party people pepper phone piano plane please pocket
point police potato present purple push question quiet rabbit radio red river road rock roof room school sea second shoe
short shut side simple sister sleep small snow sock song soon south spoon spring stair start station stone street sugar
summit sun tall ten test thing top tower train travel under us village voice wait walk wall week west what white winter
wood word work world write wrong year young""".split()
HELD_BACK_OTHERS = """nine marvin sheila two kitchen picture number finger summer garden paper orange silver moon star
rain""".split()


def run(command, data=b""):
    """Standard output of a command that must succeed."""
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit("%s: %s" % (" ".join(command), done.stderr.decode(errors="replace")))
    return done.stdout


def sox(arguments, data=b""):
    """Samples that sox writes: float32 from -1 to 1, RATE per second, one channel."""
    kind = ["-t", "raw", "-e", "floating-point", "-b", "32", "-c", "1", "-r", str(RATE), "-"]
    where = arguments.index("OUT")
    return np.frombuffer(run(["sox", "-R", "-D", "-V1", *arguments[:where], *kind, *arguments[where + 1:]], data), "<f4")


def noises():
    """A minute of each of sox's noises, with a mean square of 1."""
    kinds = (["whitenoise"], ["pinknoise"], ["brownnoise"], ["sine", "150-3000"], ["square", "50"])
    made = [sox(["-n", "OUT", "synth", "60", *kind]).astype(np.float64) for kind in kinds]
    return [x / np.sqrt(np.mean(x * x)) for x in made]


def speak(voice, speed, pitch, words):
    """The words as sounds without the silence around them; an empty list if the silence does not part them."""
    text = (' <break time="%dms"/> ' % PAUSE_MS).join(words)
    spoken = run(["espeak-ng", "-m", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", text])[44:]
    x = sox(["-t", "raw", "-e", "signed-integer", "-b", "16", "-c", "1", "-r", str(SPOKEN_RATE), "-", "OUT", "rate", str(RATE)],
            spoken)
    loud = np.flatnonzero(np.abs(x) > 0.01 * np.abs(x).max())
    cuts = np.flatnonzero(np.diff(loud) > GAP)
    first, last = np.concatenate(([0], cuts + 1)), np.concatenate((cuts, [len(loud) - 1]))
    return [x[loud[a]:loud[b] + 1] for a, b in zip(first, last)] if len(first) == len(words) else []


class Studio:
    """Puts words and noise into sounds of one second, and collects their features."""

    def __init__(self, random):
        self.random, self.noises = random, noises()
        self.sounds, self.features, self.labels = [], [], []

    def decibels(self, low, high):
        """A random factor."""
        return 10 ** (self.random.uniform(low, high) / 20)

    def noise(self, power):
        """A second of noise, sometimes digital silence."""
        if self.random.random() < 0.15:
            return np.zeros(RATE)
        kind = self.noises[self.random.integers(len(self.noises))]
        at = self.random.integers(len(kind) - RATE)
        return kind[at:at + RATE] * np.sqrt(power)

    def add(self, x, label):
        """Adds a sound."""
        self.sounds.append(np.clip(np.rint(x * 32767), -32768, 32767).astype("<i2"))
        self.labels.append(label)

    def word(self, spoken, label):
        """Adds a whole word anywhere in a second, with noise 5 to 40 dB below it."""
        spoken = spoken[:RATE]
        x = np.zeros(RATE)
        at = self.random.integers(RATE - len(spoken) + 1)
        x[at:at + len(spoken)] = spoken
        x += self.noise(np.mean(spoken * spoken) * self.decibels(-40, -5) ** 2)
        self.add(x * self.decibels(-24, -1) / np.abs(x).max(), label)

    def cut_word(self, spoken):
        """Adds less than half of a word, its end or its beginning: unknown, because it may be a part of another word."""
        part = spoken[:int(len(spoken) * self.random.uniform(0.15, 0.45))]
        x = np.zeros(RATE)
        if self.random.random() < 0.5:
            x[-len(part):] = part
        else:
            x[:len(part)] = spoken[-len(part):]
        x += self.noise(np.mean(part * part) * self.decibels(-40, -5) ** 2)
        self.add(x * self.decibels(-24, -1) / np.abs(x).max(), UNKNOWN)

    def silence(self):
        """Adds noise alone."""
        self.add(self.noise(1) * self.decibels(-70, -12), SILENCE)

    def finish(self):
        """Computes the features of the new sounds by build/kws. A row every 320 samples: 50 in a second, 49 within it."""
        path, rows = os.path.join(DATA_DIR, "sounds.wav"), os.path.join(DATA_DIR, "rows.bin")
        with wave.open(path, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(np.concatenate(self.sounds + [np.zeros(RATE, "<i2")]).tobytes())
        run([os.path.join(BUILD, "kws"), "--features", rows, path])
        found = np.fromfile(rows, "<i2").reshape(-1, FEATURES)[:50 * len(self.sounds)]
        self.features.append(found.reshape(-1, 50, FEATURES)[:, :ROWS].astype(np.float32) * np.float32(FEATURE_STEP))
        os.remove(path)
        os.remove(rows)
        self.sounds = []


def record(studio, family, others, repeat):
    """One speaker's words in a random variant, accent, speed and pitch."""
    random = studio.random
    voice = "%s+%s" % (random.choice(ACCENTS), random.choice(family.split("+")))
    extra = list(random.choice(others, 8 if repeat > 1 else 2, replace=False))
    spoken = speak(voice, random.integers(120, 221), random.integers(25, 76), WORDS + extra)
    for label, sound in enumerate(spoken):
        for _ in range(repeat):
            studio.word(sound, min(label, UNKNOWN))
    for _ in range(3 if repeat > 1 and spoken else 0):
        studio.cut_word(spoken[random.integers(len(WORDS))])
        studio.silence()
    if repeat == 1:
        studio.silence()
    return bool(spoken)


def make(name, families, others, settings, repeat):
    """Writes the features of a part."""
    studio, voices, missing = Studio(np.random.default_rng([SEED, settings])), [], 0
    for number, family in enumerate(families):
        for _ in range(settings):
            missing += not record(studio, family, others, repeat)
        studio.finish()
        voices += [number] * (len(studio.labels) - len(voices))
    features = np.concatenate(studio.features)[:, None]
    np.save(os.path.join(DATA_DIR, name + "-labels.npy"), np.array(studio.labels, np.int64))
    np.save(os.path.join(DATA_DIR, name + "-voices.npy"), np.array(voices, np.int64))
    np.save(os.path.join(DATA_DIR, name + ".npy"), features)
    print("%s: %d sounds of %d voices; words ran together in %d recordings, which are left out" %
          (name, len(features), len(families), missing), flush=True)
    return features


def main():
    """Makes both parts."""
    assert not set(TRAINING_OTHERS) & set(HELD_BACK_OTHERS + WORDS) and not set(TRAINING_VOICES) & set(HELD_BACK_VOICES)
    os.makedirs(DATA_DIR, exist_ok=True)
    features = make("training", TRAINING_VOICES, TRAINING_OTHERS, 12, 2)
    np.save(os.path.join(DATA_DIR, "calibration.npy"), features[::16])
    make("heldback", HELD_BACK_VOICES, HELD_BACK_OTHERS + TRAINING_OTHERS[:len(HELD_BACK_OTHERS)], 5, 1)


if __name__ == "__main__":
    main()
