# sounds.sh - functions for the scripts that make test sounds, read with `.`: espeak-ng and sox write parts into $parts.
# shellcheck shell=sh disable=SC2154
raw='-r 16000 -c 1 -b 16 -e signed-integer'

# say NAME VOICE WORDS: speech without the silence around it, with a peak of $peak dB
say() {
    espeak-ng -v "$2" -s 150 -w "$parts/spoken.wav" "$3"
    # shellcheck disable=SC2086  # words are meant to be split
    sox -R "$parts/spoken.wav" $raw "$parts/$1.wav" rate 16000 gain -n "$peak" silence 1 0.02 1% reverse silence 1 0.02 1% reverse
}

# sound NAME SECONDS EFFECT...: sound that sox synthesizes
sound() {
    name=$1 seconds=$2
    shift 2
    # shellcheck disable=SC2086
    sox -R -n $raw "$parts/$name.wav" synth "$seconds" "$@"
}
