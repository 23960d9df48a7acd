#!/bin/sh
# make_sound.sh FOLDER : makes test sound in FOLDER with espeak-ng and sox. 16 kHz, mono, 16 bits per sample.
#   sound.wav   wake words of several voices, once with noise behind; between them other speech, noise, a tone
#   other.wav   speech, noise and a tone without a wake word
#   words.txt   the wake words in sound.wav: name of the network, first and last second, one line for each
set -eu
[ $# -eq 1 ] || { echo 'usage: make_sound.sh FOLDER' >&2; exit 2; }
folder=$1
mkdir -p "$folder"
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
# shellcheck disable=SC2034  # sounds.sh reads it
peak=-3
# shellcheck source=examples/sounds.sh
. "$(dirname "$0")/../sounds.sh"

say jarvis en 'hey jarvis'
say alexa en-gb 'alexa'
say weather en-us "what's the weather today"
say clean en-us+f3 'hey jarvis'
say one en 'Small networks run anywhere, and this one waits for its name.'
say two en-us+f3 'Hey Martha, the service was here, and Alex asked for letters.'
sound quiet 1.0 whitenoise gain -80
sound white 1.0 whitenoise gain -20
sound tone 1.0 sine 200-2000 gain -15
sound behind "$(soxi -D "$parts/clean.wav")" pinknoise gain -18
sox -R -m -v 1 "$parts/clean.wav" -v 1 "$parts/behind.wav" "$parts/noisy.wav"

at=0
list=''
: >"$folder/words.txt"
for part in quiet jarvis quiet one quiet alexa quiet white quiet noisy quiet two quiet tone quiet weather quiet; do
    end=$(awk -v a="$at" -v s="$(soxi -s "$parts/$part.wav")" 'BEGIN { print a + s }')
    case $part in
    jarvis | noisy) word=hey_jarvis_v0.1 ;;
    alexa | weather) word=${part}_v0.1 ;;
    *) word='' ;;
    esac
    [ -z "$word" ] ||
        awk -v w="$word" -v a="$at" -v e="$end" 'BEGIN { printf "%s %.2f %.2f\n", w, a / 16000, e / 16000 }' \
            >>"$folder/words.txt"
    at=$end
    list="$list $parts/$part.wav"
done
# shellcheck disable=SC2086
sox -R $list "$folder/sound.wav"
sox -R "$parts/quiet.wav" "$parts/one.wav" "$parts/white.wav" "$parts/two.wav" "$parts/tone.wav" "$parts/quiet.wav" \
    "$folder/other.wav"
