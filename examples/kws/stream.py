#!/usr/bin/env python3
"""Measures the keyword spotter on longer sounds of the held-back voices, as it would hear them from a microphone.

    stream.py              each voice says the ten words and up to twenty others, in random order, with noise; build/kws
                           listens. Prints how many words it found, missed, confused, and how often it heard one in other words
    stream.py --training   the same with training voices and the other words of training: for choosing KWS_THRESHOLD
    stream.py --example    writes words.wav next to this file: a held-back voice

Needs numpy, espeak-ng, sox and build/kws.
"""
import argparse
import os
import re
import wave

import numpy as np

import sounds

LATEST = 1.0  # seconds from the end of a word to its detection
SOUND = os.path.join(sounds.DATA_DIR, "stream.wav")


def write(path, x):
    """A WAV file of samples from -1 to 1."""
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sounds.RATE)
        file.writeframes(np.clip(np.rint(x * 32767), -32768, 32767).astype("<i2").tobytes())


def sentence(random, voice, words, pause):
    """Samples of the words with pauses of that many seconds, and the span of each."""
    spoken = sounds.speak(voice, random.integers(130, 191), random.integers(30, 71), words)
    parts, spans, at = [np.zeros(sounds.RATE // 2)], [], sounds.RATE // 2
    for x in spoken:
        spans.append((at / sounds.RATE, (at + len(x)) / sounds.RATE))
        silence = np.zeros(int(random.uniform(*pause) * sounds.RATE))
        parts += [x / np.abs(x).max(), silence]
        at += len(x) + len(silence)
    return np.concatenate(parts), spans


def with_noise(random, x, noise, decibels):
    """The sound at half of full scale, with noise below its mean square."""
    at = random.integers(len(noise) - len(x) + 1) if len(noise) > len(x) else 0
    noise = np.resize(noise, at + len(x))[at:]
    return 0.5 * (x + noise * np.sqrt(np.mean(x * x)) * 10 ** (-decibels / 20))


def listen(words, spans):
    """(found, missed, wrong) words of build/kws in SOUND, whose words these are."""
    heard = re.findall(r"^ *([\d.]+) s  (\w+) ", sounds.run([os.path.join(sounds.BUILD, "kws"), SOUND]).decode(), re.M)
    heard = [(float(time), word) for time, word in heard]
    found = 0
    for word, (begin, end) in zip(words, spans):
        hits = [h for h in heard if h[1] == word and begin < h[0] <= end + LATEST]
        if word in sounds.WORDS and hits:
            found += 1
            heard.remove(hits[0])
    return found, sum(w in sounds.WORDS for w in words) - found, len(heard)


def measure(families, others):
    """Prints the sums over all voices."""
    random = np.random.default_rng(sounds.SEED)
    noises = sounds.noises()
    total, seconds = np.zeros(3, int), 0.0
    for family in families:
        words = list(random.permutation(sounds.WORDS + list(random.choice(others, min(20, len(others)), replace=False))))
        voice = "%s+%s" % (random.choice(sounds.ACCENTS), random.choice(family.split("+")))
        x, spans = sentence(random, voice, words, (0.5, 1.2))
        write(SOUND, with_noise(random, x, noises[random.integers(len(noises))], random.uniform(15, 40)))
        if len(spans) == len(words):
            result = listen(words, spans)
            total += result
            seconds += len(x) / sounds.RATE
            print("%-30s found %2d, missed %d, wrong %d" % (voice, *result), flush=True)
    found, missed, wrong = total
    print("%.0f s, %d voices: %d of %d words found, %d detections of words that were not said, %.1f per minute" %
          (seconds, len(families), found, found + missed, wrong, wrong * 60 / seconds))


def example():
    """Writes words.wav: two words of the network, and between them another one."""
    random = np.random.default_rng(sounds.SEED)
    x, _ = sentence(random, "en-gb+f3", ["yes", "kitchen", "stop"], (0.25, 0.4))
    x = np.concatenate((x, np.zeros(-len(x) % (sounds.RATE // 10))))
    write(os.path.join(sounds.HERE, "words.wav"), with_noise(random, x, sounds.noises()[1], 30))


def main():
    """Reads the options."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--example", action="store_true")
    options = parser.parse_args()
    if options.example:
        example()
    elif options.training:
        measure(sounds.TRAINING_VOICES, sounds.TRAINING_OTHERS)
    else:
        measure(sounds.HELD_BACK_VOICES, sounds.HELD_BACK_OTHERS)


if __name__ == "__main__":
    main()
