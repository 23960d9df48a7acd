#!/bin/sh
# make_sound.sh FOLDER : makes test sound in FOLDER with espeak-ng and sox. 16 bits per sample.
#   sound.wav   16 kHz, mono: silence, speech, silence, white noise, silence, speech with noise behind it, silence, a
#               rising tone, silence, speech
#   sound8.wav  the same at 8 kHz     stereo.wav  the same at 16 kHz, the right side at a third of the left one's level
#   noise.wav   16 kHz, mono: noise and tones without speech
#   speech.txt  the speech in sound.wav: first and last second, one line for each piece
set -eu
[ $# -eq 1 ] || { echo 'usage: make_sound.sh FOLDER' >&2; exit 2; }
folder=$1
mkdir -p "$folder"
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
# shellcheck disable=SC2034  # sounds.sh reads it
peak=-6
# shellcheck source=examples/sounds.sh
. "$(dirname "$0")/../sounds.sh"

say one en 'Small networks run anywhere, and this one hears when somebody speaks.'
say two en-us+f3 'Noise behind the voice does not keep it from hearing me.'
say three de 'Und nun ein Satz in einer anderen Sprache.'
# The threshold of silence may be lower than 16 bits can have: the quietest sound there is, so that no sample is alike.
sound quiet 1.5 whitenoise gain -80
sound white 2.0 whitenoise gain -20
sound tone 2.0 sine 200-2000 gain -15
sound behind "$(soxi -D "$parts/two.wav")" pinknoise gain -18
sox -R -m -v 1 "$parts/two.wav" -v 1 "$parts/behind.wav" "$parts/mixed.wav"

at=0
list=''
: >"$folder/speech.txt"
for part in quiet one quiet white quiet mixed quiet tone quiet three quiet; do
    end=$(awk -v a="$at" -v s="$(soxi -s "$parts/$part.wav")" 'BEGIN { print a + s }')
    case $part in
    one | mixed | three) awk -v a="$at" -v e="$end" 'BEGIN { printf "%.2f %.2f\n", a / 16000, e / 16000 }' >>"$folder/speech.txt" ;;
    esac
    at=$end
    list="$list $parts/$part.wav"
done
# shellcheck disable=SC2086
sox -R $list "$folder/sound.wav"
sox -R "$folder/sound.wav" -r 8000 "$folder/sound8.wav"
sox -R "$folder/sound.wav" "$folder/stereo.wav" remix 1 1v0.3333
sox -R "$parts/quiet.wav" "$parts/white.wav" "$parts/behind.wav" "$parts/tone.wav" "$folder/noise.wav"
